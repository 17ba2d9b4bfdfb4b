import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { countGit, wrapGit } from '../support/count-git.ts';
import { cloneOf, commitAll, git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { makePromotionScene, summarizeRun } from '../support/promotion.ts';
import { promptText, type PromptParts, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { changeService, startTestService, type TestService } from '../support/service.ts';

const CONFIG = 'prompts: ["prompts/**/*.md"]\nbranch: main\n';
const UNNAMED = CONFIG.replace('branch: main\n', '');
const PATH = 'prompts/greeting.md';

/** Pins both environments to the text of the file. */
const BOTH = { staging: 'latest', production: 'latest' };
const OUTSIDE = { environment: 'production', kind: 'outside' };

/**
 * Makes a repository without a remote. Its live branch is `main`, and two of its commits are synced. Version 1 has the
 * text "Zero". Version 2 has the text "One" and is active in both environments.
 */
async function makeSyncedTeam() {
  const folder = makeRepository(workspaceFiles({ greeting: { text: 'Zero', pins: BOTH } }, CONFIG));
  const service = await startTestService(['greeting']);
  const team = { folder, service, ...workIn(folder, service) };
  await team.sync();
  team.commit({ text: 'One' });
  await team.sync();
  return team;
}

function workIn(folder: string, service: TestService) {
  const plan = async (...words: readonly string[]) => {
    const { report, ...ran } = await runJson(folder, ['plan', ...words], service);
    const [prompt] = report.prompts;
    const activation = prompt?.changes.find((change) => change.kind === 'set-active');
    return { ...ran, report, drift: prompt?.drift ?? [], activation };
  };
  return {
    plan,
    sync: async () => expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 }),
    /** Runs `sync` on a terminal, and answers its question. */
    answer: (input: string, onError: (text: string) => void = () => {}) =>
      run(folder, ['sync'], { ...service, terminal: true, input, onError }),
    /** Writes and commits the prompt file, and returns the commit. */
    commit: (parts: PromptParts) => {
      writeFiles(folder, { [PATH]: promptText('greeting', { text: 'One', pins: BOTH, ...parts }) });
      return commitAll(folder, 'Change the prompt');
    },
    /** Returns true if a planned change has a note in the text report, which names an earlier commit that wants it. */
    hasNote: async (): Promise<boolean> => {
      const { stdout } = await run(folder, ['plan'], service);
      expect(stdout).toMatch(/^ +→ /m);
      return /^ +→ .*\(/m.test(stdout);
    },
  };
}

function cloneFully(origin: string, ...words: readonly string[]): string {
  const clone = join(makeFolder(), 'clone');
  git(origin, 'clone', '--quiet', ...words, `file://${origin}`, clone);
  return clone;
}

describe('plan without --base', () => {
  test('If everything is in sync, plan reads no git history, sends two requests, and names no base', async () => {
    const { folder, plan, service } = await makeSyncedTeam();
    service.requests.splice(0);
    const listCommands = countGit();
    const { report } = await plan();
    const history = ['log', 'merge-base', 'rev-list', 'grep'];
    expect(listCommands().filter((name) => [...history, 'ls-tree'].includes(name))).toEqual([]);
    expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
    expect([report.base, report.branch]).toEqual([undefined, undefined]);
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commitAll(folder, 'Nothing about prompts');
    listCommands();
    await plan();
    // The second `git diff` finds missing files.
    const onBranch = listCommands().filter((name) => [...history, 'diff'].includes(name));
    expect(onBranch).toEqual(['diff', 'diff', 'merge-base']);
    rmSync(join(folder, '.git'), { recursive: true });
    expect((await plan()).stderr).toBe('');
  });

  test('If a merged change is not synced yet, plan reports no drift, and the JSON report names the commit of the change', async () => {
    const { folder, plan, commit, sync, hasNote } = await makeSyncedTeam();
    const merged = commit({ text: 'Two' });
    commit({ text: 'Two', description: 'Something else' });
    const { drift, activation } = await plan();
    expect(drift).toEqual([]);
    expect(activation).toMatchObject({ wanted_since: { commit: merged, date: '2026-01-02' } });
    expect(activation).not.toHaveProperty('wanted_since.unmerged');
    expect(await hasNote()).toBe(true);
    await sync();
    const field = commit({ text: 'Two', description: 'Says hello' });
    expect((await plan()).report.prompts[0]?.changes).toMatchObject([
      { fields: { description: { wanted_since: { commit: field, date: '2026-01-02' } } } },
    ]);
    const late = replaceDate(folder, commit({ text: 'Three' }));
    expect((await plan()).activation).toMatchObject({ wanted_since: { commit: late, date: '9999-12-31' } });
    expect(await hasNote()).toBe(false);
    // Without a known live branch, no commit counts as merged.
    writeFiles(folder, { 'promptsync.yaml': UNNAMED });
    git(folder, 'branch', '--move', 'topic');
    const unmerged = commit({ text: 'Four', pins: { staging: 'latest' } });
    expect((await plan()).activation).toMatchObject({ wanted_since: { commit: unmerged, unmerged: true } });
  });

  /** Replaces the commit at the tip of main by one that is dated after the year 9999. */
  function replaceDate(folder: string, commit: string): string {
    const lines = git(folder, 'cat-file', '-p', commit).replaceAll(/> \d+ /g, '> 99999999999999 ');
    const words = ['hash-object', '--literally', '-t', 'commit', '-w', '--stdin'];
    const late = execFileSync('git', words, { cwd: folder, input: `${lines}\n`, encoding: 'utf8' }).trim();
    git(folder, 'update-ref', 'refs/heads/main', late);
    return late;
  }

  test('plan, status and sync find an edit made in the service, and the report names the base', async () => {
    const { folder, plan, service, commit, answer } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const tip = git(folder, 'rev-parse', 'HEAD');
    const planAndName = async (...words: readonly string[]) => {
      const { report, drift, activation } = await plan(...words);
      expect(report.branch).toBe('main');
      return { base: report.base, drift, activation };
    };
    const found = await planAndName();
    expect(found).toMatchObject({ base: 'main', drift: [{ ...OUTSIDE, restores: true }] });
    expect(found.activation).not.toHaveProperty('wanted_since');
    expect((await planAndName('--base', tip)).base).toBe('main');
    const status = await runJson(folder, ['status'], service);
    expect(status.report.prompts[0]?.drift).toMatchObject([OUTSIDE]);
    const { exitCode, stderr } = await answer('n\n');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'Apply? 1 prompt changes in production. This overwrites 1 change that was made in the service.',
    );
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commit({ text: 'Two' });
    const onBranch = await planAndName();
    expect(onBranch).toMatchObject({ base: 'main', drift: [{ ...OUTSIDE, restores: false }] });
    git(folder, 'branch', 'next', tip);
    git(folder, 'branch', '--force', 'main', 'feature');
    git(folder, 'switch', '--quiet', 'next');
    expect((await planAndName()).base).toBe(tip.slice(0, 12));
    expect((await planAndName('--base', tip)).base).toBe(tip.slice(0, 12));
    expect((await planAndName('--base', 'next')).base).toBe('next');
    // HEAD is the base if it has no common ancestor with the live branch.
    git(folder, 'switch', '--quiet', '--orphan', 'unrelated');
    writeFiles(folder, workspaceFiles({ greeting: { text: 'One', pins: BOTH } }, CONFIG));
    commitAll(folder, 'Start again');
    expect((await plan()).drift).toMatchObject([OUTSIDE]);
  });
});

