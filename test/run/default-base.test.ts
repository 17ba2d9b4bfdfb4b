import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { countGit, wrapGit } from '../support/count-git.ts';
import { cloneOf, commitAll, git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, type PromptParts, workspaceFiles } from '../support/prompts.ts';
import { run, runJson, type RunOptions } from '../support/run.ts';
import { changeService, startTestService } from '../support/service.ts';

const CONFIG = 'prompts: ["prompts/**/*.md"]\nbranch: main\n';
const PATH = 'prompts/greeting.md';

/** Pins both environments to the text of the file. */
const BOTH = { staging: 'latest', production: 'latest' };

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

type TestService = Awaited<ReturnType<typeof startTestService>>;

function workIn(folder: string, service: TestService) {
  const plan = async (...words: readonly string[]) => {
    const { report, ...ran } = await runJson(folder, ['plan', ...words], service);
    const [prompt] = report.prompts;
    const activation = prompt?.changes.find((change) => change.kind === 'set-active');
    return { ...ran, report, drift: prompt?.drift ?? [], activation };
  };
  return {
    plan,
    sync: async (...words: readonly string[]) => {
      const ran = await run(folder, ['sync', '--yes', ...words], service);
      expect(ran).toMatchObject({ exitCode: 0 });
    },
    /** Writes and commits the prompt file, and returns the commit. */
    commit: (parts: PromptParts) => {
      writeFiles(folder, { [PATH]: promptText('greeting', { text: 'One', pins: BOTH, ...parts }) });
      return commitAll(folder, 'Change the prompt');
    },
  };
}

