import { describe, expect, test } from 'vitest';
import { addHook, git, writeFiles } from '../support/folder.ts';
import { startFrontFor } from '../support/front.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import {
  makePromotionScene,
  OUTSIDE_GIT,
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

describe('promote', () => {
  test('promote pins production to the version that is active in staging and writes nothing to the service', async () => {
    const scene = await makeReadyScene();
    const { folder, service } = scene;
    const before = scene.read();
    const dry = await scene.run(...TO_PRODUCTION, '--dry-run', '--branch', 'promote');
    expect(dry.stdout).toContain('1 file to edit');
    expect(scene.read()).toBe(before);
    const { stdout } = await scene.run(...TO_PRODUCTION);
    expect(scene.read()).toBe(promptText('greeting', { ...BEFORE, pins: { staging: 'latest', production: 2 } }));
    for (const said of ['production: 1 → 2', '-One.', '+Two {{a}}.', 'the variable {{a}} is added']) {
      expect(stdout).toContain(said);
    }
    expect(stdout).toContain(
      'Next: review the edits with git diff, commit them, run promptsync plan, and open a pull request.',
    );

    // If the file has the pin already, there is nothing to edit and nothing to commit.
    const head = scene.commit({ ...BEFORE, pins: { staging: 'latest', production: 2 } });
    const ran = await scene.runJson(...TO_PRODUCTION, '--branch', 'promote');
    expect(summarizeRun(ran)).toBe('exit 0, greeting unchanged');
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(folder, 'branch', '--format=%(refname:short)')).toBe('main');

    // An earlier commit replaced the version, so only the key of the prompt promotes it again.
    scene.commit(BEFORE);
    for (const selection of ['--all', 'greet*']) {
      const skipped = await scene.runJson('promote', selection, '--to', 'production');
      expect(summarizeRun(skipped)).toBe('exit 0, greeting unchanged promote/rolled-back');
      expect(skipped.report.prompts[0]?.problems[0]?.hint).toContain(
        '`promptsync promote greeting --from staging --to production`',
      );
    }
    expect(summarizeRun(await scene.runJson(...TO_PRODUCTION))).toBe(APPLIED);
    expect(service.takeWrites()).toEqual([]);
  });

  test('promote warns if the source environment serves a version that differs from its pin, even if the target has the pin already', async () => {
    const scene = await makeReadyScene(OUTSIDE_GIT);
    const promote = async (summary: string) => {
      const ran = await scene.runJson(...TO_PRODUCTION);
      expect(summarizeRun(ran)).toBe(`${summary} promote/source-drifted`);
      return ran.report.prompts[0]?.problems[0];
    };
    scene.write({ ...BEFORE, text: 'Not synced.' });
    expect(await promote(APPLIED)).toMatchObject({
      message:
        '"staging" still serves v2, because the text of the file has not been synced there yet. A promotion would use v2.',
      hint: 'To see the difference, run `promptsync plan`. If this clone is out of date, run `git pull`, and then run this command again. To promote the text of the file instead, commit the file, sync it with `promptsync sync greeting --environment staging`, and run this command again.',
    });
    await promote('exit 0, greeting unchanged');
    scene.write(BEFORE);
    scene.make(['Three.']);
    scene.activate('staging', 3);
    expect((await promote(APPLIED))?.message).toBe(
      '"staging" serves v3, but the file asks for v2. A promotion uses the version that "staging" serves now, not the one that the file asks for.',
    );
    expect(scene.read()).toContain('"production":3');
  });
});

