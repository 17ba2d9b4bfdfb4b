import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import {
  makePromotionScene,
  PATH,
  PROMOTION,
  summarizeRun,
  type Scene,
  type SceneOptions,
} from '../support/promotion.ts';
import { runJson, type Reported } from '../support/run.ts';

const TO_PRODUCTION = ['promote', 'greeting', '--to', 'production'] as const;
const BEFORE = { text: 'Two {{a}}.', pins: { staging: 'latest', production: 1 } } as const;
const APPLIED = 'exit 0, greeting applied';
const UNCOMMITTED = 'exit 3, greeting blocked guard/uncommitted-edit';
const OUT_OF_ORDER = 'exit 3, greeting blocked guard/promotion-order';
/** Production is promoted from staging, and dev is before both. */
const THREE = `${CONFIG}environments: { dev: {}, staging: {}, production: { promote_from: staging } }\n`;

/** Makes a scene in which staging serves version 2 and production version 1 of each prompt, as pinned. */
async function makeReadyScene(options?: SceneOptions): Promise<Scene> {
  const scene = await makePromotionScene(BEFORE, options);
  for (const id of ['greeting', ...Object.keys(options?.others ?? {})]) {
    scene.make(['One.', 'Two {{a}}.'], id);
    scene.activate('staging', 2, id);
    scene.activate('production', 1, id);
  }
  return scene;
}

/** Makes no git repository, for tests that do not need one. */
const outsideGit: SceneOptions = { makeFolder: makeWorkspace };