describe('plan without --base', () => {
  test('plan without --base reports an edit made in the service as drift of the kind "outside"', async () => {
    const { plan, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { drift, activation } = await plan();
    expect(drift).toMatchObject([{ environment: 'production', kind: 'outside', restores: true }]);
    expect(activation).not.toHaveProperty('wanted_since');
  });

  test('If a merged change has not been synced yet, plan reports no drift, and the JSON report names the commit of the change', async () => {
    const { plan, commit } = await makeSyncedTeam();
    const merged = commit({ text: 'Two' });
    commit({ text: 'Two', description: 'Something else' });
    const { drift, activation } = await plan();
    expect(drift).toEqual([]);
    expect(activation).toMatchObject({ wanted_since: { commit: merged, date: '2026-01-02' } });
    expect(activation).not.toHaveProperty('wanted_since.unmerged');
  });

  test('The JSON report names the commit of a merged field change that has not been synced yet', async () => {
    const { plan, commit, sync } = await makeSyncedTeam();
    commit({ description: 'Says hi' });
    await sync();
    const merged = commit({ description: 'Says hello' });
    const { report } = await plan();
    expect(report.prompts[0]?.changes).toMatchObject([
      { fields: { description: { wanted_since: { commit: merged, date: '2026-01-02' } } } },
    ]);
  });

  test('If the clone does not know the tip of the live branch, the JSON report marks the commit of a change as unmerged', async () => {
    const { folder, plan, commit } = await makeSyncedTeam();
    writeFiles(folder, { 'promptsync.yaml': CONFIG.replace('branch: main\n', '') });
    git(folder, 'branch', '--move', 'topic');
    const committed = commit({ text: 'Two', pins: { staging: 'latest' } });
    expect((await plan()).activation).toMatchObject({ wanted_since: { commit: committed, unmerged: true } });
  });

  test('On a feature branch, plan finds drift by comparing with the merge base of HEAD and the live branch', async () => {
    const { folder, plan, commit, service } = await makeSyncedTeam();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commit({ text: 'Two' });
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { drift } = await plan();
    expect(drift).toMatchObject([{ environment: 'production', kind: 'outside', restores: false }]);
  });

  test('If the service has what a newer commit on the live branch asks for, plan reports no drift and says that HEAD is behind', async () => {
    const { folder, plan, sync } = await makeSyncedTeam();
    git(folder, 'mv', PATH, 'prompts/moved.md');
    writeFiles(folder, { 'prompts/moved.md': promptText('greeting', { text: 'Two', pins: BOTH }) });
    commitAll(folder, 'Move and edit the prompt');
    await sync();
    git(folder, 'switch', '--quiet', '--detach', 'HEAD~1');
    expect(await plan()).toMatchObject({ drift: [], activation: { behind: true } });
    expect((await plan('--base', 'HEAD')).drift).toEqual([]);
  });

  test('plan shows the date 9999-12-31 for a commit that is dated after the year 9999', async () => {
    const { folder, plan, commit } = await makeSyncedTeam();
    const committed = commit({ text: 'Two' });
    const lines = git(folder, 'cat-file', '-p', committed).replaceAll(/> \d+ /g, '> 99999999999999 ');
    const words = ['hash-object', '--literally', '-t', 'commit', '-w', '--stdin'];
    const late = execFileSync('git', words, { cwd: folder, input: `${lines}\n`, encoding: 'utf8' }).trim();
    git(folder, 'update-ref', 'refs/heads/main', late);
    const { exitCode, activation } = await plan();
    expect(exitCode).toBe(0);
    expect(activation).toMatchObject({ wanted_since: { commit: late, date: '9999-12-31' } });
  });

  test('plan reports no drift of the kind "outside" if a pinned branch may have pointed to the served text before the branch moved', async () => {
    const { folder, plan, commit, sync } = await makeSyncedTeam();
    git(folder, 'branch', 'candidate');
    commit({ text: 'Two', pins: { staging: 'git:candidate' } });
    git(folder, 'branch', '--force', 'candidate');
    await sync();
    commit({ text: 'Three', pins: { staging: 'git:candidate' } });
    git(folder, 'branch', '--force', 'candidate');
    expect((await plan()).drift).toEqual([]);
  });
});

describe('the name of the base', () => {
  test('The report names the live branch as the base if the base is the tip of that branch, and otherwise names the ref or commit', async () => {
    const { folder, plan, commit, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const tip = git(folder, 'rev-parse', 'HEAD');
    const namesOf = async (...words: readonly string[]) => {
      const { base, branch } = (await plan(...words)).report;
      return { base, branch };
    };
    expect(await namesOf()).toEqual({ base: 'main', branch: 'main' });
    expect(await namesOf('--base', tip)).toEqual({ base: 'main', branch: 'main' });
    git(folder, 'switch', '--quiet', '--create', 'feature');
    git(folder, 'branch', 'next');
    git(folder, 'branch', '--force', 'main', commit({ text: 'One', description: 'Newer' }));
    git(folder, 'reset', '--quiet', '--hard', 'next');
    expect(await namesOf()).toEqual({ base: tip.slice(0, 12), branch: 'main' });
    expect(await namesOf('--base', tip)).toEqual({ base: tip.slice(0, 12), branch: 'main' });
    expect(await namesOf('--base', 'next')).toEqual({ base: 'next', branch: 'main' });
  });

  test('The report names neither the base nor the live branch if the plan has neither drift nor notes', async () => {
    const { plan } = await makeSyncedTeam();
    const { report } = await plan();
    expect(report).not.toHaveProperty('base');
    expect(report).not.toHaveProperty('branch');
  });
});

describe('plans without a note', () => {
  /** Returns true if a change of the plan has a note in the text report, such as `(main wants this since …)`. */
  async function hasNote(folder: string, service: TestService): Promise<boolean> {
    const { report, exitCode } = await runJson(folder, ['plan'], service);
    expect({ exitCode, prompts: report.prompts }).toMatchObject({
      exitCode: 0,
      prompts: [{ status: 'pending', drift: [] }],
    });
    const { stdout } = await run(folder, ['plan'], service);
    expect(stdout).toMatch(/^ +→ /m);
    return /^ +→ .*\(/m.test(stdout);
  }

  test('plan shows no note after a commit on the live branch, whether or not the clone has origin/HEAD', async () => {
    const { folder, service, commit } = await makeSyncedTeam();
    const clone = join(makeFolder(), 'clone');
    git(folder, 'clone', '--quiet', folder, clone);
    commit({ text: 'Two' });
    expect(await hasNote(folder, service)).toBe(false);
    git(clone, 'pull', '--quiet');
    expect(await hasNote(clone, service)).toBe(false);
    git(clone, 'remote', 'set-head', 'origin', '--delete');
    writeFiles(clone, { 'promptsync.yaml': CONFIG.replace('branch: main\n', '') });
    expect(await hasNote(clone, service)).toBe(false);
  });

  test('plan shows no note on a feature branch, whether or not the clone has origin/HEAD', async () => {
    const { folder, service } = await makeSyncedTeam();
    writeFiles(folder, { 'promptsync.yaml': CONFIG.replace('branch: main\n', '') });
    commitAll(folder, 'Do not name the branch');
    const clone = join(makeFolder(), 'clone');
    git(folder, 'clone', '--quiet', folder, clone);
    git(clone, 'switch', '--quiet', '--create', 'feature');
    for (const text of ['Two', 'Three']) {
      writeFiles(clone, { [PATH]: promptText('greeting', { text, pins: BOTH }) });
      commitAll(clone, 'Change the prompt');
    }
    expect(await hasNote(clone, service)).toBe(false);
    git(clone, 'remote', 'set-head', 'origin', '--delete');
    expect(await hasNote(clone, service)).toBe(false);
  });

  test('plan shows no note about an uncommitted edit', async () => {
    const { folder, service } = await makeSyncedTeam();
    writeFiles(folder, { [PATH]: promptText('greeting', { text: 'Two', pins: BOTH }) });
    expect(await hasNote(folder, service)).toBe(false);
  });

  test('plan shows no note in a new repository without a remote', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { text: 'One' } }));
    expect(await hasNote(folder, await startTestService(['greeting']))).toBe(false);
  });
});

