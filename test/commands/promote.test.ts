import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import { begin, PATH, PROMOTION, told, type Scene, type SceneOptions } from '../support/promotion.ts';
import { runJson, type Reported } from '../support/run.ts';

const TO_PRODUCTION = ['promote', 'greeting', '--to', 'production'] as const;
const BEFORE = { text: 'Two {{a}}.', pins: { staging: 'latest', production: 1 } } as const;
const APPLIED = 'exit 0, greeting applied';
const UNCOMMITTED = 'exit 3, greeting blocked guard/uncommitted-edit';
const OUT_OF_ORDER = 'exit 3, greeting blocked guard/promotion-order';
/** Production is promoted from staging, and dev is before both. */
const THREE = `${CONFIG}environments: { dev: {}, staging: {}, production: { promote_from: staging } }\n`;

/** Staging serves version 2 of each prompt, production version 1, and the files say so. */
async function ready(options?: SceneOptions): Promise<Scene> {
  const scene = await begin(BEFORE, options);
  for (const id of ['greeting', ...Object.keys(options?.others ?? {})]) {
    scene.make(['One.', 'Two {{a}}.'], id);
    scene.activate('staging', 2, id);
    scene.activate('production', 1, id);
  }
  return scene;
}

/** The same without git, where it has no part. */
const outsideGit: SceneOptions = { makeFolder: makeWorkspace };