test('plan reports a deleted prompt file in the root folder of a repository, but not a moved or unselected one', async () => {
  const files = { 'greeting.md': promptText('greeting'), 'refund.md': promptText('refund') };
  const folder = makeRepository({ 'promptsync.yaml': 'prompts: ["*.md"]\nbranch: main\n', ...files });
  const { plan, sync } = workIn(folder, await startTestService(['greeting', 'refund']));
  const listProblems = async (...words: readonly string[]) =>
    (await plan(...words)).report.problems.map(({ code, path }) => `${code} ${path}`);
  await sync();
  git(folder, 'switch', '--quiet', '--create', 'feature');
  git(folder, 'mv', 'refund.md', 'moved.md');
  expect(await listProblems()).toEqual([]);
  rmSync(join(folder, 'moved.md'));
  expect(await listProblems()).toEqual(['prompt/gone refund.md']);
  commitAll(folder, 'Remove the refund prompt');
  expect(await listProblems()).toEqual(['prompt/gone refund.md']);
  expect(await listProblems('greeting')).toEqual([]);
});

describe('a missing default base', () => {
  const NOTICE = 'promptsync cannot show drift because';

  test('plan says that it cannot show drift outside git, in a shallow clone and in a partial clone, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const files = workspaceFiles({ greeting: { text: 'One' } }, CONFIG);
    const origin = makeRepository(files);
    git(origin, 'config', 'uploadpack.allowFilter', 'true');
    const outside = makeWorkspace(files);
    for (const [folder, reason] of [
      [outside, 'this folder is not in a git repository'],
      [cloneOf(origin), 'this clone is shallow'],
      [cloneFully(origin, '--filter=blob:none'), 'this clone is partial'],
    ] as const) {
      const { exitCode, stderr } = await run(folder, ['plan'], service);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `${NOTICE} ${reason}.\n` });
    }
    const options = { ...service, terminal: true, input: 'no\n' };
    const { stderr } = await run(outside, ['sync', '--quiet', '--on-drift', 'fail'], options);
    expect(stderr).toContain(`${NOTICE} this folder is not in a git repository.`);
    expect(stderr).toContain('promptsync cannot detect drift because it has no commit to compare with.');
    expect(service.takeWrites()).toEqual([]);
  });

  test('If git fails to read the history of the base, plan says that it cannot show drift, and warns that --on-drift fail has no effect', async () => {
    const { folder, service, commit } = await makeSyncedTeam();
    commit({ text: 'Two' });
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    git(folder, 'switch', '--quiet', '--detach');
    // promptsync also needs the log of HEAD and of single commits, to record the commits of new versions.
    const head = commit({ text: 'Two', description: 'Not merged' });
    for (const command of ['log', 'rev-list']) {
      const { path } = wrapGit((real) => [
        `[[ " $* " == *" ${command} "* && " $* " != *" ${head} "* && " $* " != *" --no-walk"* ]] && { echo 'fatal: broken' >&2; exit 128; }`,
        `exec ${real} "$@"`,
      ]);
      vi.stubEnv('PATH', path);
      const { exitCode, stderr, report } = await runJson(folder, ['plan', '--on-drift', 'fail'], service);
      vi.unstubAllEnvs();
      expect({ command, exitCode, stderr }).toEqual({
        ...{ command, exitCode: 0, stderr: expect.stringContaining(`${NOTICE} git failed: fatal: broken.`) },
      });
      expect(report.problems.map(({ code }) => code)).toContain('config/drift-needs-base');
    }
  });
});