describe('a prompt file that git treats as a new file after a move', () => {
  const rewritten = Array.from({ length: 30 }, (_, line) => `Line ${line}`).join('\n');

  async function makeMovedPrompt() {
    const team = await makeSyncedTeam();
    git(team.folder, 'rm', '--quiet', PATH);
    writeFiles(team.folder, { 'prompts/moved.md': promptText('greeting', { text: rewritten, pins: BOTH }) });
    return { ...team, moved: commitAll(team.folder, 'Move and rewrite the prompt') };
  }

  test('After a prompt file is moved and synced, plan still reports an edit made in the service as drift of the kind "outside"', async () => {
    const { plan, sync, service } = await makeMovedPrompt();
    await sync();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    expect((await plan()).drift).toMatchObject([{ environment: 'production', kind: 'outside' }]);
  });

  test('If the commit that moved and rewrote a prompt file is not synced yet, plan annotates the change with that commit', async () => {
    const { plan, moved } = await makeMovedPrompt();
    expect(await plan()).toMatchObject({ drift: [], activation: { wanted_since: { commit: moved } } });
  });
});

describe('prompt files before their first sync', () => {
  const written = { text: 'Mine', pins: BOTH };

  async function makeUnsynced() {
    const service = await startTestService(['greeting']);
    for (const text of ['Old', 'New']) await changeService(service.baseUrl, 'greeting', 'production', text);
    const folder = makeRepository(workspaceFiles({ greeting: written }, CONFIG));
    return { service, folder, ...workIn(folder, service) };
  }

  test('plan without --base reports no drift for a handwritten prompt file before its first sync', async () => {
    const { plan } = await makeUnsynced();
    expect((await plan('--on-drift', 'fail')).report.prompts).toMatchObject([{ drift: [] }]);
  });
});