describe('the selection of promote', () => {
  const config = `${CONFIG}environments: { qa: {}, staging: {}, production: { promote_from: staging } }\n`;

  test('promote selects prompts by key, with --only and with --all, and fails only for a prompt that is missing from the service', async () => {
    const scene = await makeReadyScene({ ...OUTSIDE_GIT, others: { refund: BEFORE }, config });
    for (const [words, expected] of [
      ['refund --only greeting', `${APPLIED}, refund applied`],
      ['--all', `${APPLIED}, refund applied`],
    ] as const) {
      for (const id of ['greeting', 'refund']) scene.write(BEFORE, id);
      const ran = await scene.runJson('promote', ...words.split(' '), '--to', 'production');
      expect([words, summarizeRun(ran)]).toEqual([words, expected]);
    }
    expect(scene.service.takeWrites()).toEqual([]);
    scene.write(BEFORE);
    writeFiles(scene.folder, { 'prompts/refund.md': promptText('nowhere', { pins: { production: 1 } }) });
    const ran = await scene.runJson('promote', '--all', '--to', 'production');
    expect(summarizeRun(ran)).toMatch(/^exit 4, greeting applied, nowhere failed service\//);
  });

  test('promote edits nothing if the prompt selection or an environment is invalid', async () => {
    const scene = await makeReadyScene({ ...OUTSIDE_GIT, others: { refund: BEFORE }, config });
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
    const { runJson: runInJson } = await makeReadyScene({ ...OUTSIDE_GIT, config: CONFIG });
    const { report } = await runInJson('promote', 'greeting', '--from', 'staging', '--to', 'a\nb');
    const hint = 'Use a valid environment name. The name must not be empty or contain control characters.';
    expect(report.problems).toMatchObject([{ code: 'usage/unknown-environment', hint }]);
    expect(summarizeRun(await runInJson(...TO_PRODUCTION))).toContain('usage/needs-environment');
    expect(summarizeRun(await runInJson(...TO_PRODUCTION, '--from', 'staging'))).toBe(APPLIED);
  });
});

test('promote refuses to skip an intermediate environment and suggests a working command', async () => {
  const config = `${CONFIG}environments: { dev: {}, staging: {}, production: { promote_from: staging } }\n`;
  const scene = await makeReadyScene({ ...OUTSIDE_GIT, config });
  scene.make(['Three.']);
  scene.activate('dev', 3);
  const ran = await scene.runJson('promote', 'greeting', '--from', 'dev', '--to', 'production');
  expect(summarizeRun(ran)).toBe('exit 3, greeting blocked guard/promotion-order');
  expect(scene.read()).toBe(promptText('greeting', BEFORE));
  const command = /run: `promptsync (.*)`$/.exec(ran.report.prompts[0]?.problems[0]?.hint ?? '')?.[1] ?? '';
  expect(command).toBe('promote greeting --from staging --to production --allow-older');
  expect((await scene.run(...command.split(' '))).exitCode).toBe(0);
  expect(scene.read()).toContain('"production":2');
});

test('promote blocks a prompt if the source environment serves nothing, and suggests the next step', async () => {
  const config = `${CONFIG}environments: { dev: {}, staging: { promote_from: dev, allow_latest: false }, production: { promote_from: staging } }\n`;
  const scene = await makePromotionScene({ text: 'One.', pins: { production: 'latest' } }, OUTSIDE_GIT);
  const promote = async (code: string) => {
    const ran = await scene.runJson(...TO_PRODUCTION);
    expect(summarizeRun(ran)).toBe(`exit 3, greeting blocked ${code}`);
    return ran.report.prompts[0]?.problems[0];
  };
  expect(await promote('promote/not-pinned')).toMatchObject({
    message: 'The file does not pin "staging", so nothing is live there.',
    hint: expect.stringMatching(/^Add `staging: latest` under `pins:`/),
  });
  scene.write({ text: 'One.', pins: { staging: 'latest' } });
  expect((await promote('promote/nothing-active'))?.hint).toContain('`promptsync sync`');
  writeFiles(scene.folder, { 'promptsync.yaml': config });
  scene.write({ text: 'One.', pins: { dev: 'latest' } });
  expect((await promote('promote/not-pinned'))?.hint).toMatch(
    /^Run `promptsync promote` with the same prompts and `--to staging`/,
  );
});

describe('promote --commit', () => {
  test('promote --commit commits only the edited files and names the versions in the commit message', async () => {
    const scene = await makeReadyScene({ others: { refund: BEFORE } });
    const { folder } = scene;
    writeFiles(folder, { 'staged.txt': 'x', 'promptsync.yaml': `${PROMOTION}# edited\n` });
    git(folder, 'add', '.');
    const { report, exitCode } = await scene.runJson(...TO_PRODUCTION, '--commit');
    expect(exitCode).toBe(0);
    expect(report.committed).toEqual({ commit: git(folder, 'rev-parse', 'HEAD'), branch: 'main' });
    expect(git(folder, 'log', '-1', '--format=%an: %B').trim()).toBe('Ada: Promote greeting to production (v1 → v2)');
    expect(git(folder, 'show', '--format=', '--name-only', 'HEAD')).toBe(PATH);
    expect(git(folder, 'status', '--short')).toBe('M  promptsync.yaml\nA  staged.txt');

    // The pin of greeting is correct, but not committed.
    git(folder, 'reset', '--quiet', '--soft', 'HEAD~1');
    const ran = await scene.runJson('promote', '--all', '--to', 'production', '--commit');
    expect(summarizeRun(ran)).toBe('exit 0, greeting unchanged git/uncommitted, refund applied');

    // A hook rejects the commit.
    git(folder, 'reset', '--quiet', '--hard', 'HEAD~1');
    addHook(folder, 'echo "no pins on Fridays" >&2; exit 1');
    const rejected = await scene.runJson(...TO_PRODUCTION, '--commit');
    expect(summarizeRun(rejected)).toBe('exit 4, greeting applied, git/not-committed');
    expect(rejected.report.problems[0]?.message).toContain('no pins on Fridays');
    expect(scene.read()).toContain('"production":2');
  });

  test('promote --branch commits to a new branch and to the same branch again, and promote --commit commits on a detached HEAD', async () => {
    const scene = await makeReadyScene({ others: { refund: BEFORE, summary: BEFORE } });
    const { folder } = scene;
    const words = ['--to', 'production', '--branch', 'promote'];
    const first = await scene.run('promote', 'greeting', 'refund', ...words);
    const stderr = 'You are now on the branch promote. To go back, run: git checkout -\n';
    expect(first).toMatchObject({ exitCode: 0, stderr });
    expect(first.stdout).toMatch(/Committed [0-9a-f]{12} on promote/);
    expect(git(folder, 'log', '-1', '--format=%B', 'promote').trim()).toBe(
      'Promote 2 prompts to production\n\n- greeting (v1 → v2)\n- refund (v1 → v2)',
    );
    expect(await scene.run('promote', 'summary', ...words)).toMatchObject({ exitCode: 0, stderr });
    expect(git(folder, 'log', '--format=%s', 'main..promote').split('\n')).toHaveLength(2);
    git(folder, 'switch', '--quiet', '-');
    expect(git(folder, 'branch', '--show-current')).toBe('main');

    for (const [branch, status] of [
      ['promote', 'not_attempted'],
      ['--orphan', 'not_attempted'],
      ['main/promote', 'pending'],
    ] as const) {
      const ran = await scene.runJson(...TO_PRODUCTION, `--branch=${branch}`);
      expect(summarizeRun(ran)).toBe(`exit 1, greeting ${status}, git/branch`);
    }
    expect(git(folder, 'status', '--short')).toBe('');
    git(folder, 'checkout', '--quiet', '--detach', 'main');
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
});

/** Runs a command and interrupts it at the request for the second prompt. */
async function interrupt({ folder, service }: Scene, words: readonly string[]): Promise<Reported> {
  let interruptNow = (): void => {};
  const { environment } = await startFrontFor(service, ({ path }) => {
    if (path.includes('prm_later') && path.endsWith('promptsync')) interruptNow();
    return null;
  });
  return runJson(folder, words, { environment, onSignal: (signal) => (interruptNow = signal) });
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