describe('promptsync promote', () => {
  test('pins an environment to the version that the one before serves, and asks the service with GET alone', async () => {
    const scene = await ready();
    const before = scene.read();
    const dry = await scene.runJson(...TO_PRODUCTION, '--dry-run', '--branch', 'promote');
    expect(told(dry)).toBe('exit 0, greeting pending');
    expect((await scene.run(...TO_PRODUCTION, '--dry-run')).stdout).toContain('1 file to edit');
    expect(scene.read()).toBe(before);
    expect(git(scene.folder, 'branch', '--format=%(refname:short)')).toBe('main');
    const { stdout, exitCode } = await scene.run(...TO_PRODUCTION);
    expect(exitCode).toBe(0);
    expect(scene.read()).toBe(promptText('greeting', { ...BEFORE, pins: { staging: 'latest', production: 2 } }));
    for (const said of ['production: 1 → 2', '-One.', '+Two {{a}}.', 'the variable {{a}} is added']) {
      expect(stdout).toContain(said);
    }
    expect(stdout).toContain('Next: read it with git diff, commit it, and open a pull request.');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('says in JSON what the contract says', async () => {
    const { folder, runJson: runInJson, service } = await ready();
    const { report } = await runInJson(...TO_PRODUCTION);
    const edits = [{ kind: 'set-pin', environment: 'production', before: '1', after: '2' }];
    expect(report).toMatchObject({
      mode: 'promote',
      service: service.baseUrl,
      commit: git(folder, 'rev-parse', 'HEAD'),
      summary: { prompts: 1, applied: 1, set_active: 0 },
      prompts: [{ path: PATH, key: 'greeting', status: 'applied', changes: [], edits, problems: [] }],
      problems: [],
    });
    expect(report).not.toHaveProperty('committed');
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

  test('changes nothing where the pin is there already, and commits nothing', async () => {
    const scene = await ready();
    const head = scene.commit({ ...BEFORE, pins: { staging: 'latest', production: 2 } });
    const ran = await scene.runJson(...TO_PRODUCTION, '--branch', 'promote');
    expect(told(ran)).toBe('exit 0, greeting unchanged');
    expect(git(scene.folder, 'log', '--all', '--format=%H', '-1')).toBe(head);
    expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
  });

  test('warns where the one before does not serve what its pin asks for', async () => {
    const scene = await ready(outsideGit);
    scene.make(['Three.']);
    scene.activate('staging', 3);
    expect(told(await scene.runJson(...TO_PRODUCTION))).toBe(`${APPLIED} promote/source-drifted`);
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
  const config = `${CONFIG}environments: { qa: {}, staging: {}, production: { promote_from: staging } }\n`;

  test.each<[string, string, string]>([
    ['a key', 'greeting --to production', APPLIED],
    ['a path', `${PATH} --to production`, APPLIED],
    ['a pattern', 'gree* --to production', APPLIED],
    ['--only', '--only greeting --to production', APPLIED],
    ['a key as well as --only', 'refund --only greeting --to production', `${APPLIED}, refund applied`],
    ['--all', '--all --to production', `${APPLIED}, refund applied`],
  ])('%s', async (_, words, expected) => {
    const scene = await ready({ ...outsideGit, others: { refund: BEFORE }, config });
    expect(told(await scene.runJson('promote', ...words.split(' ')))).toBe(expected);
    expect(scene.read()).toContain('"production":2');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('nothing where the words do not fit', async () => {
    const scene = await ready({ ...outsideGit, others: { refund: BEFORE }, config });
    const before = scene.read();
    const notAttempted = 'exit 1, greeting not_attempted,';
    for (const [words, expected] of [
      ['--all --only greeting --to production', 'exit 1, usage/invalid'],
      ['--to production', 'exit 1, usage/nothing-named'],
      ['greting --to production', 'exit 1, usage/nothing-selected'],
      ['greeting --to prodction', `${notAttempted} usage/unknown-environment`],
      ['greeting --from stagin --to production', `${notAttempted} usage/unknown-environment`],
      ['greeting --from staging --to staging', `${notAttempted} usage/same-environment`],
      ['greeting --to staging', `${notAttempted} usage/needs-environment`],
      ['greeting --from staging --to promptsync', `${notAttempted} prompt/tool-environment`],
      ['greeting --from qa --to staging', 'exit 3, greeting blocked promote/nothing-active'],
      ['greeting --to production --commit', `${notAttempted} git/needs-repository`],
    ] as const) {
      expect([words, told(await scene.runJson('promote', ...words.split(' ')))]).toEqual([words, expected]);
    }
    const { report } = await scene.runJson('promote', 'greeting', '--to', 'prodction');
    expect(report.problems).toMatchObject([{ hint: 'Did you mean production?' }]);
    expect(scene.read()).toBe(before);
  });

  test('without environments in the configuration both have to be named, with names that can be', async () => {
    const { runJson: runInJson } = await ready({ ...outsideGit, config: CONFIG });
    for (const to of ['', 'a\nb', '\u001b[2J']) {
      const { report } = await runInJson('promote', 'greeting', '--from', 'staging', '--to', to);
      const hint = 'Give a name without control characters.';
      expect(report.problems).toMatchObject([{ code: 'usage/unknown-environment', hint }]);
    }
    expect(told(await runInJson(...TO_PRODUCTION))).toContain('usage/needs-environment');
    expect(told(await runInJson(...TO_PRODUCTION, '--from', 'staging'))).toBe(APPLIED);
  });
});

describe('a promotion that skips an environment', () => {
  const FROM_DEV = ['--from', 'dev', '--to', 'production'];

  /** Dev serves a third version, of a prompt with such a key. */
  async function withThird(key: string): Promise<Scene> {
    const scene = await ready({ ...outsideGit, config: THREE });
    scene.make(['Three.']);
    scene.activate('dev', 3);
    scene.write({ ...BEFORE, key });
    return scene;
  }

  const hintIn = ({ report }: Reported) => report.prompts[0]?.problems[0]?.hint ?? '';

  test('is refused with the command that would be right, and the file stays', async () => {
    const scene = await withThird('greeting');
    const before = scene.read();
    const ran = await scene.runJson('promote', 'greeting', ...FROM_DEV);
    expect(told(ran)).toBe(OUT_OF_ORDER);
    expect(hintIn(ran)).toBe(
      'To promote what "staging" serves (v2), run: promptsync promote greeting --from staging --to production',
    );
    expect(scene.read()).toBe(before);
  });

  test('is none where the one before serves that version too, pinned or not, and does not stop the others', async () => {
    const both = { text: 'Two.', pins: { dev: 'latest', production: 1 } };
    const scene = await begin(both, { ...outsideGit, config: THREE, others: { refund: both } });
    for (const id of ['greeting', 'refund']) {
      scene.make(['One.', 'Two.'], id);
      for (const environment of ['dev', 'staging']) scene.activate(environment, 2, id);
      scene.activate('production', 1, id);
    }
    scene.activate('staging', 1, 'greeting');
    const ran = await scene.runJson('promote', '--all', ...FROM_DEV);
    expect(told(ran)).toBe(`${OUT_OF_ORDER}, refund applied`);
    expect(scene.read('prompts/refund.md')).toContain('"production":2');
  });

  test('names a key that looks like an option so that the command works as it stands', async () => {
    const scene = await withThird('-x');
    const hint = hintIn(await scene.runJson('promote', '--only=-x', ...FROM_DEV));
    const words = /: promptsync (.*)$/.exec(hint)?.[1]?.replaceAll("'", '').split(' ') ?? [];
    expect(words).toEqual(['promote', '--from', 'staging', '--to', 'production', '--', '-x']);
    expect((await scene.run(...words)).exitCode).toBe(0);
    expect(scene.read()).toContain('"production":2');
  });

  test("names a stranger's key so that a shell takes it for a word", async () => {
    const key = "a'; rm -rf /";
    const scene = await withThird(key);
    const hint = hintIn(await scene.runJson('promote', key, ...FROM_DEV));
    expect(hint).toContain(`promptsync promote 'a'\\''; rm -rf /' --from staging --to production`);
  });

  test.each<[string, object]>([
    ['pinned', { production: 1 }],
    ['not pinned yet', {}],
  ])('is one where staging has just moved on, in the folder as in a commit: production is %s', async (_, more) => {
    const pinned = (staging: number) => ({ text: 'Three.', pins: { dev: 2, staging, ...more } });
    const scene = await begin(pinned(2), { config: THREE });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('dev', 2);
    scene.activate('staging', 3);
    scene.activate('production', 1);
    scene.commit(pinned(3));
    expect(told(await scene.runJson('promote', 'greeting', ...FROM_DEV))).toBe(OUT_OF_ORDER);
    const skipped = { text: 'Three.', pins: { dev: 2, staging: 3, production: 2 } };
    scene.write(skipped);
    expect(told(await scene.runJson('plan'))).toBe(OUT_OF_ORDER);
    scene.commit(skipped);
    expect(told(await scene.runJson('plan'))).toBe(OUT_OF_ORDER);
  });
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

  test('--branch commits on a new branch, several prompts in one commit; on no branch one comes first', async () => {
    const scene = await ready({ others: { refund: BEFORE } });
    const ran = await scene.run('promote', '--all', '--to', 'production', '--branch', 'promote/two');
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toMatch(/Committed [0-9a-f]{12} on promote\/two/);
    expect(git(scene.folder, 'log', '-1', '--format=%B', 'promote/two').trim()).toBe(
      'Promote 2 prompts to production\n\n- greeting (v1 → v2)\n- refund (v1 → v2)',
    );
    expect(git(scene.folder, 'log', '--oneline', 'main')).not.toContain('Promote');
    git(scene.folder, 'checkout', '--quiet', '--detach', 'main');
    const { stdout } = await scene.run(...TO_PRODUCTION, '--commit');
    expect(stdout).toMatch(
      /Committed [0-9a-f]{12} on no branch\. Next: git switch -c NAME, then push it and open a pull request\./,
    );
  });

  test('does not carry along what is not committed, nor drop what is staged: that prompt is refused', async () => {
    const scene = await ready();
    const before = scene.read();
    scene.write({ ...BEFORE, name: 'Staged' });
    const edited = scene.read();
    expect(told(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(UNCOMMITTED);
    expect(scene.read()).toBe(edited);
    git(scene.folder, 'add', '.');
    writeFiles(scene.folder, { [PATH]: before });
    expect(told(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(UNCOMMITTED);
    expect(git(scene.folder, 'diff', '--cached')).toContain('Staged');
    expect(scene.read()).toBe(before);
    expect(told(await scene.runJson(...TO_PRODUCTION))).toBe(APPLIED);
  });

  test('with a branch that is there, or cannot be, is refused before anything is edited', async () => {
    const scene = await ready();
    const before = scene.read();
    git(scene.folder, 'branch', 'other');
    for (const [branch, status] of [
      ['other', 'not_attempted'],
      ['--orphan', 'not_attempted'],
      ['main/promote', 'pending'],
    ] as const) {
      const ran = await scene.runJson(...TO_PRODUCTION, `--branch=${branch}`);
      expect(told(ran)).toBe(`exit 1, greeting ${status}, git/branch`);
    }
    expect(scene.read()).toBe(before);
    expect(git(scene.folder, 'branch', '--format=%(refname:short)')).toBe('main\nother');
  });

  test('says on which branch one is and how to get back, and goes on there', async () => {
    const scene = await ready({ others: { refund: BEFORE } });
    const words = ['--to', 'production', '--branch', 'promote'];
    const first = await scene.run('promote', 'greeting', ...words);
    const second = await scene.run('promote', 'refund', ...words);
    const stderr = 'You are on the branch promote now: git switch - goes back.\n';
    for (const ran of [first, second]) expect(ran).toMatchObject({ exitCode: 0, stderr });
    expect(git(scene.folder, 'log', '--format=%s', 'main..promote').split('\n')).toHaveLength(2);
    git(scene.folder, 'switch', '--quiet', '-');
    expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
  });

  test('says that the files are edited where a hook refuses the commit', async () => {
    const scene = await ready();
    writeFiles(scene.folder, { '.git/hooks/pre-commit': '#!/bin/sh\necho "no pins on Fridays" >&2\nexit 1\n' });
    chmodSync(join(scene.folder, '.git/hooks/pre-commit'), 0o755);
    const ran = await scene.runJson(...TO_PRODUCTION, '--commit');
    expect(told(ran)).toBe('exit 4, greeting applied, git/not-committed');
    expect(ran.report.problems[0]?.message).toContain('no pins on Fridays');
    expect(scene.read()).toContain('"production":2');
  });

  test('a workspace in a folder of its repository', async () => {
    const makeFolder: SceneOptions['makeFolder'] = (files) => {
      const there = Object.fromEntries(Object.entries(files).map(([path, text]) => [`team/${path}`, text]));
      return join(makeRepository({ ...there, [PATH]: 'another file' }), 'team');
    };
    const scene = await ready({ makeFolder });
    expect(told(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(APPLIED);
    expect(git(scene.folder, 'show', '--format=', '--name-only', 'HEAD')).toBe(`team/${PATH}`);
    expect(git(scene.folder, 'status', '--short')).toBe('');
  });
});

/** Runs a command that is interrupted as soon as the second prompt is asked for. */
async function interrupt({ folder, service }: Scene, words: readonly string[]): Promise<Reported> {
  let interruptNow = (): void => {};
  const front = await startFront({
    target: service.baseUrl,
    answer: ({ path }) => {
      if (path.includes('prm_later') && path.endsWith('promptsync')) interruptNow();
      return null;
    },
  });
  return runJson(folder, words, {
    environment: { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl },
    onSignal: (signal) => (interruptNow = signal),
  });
}

test('edits that are interrupted while the service is read are not made; a dry run shows how far it got', async () => {
  const scene = await ready({ config: `${PROMOTION}concurrency: 1\n`, others: { later: BEFORE } });
  const head = git(scene.folder, 'rev-parse', 'HEAD');
  const words = ['promote', '--all', '--to', 'production'];
  expect(told(await interrupt(scene, [...words, '--dry-run']))).toContain('exit 130, greeting pending, later ');
  const ran = await interrupt(scene, [...words, '--branch', 'promotion']);
  expect(told(ran)).toBe('exit 130, greeting failed apply/interrupted, later failed apply/interrupted');
  expect(scene.read()).toBe(promptText('greeting', BEFORE));
  expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
});