describe('prompt files that no longer exist', () => {
  const both = { greeting: { text: 'One' }, refund: { text: 'Refund' } };

  async function makeTwoPrompts() {
    const folder = makeRepository(workspaceFiles(both, CONFIG));
    const service = await startTestService(['greeting', 'refund']);
    const team = { folder, service, ...workIn(folder, service) };
    await team.sync();
    return team;
  }
  const missingFiles = ({ problems }: { problems: readonly { code: string; path?: string | undefined }[] }) =>
    problems.filter(({ code }) => code === 'prompt/gone').map(({ path }) => path);

  test('plan reports a prompt file that the checked-out branch deleted, and sends no request for its prompt', async () => {
    const { folder, plan, service } = await makeTwoPrompts();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    rmSync(join(folder, 'prompts/refund.md'));
    commitAll(folder, 'Remove the refund prompt');
    service.requests.splice(0);
    expect(missingFiles((await plan()).report)).toEqual(['prompts/refund.md']);
    expect(service.requests.filter(({ path }) => path.includes('refund'))).toEqual([]);
  });

  test('plan reports a deleted prompt file even if the deletion is not committed', async () => {
    const { folder, plan } = await makeTwoPrompts();
    rmSync(join(folder, 'prompts/refund.md'));
    expect(missingFiles((await plan()).report)).toEqual(['prompts/refund.md']);
    expect(missingFiles((await plan('greeting')).report)).toEqual([]);
  });

  test('plan finds edited and deleted prompt files in the root folder of the repository', async () => {
    const files = { 'greeting.md': promptText('greeting'), 'refund.md': promptText('refund') };
    const folder = makeRepository({ 'promptsync.yaml': 'prompts: ["*.md"]\nbranch: main\n', ...files });
    const service = await startTestService(['greeting', 'refund']);
    const { plan, sync } = workIn(folder, service);
    await sync();
    writeFiles(folder, { 'greeting.md': promptText('greeting', { text: 'Edited' }) });
    rmSync(join(folder, 'refund.md'));
    const { report } = await plan();
    expect(missingFiles(report)).toEqual(['refund.md']);
    expect(report.problems.map(({ code, path }) => `${code} ${path}`)).toContain('git/uncommitted greeting.md');
  });

  test('plan does not report a moved prompt file as deleted', async () => {
    const { folder, plan } = await makeTwoPrompts();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    git(folder, 'mv', 'prompts/refund.md', 'prompts/moved.md');
    expect(missingFiles((await plan()).report)).toEqual([]);
    commitAll(folder, 'Move the refund prompt');
    expect(missingFiles((await plan()).report)).toEqual([]);
  });
});

