import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { promote } from '../../src/commands/promote.ts';
import type { Interview } from '../../src/domain/world.ts';
import { commitAll, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import { begin, PATH, PROMOTION, told, type Scene, type SceneOptions } from '../support/promotion.ts';
import { makeWorld } from '../support/world.ts';

const TO_PRODUCTION = ['promote', 'greeting', '--to', 'production'] as const;
const BEFORE = { text: 'Two {{a}}.', pins: { staging: 'latest', production: 1 } } as const;

/** Staging serves version 2, production version 1, and the files say so. */
async function ready(options?: SceneOptions): Promise<Scene> {
  const scene = await begin(BEFORE, options);
  scene.make(['One.', 'Two {{a}}.']);
  scene.activate('staging', 2);
  scene.activate('production', 1);
  return scene;
}

/** The same without git, where it has no part. */
const outsideGit: SceneOptions = { makeFolder: makeWorkspace };

describe('promptsync promote', () => {
  test('pins an environment to the version that the one before serves, and asks the service with GET alone', async () => {
    const scene = await ready(outsideGit);
    const ran = await scene.run(...TO_PRODUCTION);
    expect(ran.exitCode).toBe(0);
    expect(scene.read()).toBe(promptText('greeting', { ...BEFORE, pins: { staging: 'latest', production: 2 } }));
    expect(ran.stdout).toContain('production: 1 → 2');
    expect(ran.stdout).toContain('-One.');
    expect(ran.stdout).toContain('+Two {{a}}.');
    expect(ran.stdout).toContain('the variable {{a}} is added');
    expect(ran.stdout).toContain('Next: promptsync plan, then promptsync sync (in a git repository after a commit).');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('says in JSON what the contract says', async () => {
    const { folder, runJson, service } = await ready();
    const { report } = await runJson(...TO_PRODUCTION);
    expect(report).toMatchObject({
      mode: 'promote',
      service: service.baseUrl,
      commit: git(folder, 'rev-parse', 'HEAD'),
      summary: { prompts: 1, applied: 1, set_active: 0 },
      prompts: [
        {
          path: PATH,
          key: 'greeting',
          status: 'applied',
          changes: [],
          edits: [{ kind: 'set-pin', environment: 'production', before: '1', after: '2' }],
          problems: [],
        },
      ],
      problems: [],
    });
    expect(report).not.toHaveProperty('committed');
  });

  test('--dry-run shows the same and writes nothing', async () => {
    const scene = await ready(outsideGit);
    const before = scene.read();
    const { report, exitCode } = await scene.runJson(...TO_PRODUCTION, '--dry-run');
    expect({ exitCode, status: report.prompts[0]?.status }).toEqual({ exitCode: 0, status: 'pending' });
    expect((await scene.run(...TO_PRODUCTION, '--dry-run')).stdout).toContain('1 file to edit');
    expect(scene.read()).toBe(before);
  });

  test('for the first time: an environment that was not pinned', async () => {
    const scene = await begin({ text: 'Two.' }, outsideGit);
    scene.make(['One.', 'Two.']);
    scene.activate('staging', 2);
    const { report } = await scene.runJson(...TO_PRODUCTION);
    const serves = { before: null, after: { version_number: 2 }, before_text: null, after_text: 'Two.', breaking: [] };
    expect(report.prompts[0]?.edits).toMatchObject([
      { kind: 'set-pin', environment: 'production', before: null, after: '2', serves },
    ]);
    expect(scene.read()).toContain('{"staging":"latest", "production": 2}');
    expect(told(await scene.runJson('plan'))).toBe('exit 0, greeting pending');
  });

  test('edits flow and block style in place, comments and all', async () => {
    const scene = await ready(outsideGit);
    const block = (pin: string) =>
      `---\r\nid: prm_greeting\r\nkey: greeting # the key\r\nname: greeting\r\npins:\r\n  staging: latest\r\n  production: ${pin}  # live\r\n---\r\nTwo {{a}}.\r\n`;
    writeFiles(scene.folder, { [PATH]: block('version:x') });
    expect(told(await scene.runJson(...TO_PRODUCTION))).toBe('exit 0, greeting applied');
    expect(scene.read()).toBe(block('2'));
  });

  test('changes nothing where the pin is there already, and commits nothing', async () => {
    const scene = await ready();
    scene.commit({ ...BEFORE, pins: { staging: 'latest', production: 2 } });
    const head = git(scene.folder, 'rev-parse', 'HEAD');
    const ran = await scene.runJson(...TO_PRODUCTION, '--branch', 'promote');
    expect(told(ran)).toBe('exit 0, greeting unchanged');
    expect(git(scene.folder, 'log', '--all', '--format=%H', '-1')).toBe(head);
    expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
  });

  test('warns where the one before does not serve what its pin asks for', async () => {
    const scene = await ready(outsideGit);
    scene.make(['Three.']);
    scene.activate('staging', 3);
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(told(ran)).toBe('exit 0, greeting applied promote/source-drifted');
    expect(scene.read()).toContain('"production":3');
  });

  test('does not hang on the service: a prompt that cannot be read has failed, and its file stays', async () => {
    const scene = await ready({ ...outsideGit, others: { missing: { pins: { production: 1 } } } });
    writeFiles(scene.folder, { 'prompts/missing.md': promptText('nowhere', { pins: { production: 1 } }) });
    const ran = await scene.runJson('promote', '--all', '--to', 'production');
    expect(told(ran)).toMatch(/^exit 4, greeting applied, nowhere failed service\//);
  });
});

describe('what is promoted', () => {
  test.each<[string, readonly string[], string]>([
    ['a key', ['greeting', '--to', 'production'], 'exit 0, greeting applied'],
    ['a path', [PATH, '--to', 'production'], 'exit 0, greeting applied'],
    ['a pattern', ['gree*', '--to', 'production'], 'exit 0, greeting applied'],
    ['--only', ['--only', 'greeting', '--to', 'production'], 'exit 0, greeting applied'],
    [
      'of those that are named --only some',
      ['*', '--only', 'greeting', '--to', 'production'],
      'exit 0, greeting applied',
    ],
    [
      '--only others than are named',
      ['refund', '--only', 'greeting', '--to', 'production'],
      'exit 1, usage/nothing-selected',
    ],
    ['--all', ['--all', '--to', 'production'], 'exit 0, greeting applied, refund unchanged'],
    ['--all with --only', ['--all', '--only', 'greeting', '--to', 'production'], 'exit 1, usage/invalid'],
    ['no prompt', ['--to', 'production'], 'exit 1, usage/nothing-named'],
    ['an unknown key', ['greting', '--to', 'production'], 'exit 1, usage/nothing-selected'],
    [
      'an unknown environment',
      ['greeting', '--to', 'prodction'],
      'exit 1, greeting not_attempted, usage/unknown-environment',
    ],
    [
      'from an unknown one',
      ['greeting', '--from', 'stagin', '--to', 'production'],
      'exit 1, greeting not_attempted, usage/unknown-environment',
    ],
    [
      'to itself',
      ['greeting', '--from', 'staging', '--to', 'staging'],
      'exit 1, greeting not_attempted, usage/same-environment',
    ],
    [
      'to one that is promoted from none',
      ['greeting', '--to', 'staging'],
      'exit 1, greeting not_attempted, usage/needs-environment',
    ],
    [
      "to the tool's own",
      ['greeting', '--from', 'staging', '--to', 'promptsync'],
      'exit 1, greeting not_attempted, prompt/tool-environment',
    ],
    [
      'from one that serves nothing',
      ['greeting', '--from', 'qa', '--to', 'staging'],
      'exit 3, greeting blocked promote/nothing-active',
    ],
  ])('%s', async (_, words, expected) => {
    const config = `${CONFIG}environments: { qa: {}, staging: {}, production: { promote_from: staging } }\n`;
    const others = { refund: { text: 'R', pins: { staging: 'latest', production: 1 } } };
    const scene = await ready({ ...outsideGit, others, config });
    scene.make(['R'], 'refund');
    for (const environment of ['staging', 'production']) scene.activate(environment, 1, 'refund');
    const before = scene.read();
    const ran = await scene.runJson('promote', ...words);
    expect(told(ran)).toBe(expected);
    expect(scene.read() === before).toBe(!expected.includes('applied'));
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('a misspelt environment comes with the one that was meant', async () => {
    const { runJson } = await ready(outsideGit);
    const { report } = await runJson('promote', 'greeting', '--to', 'prodction');
    expect(report.problems).toMatchObject([{ hint: 'Did you mean production?' }]);
  });

  test.each(['', 'a\nb', '\u001b[2J'])('without environments in the configuration, to %j', async (to) => {
    const { runJson } = await ready({ ...outsideGit, config: CONFIG });
    const { report, exitCode } = await runJson('promote', 'greeting', '--from', 'staging', '--to', to);
    expect(exitCode).toBe(1);
    expect(report.problems).toMatchObject([
      { code: 'usage/unknown-environment', hint: 'Give a name without control characters.' },
    ]);
  });

  test('without environments in the configuration both have to be named', async () => {
    const { runJson } = await ready({ ...outsideGit, config: CONFIG });
    expect(told(await runJson(...TO_PRODUCTION))).toContain('usage/needs-environment');
    expect(told(await runJson(...TO_PRODUCTION, '--from', 'staging'))).toBe('exit 0, greeting applied');
  });
});

describe('a promotion that skips an environment', () => {
  const config = `${CONFIG}environments: { dev: {}, staging: {}, production: { promote_from: staging } }\n`;
  const SKIP = ['promote', 'greeting', '--from', 'dev', '--to', 'production'] as const;

  test('is refused with the command that would be right, and the file stays', async () => {
    const scene = await ready({ ...outsideGit, config });
    scene.make(['Three.']);
    scene.activate('dev', 3);
    const before = scene.read();
    const { report, exitCode } = await scene.runJson(...SKIP);
    expect(exitCode).toBe(3);
    expect(report.prompts[0]?.problems).toMatchObject([
      {
        code: 'guard/promotion-order',
        hint: 'To promote what "staging" serves (v2), run: promptsync promote greeting --from staging --to production',
      },
    ]);
    expect(scene.read()).toBe(before);
  });

  test('is none where the one before serves that version too, pinned or not', async () => {
    const scene = await begin({ text: 'Two.', pins: { dev: 'latest' } }, { ...outsideGit, config });
    scene.make(['One.', 'Two.']);
    for (const environment of ['dev', 'staging']) scene.activate(environment, 2);
    expect(told(await scene.runJson(...SKIP))).toBe('exit 0, greeting applied');
  });

  test('does not stop the others', async () => {
    const both = { text: 'Two.', pins: { dev: 'latest', staging: 'latest', production: 1 } };
    const scene = await begin(both, { ...outsideGit, config, others: { refund: both } });
    for (const id of ['greeting', 'refund']) {
      scene.make(['One.', 'Two.'], id);
      for (const environment of ['dev', 'staging']) scene.activate(environment, 2, id);
      scene.activate('production', 1, id);
    }
    scene.activate('staging', 1, 'greeting');
    const ran = await scene.runJson('promote', '--all', '--from', 'dev', '--to', 'production');
    expect(told(ran)).toBe('exit 3, greeting blocked guard/promotion-order, refund applied');
    expect(scene.read('prompts/refund.md')).toContain('"production":2');
  });

  test('names a key that looks like an option so that the command works as it stands', async () => {
    const scene = await ready({ ...outsideGit, config });
    scene.make(['Three.']);
    scene.activate('dev', 3);
    scene.write({ ...BEFORE, key: '-x' });
    const { report } = await scene.runJson('promote', '--only=-x', '--from', 'dev', '--to', 'production');
    const hint = report.prompts[0]?.problems[0]?.hint ?? '';
    const words = /: promptsync (.*)$/.exec(hint)?.[1]?.replaceAll("'", '').split(' ') ?? [];
    expect(words).toEqual(['promote', '--from', 'staging', '--to', 'production', '--', '-x']);
    expect(told(await scene.runJson('plan'))).toMatch(/^exit 0/);
    expect((await scene.run(...words)).exitCode).toBe(0);
    expect(scene.read()).toContain('"production":2');
  });

  test("names a stranger's key so that a shell takes it for a word", async () => {
    const key = "a'; rm -rf /";
    const scene = await ready({ ...outsideGit, config });
    scene.make(['Three.']);
    scene.activate('dev', 3);
    scene.write({ ...BEFORE, key });
    const { report } = await scene.runJson('promote', key, '--from', 'dev', '--to', 'production');
    expect(report.prompts[0]?.problems[0]?.hint).toContain(
      `promptsync promote 'a'\\''; rm -rf /' --from staging --to production`,
    );
  });
});

test('what somebody chooses at a terminal is no pattern, whatever the keys are', async () => {
  const scene = await begin({ ...BEFORE, key: '!other' }, { ...outsideGit, others: { other: {}, third: {} } });
  const interview: Interview = {
    text: () => Promise.reject(new Error('not asked')),
    confirm: () => Promise.reject(new Error('not asked')),
    choose: () => Promise.resolve(['!other']),
  };
  const asked = { only: [], to: 'production', all: false, dryRun: true, commit: false };
  const { run } = await promote(asked, { ...makeWorld(scene.folder, scene.service.environment), interview });
  expect(run.edited?.map(({ key }) => key)).toEqual(['!other']);
});

describe('promptsync promote --commit', () => {
  test('commits the edited files alone, with a message that names the versions', async () => {
    const scene = await ready();
    const { folder } = scene;
    writeFiles(folder, { 'staged.txt': 'x', 'promptsync.yaml': `${PROMOTION}# edited\n` });
    git(folder, 'add', '.');
    const { report, exitCode } = await scene.runJson(...TO_PRODUCTION, '--commit');
    expect(exitCode).toBe(0);
    expect(report.committed).toEqual({ commit: git(folder, 'rev-parse', 'HEAD'), branch: 'main' });
    expect(git(folder, 'log', '-1', '--format=%an: %B').trim()).toBe('Ada: Promote greeting to production (v1 → v2)');
    expect(git(folder, 'show', '--format=', '--name-only', 'HEAD')).toBe(PATH);
    expect(git(folder, 'status', '--short')).toBe('M  promptsync.yaml\nA  staged.txt');
  });

  test('--branch commits on a new branch, several prompts in one commit', async () => {
    const both = { text: 'Two.', pins: { staging: 'latest', production: 1 } };
    const scene = await begin(both, { others: { refund: both } });
    for (const id of ['greeting', 'refund']) {
      scene.make(['One.', 'Two.'], id);
      scene.activate('staging', 2, id);
      scene.activate('production', 1, id);
    }
    const ran = await scene.run('promote', '--all', '--to', 'production', '--branch', 'promote/two');
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toMatch(/Committed [0-9a-f]{12} on promote\/two/);
    expect(git(scene.folder, 'log', '-1', '--format=%B', 'promote/two').trim()).toBe(
      'Promote 2 prompts to production\n\n- greeting (v1 → v2)\n- refund (v1 → v2)',
    );
    expect(git(scene.folder, 'log', '--oneline', 'main')).not.toContain('Promote');
  });

  test('what was edited and not committed is to be committed', async () => {
    const scene = await ready();
    const { stdout } = await scene.run(...TO_PRODUCTION);
    expect(stdout).toContain('Next: read it with git diff, commit it, and open a pull request.');
  });

  test('on no branch tells that a branch comes first', async () => {
    const scene = await ready();
    git(scene.folder, 'checkout', '--quiet', '--detach');
    const { stdout } = await scene.run(...TO_PRODUCTION, '--commit');
    expect(stdout).toMatch(
      /Committed [0-9a-f]{12} on no branch\. Next: git switch -c NAME, then push it and open a pull request\./,
    );
  });

  test('does not carry along what is not committed: that prompt is refused', async () => {
    const scene = await ready();
    scene.write({ ...BEFORE, name: 'Edited' });
    const before = scene.read();
    expect(told(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(
      'exit 3, greeting blocked guard/uncommitted-edit',
    );
    expect(scene.read()).toBe(before);
    expect(told(await scene.runJson(...TO_PRODUCTION))).toBe('exit 0, greeting applied');
  });

  test('does not drop what is staged, though the file in the folder is as it was: that prompt is refused', async () => {
    const scene = await ready();
    const before = scene.read();
    scene.write({ ...BEFORE, name: 'Staged' });
    git(scene.folder, 'add', '.');
    writeFiles(scene.folder, { [PATH]: before });
    expect(told(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(
      'exit 3, greeting blocked guard/uncommitted-edit',
    );
    expect(git(scene.folder, 'diff', '--cached')).toContain('Staged');
    expect(scene.read()).toBe(before);
  });

  test.each<[string, string, string]>([
    ['one that is there', 'main', 'not_attempted'],
    ['what git does not allow', 'a b', 'not_attempted'],
    ['an option', '--orphan', 'not_attempted'],
    ['a word of git for another branch', '@{-1}', 'not_attempted'],
    ['a name below one that is there', 'main/promote', 'pending'],
  ])('--branch with %s is refused before anything is edited', async (_, branch, status) => {
    const scene = await ready();
    git(scene.folder, 'checkout', '--quiet', '-b', 'other');
    git(scene.folder, 'checkout', '--quiet', 'main');
    const before = scene.read();
    const ran = await scene.runJson(...TO_PRODUCTION, `--branch=${branch}`);
    expect(told(ran)).toBe(`exit 1, greeting ${status}, git/branch`);
    expect(scene.read()).toBe(before);
    expect(git(scene.folder, 'branch', '--format=%(refname:short)')).toBe('main\nother');
  });

  test('needs a repository', async () => {
    const scene = await ready(outsideGit);
    const before = scene.read();
    expect(told(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(
      'exit 1, greeting not_attempted, git/needs-repository',
    );
    expect(scene.read()).toBe(before);
  });

  test('says that the files are edited where a hook refuses the commit', async () => {
    const scene = await ready();
    const hook = join(scene.folder, '.git/hooks/pre-commit');
    writeFiles(scene.folder, { '.git/hooks/pre-commit': '#!/bin/sh\necho "no pins on Fridays" >&2\nexit 1\n' });
    chmodSync(hook, 0o755);
    const head = git(scene.folder, 'rev-parse', 'HEAD');
    const ran = await scene.runJson(...TO_PRODUCTION, '--commit');
    expect(told(ran)).toBe('exit 4, greeting applied, git/not-committed');
    expect(ran.report.problems[0]?.message).toContain('no pins on Fridays');
    expect(scene.read()).toContain('"production":2');
    expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('--dry-run makes no branch', async () => {
    const scene = await ready();
    const words = [...TO_PRODUCTION, '--dry-run', '--branch', 'promote'];
    expect(told(await scene.runJson(...words))).toBe('exit 0, greeting pending');
    expect(git(scene.folder, 'branch', '--format=%(refname:short)')).toBe('main');
  });

  test('a workspace in a folder of its repository', async () => {
    const scene = await ready({
      makeFolder: (files) => {
        const there = Object.fromEntries(Object.entries(files).map(([path, text]) => [`team/${path}`, text]));
        return join(makeRepository({ ...there, 'prompts/greeting.md': 'another file' }), 'team');
      },
    });
    expect(told(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe('exit 0, greeting applied');
    expect(git(scene.folder, 'show', '--format=', '--name-only', 'HEAD')).toBe(`team/${PATH}`);
    expect(existsSync(join(scene.folder, '.git'))).toBe(false);
    commitAll(scene.folder, 'nothing is left over');
    expect(git(scene.folder, 'show', '--format=', '--name-only', 'HEAD')).toBe('');
  });
});

describe('where staging has just moved on', () => {
  const config = `${CONFIG}environments: { dev: {}, staging: {}, production: { promote_from: staging } }\n`;

  test.each<[string, object]>([
    ['pinned', { production: 1 }],
    ['not pinned yet', {}],
  ])('what it served before is refused, in the folder as in a commit: production is %s', async (_, more) => {
    const pinned = (staging: number) => ({ text: 'Three.', pins: { dev: 2, staging, ...more } });
    const scene = await begin(pinned(2), { config });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('dev', 2);
    scene.activate('staging', 3);
    scene.activate('production', 1);
    scene.commit(pinned(3));
    const words = ['promote', 'greeting', '--from', 'dev', '--to', 'production'];
    expect(told(await scene.runJson(...words))).toBe('exit 3, greeting blocked guard/promotion-order');
    const skipped = { text: 'Three.', pins: { dev: 2, staging: 3, production: 2 } };
    scene.write(skipped);
    expect(told(await scene.runJson('plan'))).toBe('exit 3, greeting blocked guard/promotion-order');
    scene.commit(skipped);
    expect(told(await scene.runJson('plan'))).toBe('exit 3, greeting blocked guard/promotion-order');
  });
});