describe('promote', () => {
  test('promote pins production to the version that is active in staging and writes nothing to the service', async () => {
    const scene = await makeReadyScene();
    const before = scene.read();
    const dry = await scene.runJson(...TO_PRODUCTION, '--dry-run', '--branch', 'promote');
    expect(summarizeRun(dry)).toBe('exit 0, greeting pending');
    expect((await scene.run(...TO_PRODUCTION, '--dry-run')).stdout).toContain('1 file to edit');
    expect(scene.read()).toBe(before);
    expect(git(scene.folder, 'branch', '--format=%(refname:short)')).toBe('main');
    const { stdout, exitCode } = await scene.run(...TO_PRODUCTION);
    expect(exitCode).toBe(0);
    expect(scene.read()).toBe(promptText('greeting', { ...BEFORE, pins: { staging: 'latest', production: 2 } }));
    for (const said of ['production: 1 → 2', '-One.', '+Two {{a}}.', 'the variable {{a}} is added']) {
      expect(stdout).toContain(said);
    }
    expect(stdout).toContain(
      'Next: review the edits with git diff, commit them, run promptsync plan, and open a pull request.',
    );
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('promote --format json lists the pin edit and an empty list of service changes', async () => {
    const { folder, runJson: runInJson, service } = await makeReadyScene();
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

  test('promote adds a pin for an environment that has no pin', async () => {
    const scene = await makePromotionScene({ text: 'Two.' }, outsideGit);
    scene.make(['One.', 'Two.']);
    scene.activate('staging', 2);
    const { report } = await scene.runJson(...TO_PRODUCTION);
    const serves = { before: null, after: { version_number: 2 }, before_text: null, after_text: 'Two.', breaking: [] };
    expect(report.prompts[0]?.edits).toMatchObject([
      { kind: 'set-pin', environment: 'production', before: null, after: '2', serves },
    ]);
    expect(scene.read()).toContain('{"staging":"latest", "production": 2}');
    expect(summarizeRun(await scene.runJson('plan'))).toBe('exit 0, greeting pending');
  });

  test('promote edits and commits nothing if the target environment is already pinned to the version to promote', async () => {
    const scene = await makeReadyScene();
    const head = scene.commit({ ...BEFORE, pins: { staging: 'latest', production: 2 } });
    const ran = await scene.runJson(...TO_PRODUCTION, '--branch', 'promote');
    expect(summarizeRun(ran)).toBe('exit 0, greeting unchanged');
    expect(git(scene.folder, 'log', '--all', '--format=%H', '-1')).toBe(head);
    expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
  });

  test('promote warns if the source environment serves a version that differs from its pin', async () => {
    const scene = await makeReadyScene(outsideGit);
    scene.make(['Three.']);
    scene.activate('staging', 3);
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(summarizeRun(ran)).toBe(`${APPLIED} promote/source-drifted`);
    expect(ran.report.prompts[0]?.problems[0]?.message).toBe(
      '"staging" serves v3, but the file asks for v2. A promotion uses the version that "staging" serves now, not the one that the file asks for.',
    );
    expect(scene.read()).toContain('"production":3');
  });

  test('promote warns that staging still serves the old version if an edit to the text has not been synced', async () => {
    const scene = await makeReadyScene();
    scene.commit({ ...BEFORE, text: 'Not synced.' });
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(ran.report.prompts[0]?.problems[0]).toMatchObject({
      message:
        '"staging" still serves v2, because the text of the file has not been synced there yet. A promotion would use v2.',
      hint: 'To see the difference, run `promptsync plan`. If this clone is out of date, run `git pull`, and then run this command again. To promote the text of the file instead, commit the file, sync it with `promptsync sync greeting --environment staging`, and run this command again.',
    });
  });

  test('promote warns that the source environment is not synced even if the target has the pin already', async () => {
    const scene = await makeReadyScene();
    scene.commit({ text: 'Not synced.', pins: { staging: 'latest', production: 2 } });
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(summarizeRun(ran)).toBe('exit 0, greeting unchanged promote/source-drifted');
  });

  test.each([
    ['promote --all skips a version that an earlier commit already replaced in the target', '--all'],
    ['promote with a pattern skips a version that an earlier commit already replaced in the target', 'greet*'],
  ])('%s, but promote with the key does not skip it', async (_, selection) => {
    const scene = await makeReadyScene();
    scene.commit({ ...BEFORE, pins: { staging: 'latest', production: 2 } });
    scene.commit(BEFORE);
    const ran = await scene.runJson('promote', selection, '--to', 'production');
    expect(summarizeRun(ran)).toBe('exit 0, greeting unchanged promote/rolled-back');
    expect(ran.report.prompts[0]?.problems[0]?.hint).toContain(
      '`promptsync promote greeting --from staging --to production`',
    );
    expect(summarizeRun(await scene.runJson(...TO_PRODUCTION))).toBe(APPLIED);
  });

  test('promote fails for a prompt that is missing from the service but promotes the others', async () => {
    const scene = await makeReadyScene({ ...outsideGit, others: { missing: { pins: { production: 1 } } } });
    writeFiles(scene.folder, { 'prompts/missing.md': promptText('nowhere', { pins: { production: 1 } }) });
    const ran = await scene.runJson('promote', '--all', '--to', 'production');
    expect(summarizeRun(ran)).toMatch(/^exit 4, greeting applied, nowhere failed service\//);
  });
});

describe('the selection of promote', () => {
  const config = `${CONFIG}environments: { qa: {}, staging: {}, production: { promote_from: staging } }\n`;

  test.each<[string, string, string]>([
    ['promote selects a prompt by its key', 'greeting --to production', APPLIED],
    ['promote selects a prompt by its path', `${PATH} --to production`, APPLIED],
    ['promote selects a prompt by a pattern', 'gree* --to production', APPLIED],
    ['promote selects a prompt with --only', '--only greeting --to production', APPLIED],
    [
      'promote accepts a key argument together with --only and selects both prompts',
      'refund --only greeting --to production',
      `${APPLIED}, refund applied`,
    ],
    ['promote --all selects every prompt', '--all --to production', `${APPLIED}, refund applied`],
  ])('%s', async (_, words, expected) => {
    const scene = await makeReadyScene({ ...outsideGit, others: { refund: BEFORE }, config });
    expect(summarizeRun(await scene.runJson('promote', ...words.split(' ')))).toBe(expected);
    expect(scene.read()).toContain('"production":2');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('promote edits nothing if the prompt selection or an environment is invalid', async () => {
    const scene = await makeReadyScene({ ...outsideGit, others: { refund: BEFORE }, config });
    const before = scene.read();
    const notAttempted = 'exit 1, greeting not_attempted,';
    for (const { words, expected } of [
      { words: '--all --only greeting --to production', expected: 'exit 1, usage/invalid' },
      { words: '--to production', expected: 'exit 1, usage/nothing-named' },
      { words: 'greting --to production', expected: 'exit 1, usage/nothing-selected' },
      { words: 'greeting --to prodction', expected: `${notAttempted} usage/unknown-environment` },
      { words: 'greeting --from stagin --to production', expected: `${notAttempted} usage/unknown-environment` },
      { words: 'greeting --from staging --to staging', expected: `${notAttempted} usage/same-environment` },
      { words: 'greeting --to staging', expected: `${notAttempted} usage/needs-environment` },
      { words: 'greeting --from staging --to promptsync', expected: `${notAttempted} prompt/tool-environment` },
      { words: 'greeting --from qa --to staging', expected: 'exit 3, greeting blocked promote/not-pinned' },
      { words: 'greeting --to production --commit', expected: `${notAttempted} git/needs-repository` },
    ]) {
      expect([words, summarizeRun(await scene.runJson('promote', ...words.split(' ')))]).toEqual([words, expected]);
    }
    const { report } = await scene.runJson('promote', 'greeting', '--to', 'prodction');
    expect(report.problems).toMatchObject([{ hint: 'Did you mean "production"?' }]);
    expect(scene.read()).toBe(before);
  });

  test('promote requires --from and a valid --to if the configuration lists no environments', async () => {
    const { runJson: runInJson } = await makeReadyScene({ ...outsideGit, config: CONFIG });
    for (const to of ['', 'a\nb', '\u001b[2J']) {
      const { report } = await runInJson('promote', 'greeting', '--from', 'staging', '--to', to);
      const hint = 'Use a valid environment name. The name must not be empty or contain control characters.';
      expect(report.problems).toMatchObject([{ code: 'usage/unknown-environment', hint }]);
    }
    expect(summarizeRun(await runInJson(...TO_PRODUCTION))).toContain('usage/needs-environment');
    expect(summarizeRun(await runInJson(...TO_PRODUCTION, '--from', 'staging'))).toBe(APPLIED);
  });
});

describe('a promotion that skips an environment', () => {
  const FROM_DEV = ['--from', 'dev', '--to', 'production'];

  /** Makes a scene in which dev serves a third version of a prompt with this key. */
  async function makeSceneWithThird(key: string): Promise<Scene> {
    const scene = await makeReadyScene({ ...outsideGit, config: THREE });
    scene.make(['Three.']);
    scene.activate('dev', 3);
    scene.write({ ...BEFORE, key });
    return scene;
  }

  const hintIn = ({ report }: Reported) => report.prompts[0]?.problems[0]?.hint ?? '';

  test('promote refuses to skip an intermediate environment and suggests the correct command', async () => {
    const scene = await makeSceneWithThird('greeting');
    const before = scene.read();
    const ran = await scene.runJson('promote', 'greeting', ...FROM_DEV);
    expect(summarizeRun(ran)).toBe(OUT_OF_ORDER);
    expect(hintIn(ran)).toBe(
      'To promote the version that "staging" serves (v2), run: `promptsync promote greeting --from staging --to production --allow-older`',
    );
    expect(scene.read()).toBe(before);
  });

  test('promote can skip an unpinned intermediate environment that already serves the version to promote', async () => {
    const both = { text: 'Two.', pins: { dev: 'latest', production: 1 } };
    const scene = await makePromotionScene(both, { ...outsideGit, config: THREE, others: { refund: both } });
    for (const id of ['greeting', 'refund']) {
      scene.make(['One.', 'Two.'], id);
      for (const environment of ['dev', 'staging']) scene.activate(environment, 2, id);
      scene.activate('production', 1, id);
    }
    scene.activate('staging', 1, 'greeting');
    const ran = await scene.runJson('promote', '--all', ...FROM_DEV);
    expect(summarizeRun(ran)).toBe(`${OUT_OF_ORDER}, refund applied`);
    expect(scene.read('prompts/refund.md')).toContain('"production":2');
  });

  test('promote suggests a working command for a key that looks like an option', async () => {
    const scene = await makeSceneWithThird('-x');
    const hint = hintIn(await scene.runJson('promote', '--only=-x', ...FROM_DEV));
    const words = /: `promptsync (.*)`$/.exec(hint)?.[1]?.replaceAll("'", '').split(' ') ?? [];
    expect(words).toEqual(['promote', '--from', 'staging', '--to', 'production', '--allow-older', '--', '-x']);
    expect((await scene.run(...words)).exitCode).toBe(0);
    expect(scene.read()).toContain('"production":2');
  });

  test('promote shell-quotes a key with special characters in the suggested command', async () => {
    const key = "a'; rm -rf /";
    const scene = await makeSceneWithThird(key);
    const hint = hintIn(await scene.runJson('promote', key, ...FROM_DEV));
    expect(hint).toContain(`promptsync promote 'a'\\''; rm -rf /' --from staging --to production`);
  });
});

describe('a promotion from an environment that serves nothing', () => {
  const problemIn = ({ report }: Reported) => report.prompts[0]?.problems[0];

  /** Makes a scene in which no environment serves a version. */
  const makeIdleScene = (pins: Readonly<Record<string, string>>, config: string) =>
    makePromotionScene({ text: 'One.', pins }, { ...outsideGit, config });

  test('promote suggests adding a pin if the file does not pin the source environment', async () => {
    const scene = await makeIdleScene({ production: 'latest' }, PROMOTION);
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked promote/not-pinned');
    expect(problemIn(ran)).toMatchObject({
      message: 'The file does not pin "staging", so nothing is live there.',
      hint: expect.stringMatching(/^Add `staging: latest` under `pins:`/),
    });
  });

  test('promote suggests promoting to staging first if staging has no pin and does not allow latest', async () => {
    const config = `${CONFIG}environments: { dev: {}, staging: { promote_from: dev, allow_latest: false }, production: { promote_from: staging } }\n`;
    const scene = await makeIdleScene({ dev: 'latest' }, config);
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(problemIn(ran)?.hint).toMatch(/^Run `promptsync promote` with the same prompts and `--to staging`/);
  });

  test('promote suggests a sync if the file pins the source environment but nothing is live there', async () => {
    const scene = await makeIdleScene({ staging: 'latest' }, PROMOTION);
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked promote/nothing-active');
    expect(problemIn(ran)?.hint).toContain('`promptsync sync`');
  });
});

describe('promote --commit', () => {
  test('promote --commit commits only the edited files and names the versions in the commit message', async () => {
    const scene = await makeReadyScene();
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

  test('promote --commit warns about a file whose pin is already correct but not yet committed', async () => {
    const scene = await makeReadyScene({ others: { refund: BEFORE } });
    await scene.run(...TO_PRODUCTION);
    const ran = await scene.runJson('promote', '--all', '--to', 'production', '--commit');
    expect(summarizeRun(ran)).toBe('exit 0, greeting unchanged git/uncommitted, refund applied');
  });

  test('promote --branch commits to a new branch, and promote --commit commits on a detached HEAD', async () => {
    const scene = await makeReadyScene({ others: { refund: BEFORE } });
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
      /Committed [0-9a-f]{12} on no branch\. Next: run git switch -c NAME, then push the branch and open a pull request\./,
    );
  });

  test('promote --commit refuses to edit a prompt file with staged or unstaged edits and preserves those edits', async () => {
    const scene = await makeReadyScene();
    const before = scene.read();
    scene.write({ ...BEFORE, name: 'Staged' });
    const edited = scene.read();
    expect(summarizeRun(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(UNCOMMITTED);
    expect(scene.read()).toBe(edited);
    git(scene.folder, 'add', '.');
    writeFiles(scene.folder, { [PATH]: before });
    expect(summarizeRun(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(UNCOMMITTED);
    expect(git(scene.folder, 'diff', '--cached')).toContain('Staged');
    expect(scene.read()).toBe(before);
    expect(summarizeRun(await scene.runJson(...TO_PRODUCTION))).toBe(APPLIED);
  });

  test('promote --branch rejects an existing or invalid branch name before it edits any file', async () => {
    const scene = await makeReadyScene();
    const before = scene.read();
    git(scene.folder, 'branch', 'other');
    for (const [branch, status] of [
      ['other', 'not_attempted'],
      ['--orphan', 'not_attempted'],
      ['main/promote', 'pending'],
    ] as const) {
      const ran = await scene.runJson(...TO_PRODUCTION, `--branch=${branch}`);
      expect(summarizeRun(ran)).toBe(`exit 1, greeting ${status}, git/branch`);
    }
    expect(scene.read()).toBe(before);
    expect(git(scene.folder, 'branch', '--format=%(refname:short)')).toBe('main\nother');
  });

  test('promote --branch prints how to switch back, and a second run commits to the same branch', async () => {
    const scene = await makeReadyScene({ others: { refund: BEFORE } });
    const words = ['--to', 'production', '--branch', 'promote'];
    const first = await scene.run('promote', 'greeting', ...words);
    const second = await scene.run('promote', 'refund', ...words);
    const stderr = 'You are now on the branch promote. To go back, run: git checkout -\n';
    for (const ran of [first, second]) expect(ran).toMatchObject({ exitCode: 0, stderr });
    expect(git(scene.folder, 'log', '--format=%s', 'main..promote').split('\n')).toHaveLength(2);
    git(scene.folder, 'switch', '--quiet', '-');
    expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
  });

  test('promote --commit preserves the pin edits and reports the error if a git hook rejects the commit', async () => {
    const scene = await makeReadyScene();
    writeFiles(scene.folder, { '.git/hooks/pre-commit': '#!/bin/sh\necho "no pins on Fridays" >&2\nexit 1\n' });
    chmodSync(join(scene.folder, '.git/hooks/pre-commit'), 0o755);
    const ran = await scene.runJson(...TO_PRODUCTION, '--commit');
    expect(summarizeRun(ran)).toBe('exit 4, greeting applied, git/not-committed');
    expect(ran.report.problems[0]?.message).toContain('no pins on Fridays');
    expect(scene.read()).toContain('"production":2');
  });

  test('promote --commit commits only the edited prompt file if the workspace is a subfolder of the repository', async () => {
    const makeFolder: SceneOptions['makeFolder'] = (files) => {
      const there = Object.fromEntries(Object.entries(files).map(([path, text]) => [`team/${path}`, text]));
      return join(makeRepository({ ...there, [PATH]: 'another file' }), 'team');
    };
    const scene = await makeReadyScene({ makeFolder });
    expect(summarizeRun(await scene.runJson(...TO_PRODUCTION, '--commit'))).toBe(APPLIED);
    expect(git(scene.folder, 'show', '--format=', '--name-only', 'HEAD')).toBe(`team/${PATH}`);
    expect(git(scene.folder, 'status', '--short')).toBe('');
  });
});

/** Runs a command and interrupts it at the request for the second prompt. */
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

test('an interrupted promote edits nothing, and an interrupted promote --dry-run shows the prompts already read', async () => {
  const scene = await makeReadyScene({ config: `${PROMOTION}concurrency: 1\n`, others: { later: BEFORE } });
  const head = git(scene.folder, 'rev-parse', 'HEAD');
  const words = ['promote', '--all', '--to', 'production'];
  expect(summarizeRun(await interrupt(scene, [...words, '--dry-run']))).toContain('exit 130, greeting pending, later ');
  const ran = await interrupt(scene, [...words, '--branch', 'promotion']);
  expect(summarizeRun(ran)).toBe('exit 130, greeting failed apply/interrupted, later failed apply/interrupted');
  expect(scene.read()).toBe(promptText('greeting', BEFORE));
  expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
});