describe('a missing default base', () => {
  const NOTICE = 'promptsync cannot show drift because';

  /** Runs `plan`, and returns its exit code and its notices about the missing base. */
  async function planIn(folder: string, service: TestService, options: RunOptions = {}) {
    const { exitCode, stderr } = await run(folder, ['plan'], { ...service, ...options });
    return { exitCode, notice: stderr.split('\n').filter((line) => line.startsWith(NOTICE)) };
  }

  const files = workspaceFiles({ greeting: { text: 'One' } }, CONFIG);
  const edited = { [PATH]: promptText('greeting', { text: 'Two' }) };

  test('Outside a git repository, plan says that it does not show drift, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const notice = [`${NOTICE} this folder is not in a git repository.`];
    expect(await planIn(makeWorkspace(files), service)).toEqual({ exitCode: 0, notice });
  });

  test('In a repository without a commit, plan says that it does not show drift, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeWorkspace(files);
    git(folder, 'init', '--quiet');
    const notice = [`${NOTICE} the git repository has no commits yet.`];
    expect(await planIn(folder, service)).toEqual({ exitCode: 0, notice });
  });

  test('In a shallow clone, plan says that it does not show drift, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeRepository(files);
    writeFiles(folder, edited);
    commitAll(folder, 'Change the text');
    const notice = [`${NOTICE} this clone is shallow.`];
    expect(await planIn(cloneOf(folder), service)).toEqual({ exitCode: 0, notice });
  });

  test('In a partial clone, plan says that it does not show drift, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const origin = makeRepository(files);
    git(origin, 'config', 'uploadpack.allowFilter', 'true');
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', '--filter=blob:none', `file://${origin}`, clone);
    const notice = [`${NOTICE} this clone is partial.`];
    expect(await planIn(clone, service)).toEqual({ exitCode: 0, notice });
  });

  test.each(['log', 'rev-list'])(
    'If git %s fails for the base, plan says that it does not show drift, and warns that --on-drift fail has no effect',
    async (command) => {
      const { folder, service, commit } = await makeSyncedTeam();
      commit({ text: 'Two' });
      await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
      git(folder, 'switch', '--quiet', '--detach');
      // promptsync also needs the log of HEAD, to record the commits of new versions.
      const head = commit({ text: 'Two', description: 'Not merged' });
      const { path } = wrapGit((real) => [
        `[[ " $* " == *" ${command} "* && " $* " != *" ${head} "* ]] && { echo 'fatal: broken' >&2; exit 128; }`,
        `exec ${real} "$@"`,
      ]);
      vi.stubEnv('PATH', path);
      const { exitCode, stderr, report } = await runJson(folder, ['plan', '--on-drift', 'fail'], service);
      vi.unstubAllEnvs();
      expect(exitCode).toBe(0);
      expect(stderr).toContain(`${NOTICE} git failed: fatal: broken.`);
      expect(report.problems.map(({ code }) => code)).toContain('config/drift-needs-base');
    },
  );

  test('Outside git, sync --on-drift=fail --quiet warns before its first write that it cannot detect drift', async () => {
    const service = await startTestService(['greeting']);
    const options = { ...service, terminal: true, input: 'no\n' };
    const words = ['sync', '--quiet', '--on-drift', 'fail'];
    const { stderr } = await run(makeWorkspace(files), words, options);
    expect(stderr).toContain(`${NOTICE} this folder is not in a git repository.`);
    expect(stderr).toContain('promptsync cannot detect drift because it has no commit to compare with.');
    expect(service.takeWrites()).toEqual([]);
  });

  test('plan does not mention a missing base if every prompt is in sync', async () => {
    const { folder, service } = await makeSyncedTeam();
    rmSync(join(folder, '.git'), { recursive: true });
    expect(await planIn(folder, service)).toEqual({ exitCode: 0, notice: [] });
  });

  test('plan uses HEAD as the base if HEAD and the live branch have no common ancestor', async () => {
    const { folder, plan, service } = await makeSyncedTeam();
    git(folder, 'switch', '--quiet', '--orphan', 'unrelated');
    writeFiles(folder, workspaceFiles({ greeting: { text: 'One', pins: BOTH } }, CONFIG));
    commitAll(folder, 'Start again');
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { exitCode, drift } = await plan();
    expect(exitCode).toBe(0);
    expect(drift).toMatchObject([{ environment: 'production', kind: 'outside' }]);
  });
});