describe('a stale clone', () => {
  test('In a stale clone, plan says which commit is missing, sync is refused instead of blamed on drift, and pull edits nothing', async () => {
    const { folder: origin, service, ...ahead } = await makeSyncedTeam();
    const clone = cloneFully(origin);
    const newer = ahead.commit({ text: 'Two' });
    await ahead.sync();
    const { plan, commit } = workIn(clone, service);
    const missing = [{ observed: { commit: newer, commit_missing: true } }, {}];
    expect((await plan()).drift).toMatchObject(missing);
    const refused = await runJson(clone, ['sync', '--yes', '--on-drift', 'fail'], service);
    expect(summarizeRun(refused)).toBe('exit 3, greeting blocked guard/superseded');
    // The refused sync fetched the objects of the newer commit, but the clone still has no ref to it.
    expect((await plan()).drift).toMatchObject(missing);
    const { stdout } = await run(clone, ['plan'], service);
    expect(stdout).toContain('which this clone does not have: run git fetch)');
    commit({ pins: { staging: 2 } });
    const { exitCode, report } = await runJson(clone, ['pull'], service);
    expect(exitCode).toBe(0);
    expect(report.prompts).toMatchObject([
      { status: 'unchanged', edits: [], problems: [{ code: 'pull/known-version', severity: 'warning' }] },
    ]);
    expect(git(clone, 'status', '--porcelain')).toBe('');
  });

  test('If a newer commit has moved the source of a promotion, sync reports a stale clone instead of the promotion order', async () => {
    const parts = (text: string, staging: number, production: number) => ({ text, pins: { staging, production } });
    const scene = await makePromotionScene(parts('Two', 1, 1));
    const { folder: origin, service } = scene;
    scene.make(['One', 'Two', 'Three']);
    scene.commit(parts('Two', 2, 2));
    const clone = cloneFully(origin);
    scene.commit(parts('Three', 3, 2));
    scene.activate('staging', 3);
    scene.activate('production', 1);
    const words = ['sync', '--yes', '--environment', 'production'];
    expect(summarizeRun(await runJson(clone, words, service))).toBe('exit 3, greeting blocked guard/superseded');
    const unchecked = await runJson(clone, [...words, '--any-commit'], service);
    expect(summarizeRun(unchecked)).toBe('exit 3, greeting blocked guard/promotion-order');
  });
});

test('sync blocks a prompt whose plan changes after the confirmation, and one that only a read after it could plan', async () => {
  const { folder, service, commit, answer, sync } = await makeSyncedTeam();
  const { store } = service;
  const change = (content: string) => store.createVersion('prm_greeting', { content })!;
  commit({ pins: { staging: 'latest', production: change('Three').version_number } });
  const unread = await answer('y\n');
  expect(unread).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('`promptsync sync greeting`') });
  expect(unread.stdout).toContain('Commit the file, and then run');
  expect(unread.stderr).not.toContain('Apply?');
  await sync();
  commit({ text: 'Two' });
  let isChanged = false;
  const { exitCode, stdout, stderr } = await answer('y\n', (text) => {
    if (isChanged || !text.includes('Apply?')) return;
    isChanged = true;
    store.setActive('prm_greeting', { environment: 'production', versionId: change('A fix').id });
  });
  expect(stderr).toContain('Apply? 1 prompt changes in staging, 1 in production.');
  expect(stderr).not.toContain('overwrites');
  expect(exitCode).toBe(3);
  expect(stdout).toContain('guard/stale-plan');
  expect(store.readPrompt('prm_greeting', 'production')?.active_version?.content).toBe('A fix');
  expect(git(folder, 'status', '--porcelain')).toBe('');
});