describe('the cost of the default base', () => {
  test('On the live branch, a plan without changes reads no git history and sends only two requests', async () => {
    const { plan, service } = await makeSyncedTeam();
    service.requests.splice(0);
    const listCommands = countGit();
    await plan();
    const commands = listCommands();
    expect(commands.filter((name) => ['log', 'merge-base', 'rev-list', 'grep', 'ls-tree'].includes(name))).toEqual([]);
    expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  test('On a feature branch, a plan without changes needs only one git merge-base and one extra git diff to find missing files', async () => {
    const { folder, plan } = await makeSyncedTeam();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commitAll(folder, 'Nothing about prompts');
    const listCommands = countGit();
    await plan();
    const commands = listCommands();
    expect(commands.filter((name) => ['log', 'rev-list', 'grep'].includes(name))).toEqual([]);
    expect(commands.filter((name) => name === 'merge-base')).toHaveLength(1);
    expect(commands.filter((name) => name === 'diff')).toHaveLength(2);
  });
});

describe('the number of git processes for the default base', () => {
  /** Makes a repository whose HEAD is behind `main`. Each prompt has commits of its own, and the newest ones are synced. */
  async function makeStaleClone(count: number) {
    const names = Array.from({ length: count }, (_, index) => `p${index}`);
    const parts = (text: string) => ({ text, pins: BOTH });
    const folder = makeRepository(
      workspaceFiles(Object.fromEntries(names.map((name) => [name, parts('Zero')])), CONFIG),
    );
    const service = await startTestService(names);
    const { sync } = workIn(folder, service);
    await sync();
    for (const text of ['One', 'Two']) {
      for (const name of names) {
        writeFiles(folder, { [`prompts/${name}.md`]: promptText(name, parts(text)) });
        commitAll(folder, `Change ${name}`);
      }
      await sync();
    }
    git(folder, 'switch', '--quiet', '--detach', `HEAD~${count}`);
    return { folder, service };
  }

  test('plan starts as many git processes for 12 prompts as for 6 prompts, even if each prompt has its own commits', async () => {
    const numbers: number[] = [];
    for (const count of [6, 12]) {
      const { folder, service } = await makeStaleClone(count);
      const listCommands = countGit();
      const { report } = await runJson(folder, ['plan'], service);
      numbers.push(listCommands().length);
      vi.unstubAllEnvs();
      expect(report.prompts.flatMap(({ drift }) => drift)).toEqual([]);
      const differing = report.prompts.filter(({ changes }) => changes.length > 0);
      expect(differing).toHaveLength(count);
    }
    expect(numbers[1]).toBe(numbers[0]);
  });
});

describe('sync without --base', () => {
  test('sync --on-drift fail refuses to overwrite an edit made in the service, even without --base', async () => {
    const { folder, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--on-drift', 'fail'], service);
    expect(exitCode).toBe(3);
    expect(report.prompts[0]).toMatchObject({ status: 'blocked', problems: [{ code: 'guard/drift' }] });
    expect(report.problems).toEqual([]);
  });

  test('If a newer commit may have requested what the service has, sync reports a stale clone instead of drift', async () => {
    const { folder: origin, service } = await makeSyncedTeam();
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', origin, clone);
    const ahead = workIn(origin, service);
    ahead.commit({ text: 'Two' });
    await ahead.sync();
    const words = ['sync', '--yes', '--on-drift', 'fail'];
    const { exitCode, report } = await runJson(clone, words, service);
    expect(exitCode).toBe(3);
    expect(report.prompts[0]).toMatchObject({ status: 'blocked', problems: [{ code: 'guard/superseded' }] });
  });

  test('If a newer commit has moved the source of a promotion, sync reports a stale clone instead of the promotion order', async () => {
    const environments = 'environments: { staging: {}, production: { promote_from: staging } }\n';
    const parts = (text: string, production: number) => ({ text, pins: { staging: 'latest', production } });
    const origin = makeRepository(
      workspaceFiles({ greeting: { text: 'One', pins: { staging: 'latest' } } }, CONFIG + environments),
    );
    const service = await startTestService(['greeting']);
    const { commit, sync } = workIn(origin, service);
    await sync();
    for (const text of ['One', 'Two']) {
      commit(parts(text, 1));
      await sync();
    }
    commit(parts('Two', 2));
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', origin, clone);
    commit(parts('Three', 2));
    await sync('--environment', 'staging');
    const { exitCode, report } = await runJson(clone, ['sync', '--yes', '--environment', 'production'], service);
    expect(exitCode).toBe(3);
    expect(report.prompts[0]?.problems.map(({ code }) => code)).toEqual(['guard/superseded']);
  });

  test('plan says that the clone lacks the commit from which the served version was made', async () => {
    const { folder: origin, service } = await makeSyncedTeam();
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', origin, clone);
    const ahead = workIn(origin, service);
    const newer = ahead.commit({ text: 'Two' });
    await ahead.sync();
    const lacksCommit = async (): Promise<void> => {
      const [prompt] = (await runJson(clone, ['plan'], service)).report.prompts;
      expect(prompt?.drift[0]).toMatchObject({ observed: { commit: newer, commit_missing: true } });
    };
    await lacksCommit();
    // A refused sync fetches the objects of the newer commit, but the clone still has no ref to it.
    expect((await runJson(clone, ['sync', '--yes'], service)).exitCode).toBe(3);
    await lacksCommit();
    expect((await run(clone, ['plan'], service)).stdout).toContain('which this clone does not have: run git fetch)');
  });

  test('pull leaves a file alone if an environment serves a version from a commit that the clone lacks', async () => {
    const origin = makeRepository(workspaceFiles({ greeting: { text: 'One', pins: { staging: 'latest' } } }));
    const service = await startTestService(['greeting']);
    const { commit, sync } = workIn(origin, service);
    await sync();
    commit({ text: 'One', pins: { staging: 1 } });
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', origin, clone);
    commit({ text: 'Two', pins: { staging: 'latest' } });
    await sync();
    const { exitCode, report } = await runJson(clone, ['pull'], service);
    expect(exitCode).toBe(0);
    expect(report.prompts).toMatchObject([
      { status: 'unchanged', edits: [], problems: [{ code: 'pull/known-version', severity: 'warning' }] },
    ]);
    expect(git(clone, 'status', '--porcelain')).toBe('');
  });

  test('The confirmation question of sync counts the prompts that change and the edits made in the service that sync overwrites', async () => {
    const { folder, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { exitCode, stderr } = await run(folder, ['sync'], { ...service, terminal: true, input: 'n\n' });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'Apply? 1 prompt changes in production. This overwrites 1 change that was made in the service.',
    );
  });

  test('The confirmation question of sync does not mention overwriting if sync overwrites no edit made in the service', async () => {
    const { folder, service, commit } = await makeSyncedTeam();
    commit({ text: 'Two' });
    const { stderr } = await run(folder, ['sync'], { ...service, terminal: true, input: 'n\n' });
    expect(stderr).toContain('Apply? 1 prompt changes in staging, 1 in production.');
    expect(stderr).not.toContain('overwrites');
  });

  test('sync blocks a prompt, without asking for confirmation, if only a read after the confirmation could show what would change', async () => {
    const { folder, service, commit } = await makeSyncedTeam();
    const version = service.store.createVersion('prm_greeting', { content: 'Three' });
    commit({ pins: { staging: 'latest', production: version!.version_number } });
    const { exitCode, stdout, stderr } = await run(folder, ['sync'], { ...service, terminal: true, input: 'y\n' });
    expect(exitCode).toBe(3);
    expect(stderr).not.toContain('Apply?');
    expect(stdout).toContain('Commit the file, and then run: `promptsync sync greeting`');
    expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
  });

  test('sync blocks a prompt if its plan changes after the user has answered the confirmation question', async () => {
    const { folder, service, commit } = await makeSyncedTeam();
    commit({ text: 'Two' });
    let isChanged = false;
    const onError = (text: string): void => {
      if (isChanged || !text.includes('Apply?')) return;
      isChanged = true;
      const version = service.store.createVersion('prm_greeting', { content: 'A fix' });
      service.store.setActive('prm_greeting', { environment: 'production', versionId: version!.id });
    };
    const { exitCode, stdout } = await run(folder, ['sync'], { ...service, terminal: true, input: 'y\n', onError });
    expect(exitCode).toBe(3);
    expect(stdout).toContain('guard/stale-plan');
    expect(service.store.readPrompt('prm_greeting', 'production')?.active_version?.content).toBe('A fix');
  });

  test('sync checks the promotion order against the git history of HEAD, with and without --base', async () => {
    const config = `${CONFIG}environments:\n  staging: {}\n  production: { promote_from: staging }\n`;
    const folder = makeRepository(workspaceFiles({ greeting: { text: 'One', pins: { staging: 'latest' } } }, config));
    const service = await startTestService(['greeting']);
    const { sync, commit } = workIn(folder, service);
    await sync();
    service.store.createVersion('prm_greeting', { content: 'Theirs' });
    const theirs = service.store.readPrompt('prm_greeting')?.latest_version_id;
    commit({ text: 'One', pins: { staging: 'latest', production: `version:${theirs}` } });
    for (const base of [[], ['--base', 'HEAD'], ['--base', 'HEAD~1']]) {
      const { exitCode, report } = await runJson(folder, ['sync', '--yes', ...base], service);
      expect({ base, exitCode }).toEqual({ base, exitCode: 3 });
      expect(report.prompts[0]?.problems).toMatchObject([{ code: 'guard/promotion-order' }]);
    }
  });
});

describe('status', () => {
  test('status reports an edit made in the service as drift of the kind "outside"', async () => {
    const { folder, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { report } = await runJson(folder, ['status'], service);
    expect(report.prompts[0]?.drift).toMatchObject([{ environment: 'production', kind: 'outside' }]);
  });
});
