import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseVersionRecord } from '../../src/ledger/version-record.ts';
import { countGit } from '../support/count-git.ts';
import { cloneOf, commitAll, git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, type PromptParts, workspaceFiles } from '../support/prompts.ts';
import { run, runJson, type RunOptions } from '../support/run.ts';
import { changeService, startTestService } from '../support/service.ts';

const CONFIG = 'prompts: ["prompts/**/*.md"]\nbranch: main\n';
const PATH = 'prompts/greeting.md';

/** Pins both environments to the text of the file. */
const BOTH = { staging: 'latest', production: 'latest' };

/**
 * Makes a repository without a remote, whose branch main is live. It has synced two commits. Version 1 has the text Zero.
 * Version 2 has the text One, and both environments serve it.
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
    /** Runs `plan` and returns its text. */
    show: async () => (await run(folder, ['plan'], service)).stdout,
    sync: async (...words: readonly string[]) => {
      const ran = await run(folder, ['sync', '--yes', ...words], service);
      expect(ran).toMatchObject({ exitCode: 0 });
    },
    /** Writes the prompt file and commits it. Returns the commit. */
    commit: (parts: PromptParts) => {
      writeFiles(folder, { [PATH]: promptText('greeting', { text: 'One', pins: BOTH, ...parts }) });
      return commitAll(folder, 'Change the prompt');
    },
    /** Makes a version with this number active in production, without promptsync. */
    moveProduction: (number: number) => {
      const newest = service.store.readPrompt('prm_greeting', 'promptsync')?.active_version;
      const ledger = parseVersionRecord(newest?.metadata_ ?? null)?.ledger ?? [];
      const known = [{ number: newest?.version_number, id: newest?.id }, ...ledger];
      const versionId = known.find((version) => version.number === number)?.id ?? '';
      service.store.setActive('prm_greeting', { environment: 'production', versionId });
    },
  };
}

describe('plan without --base', () => {
  test('plan reports an edit in the service as outside drift even if the user gives no base', async () => {
    const { plan, show, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { drift, activation } = await plan();
    expect(drift).toMatchObject([{ environment: 'production', kind: 'outside', restores: true }]);
    expect(activation).not.toHaveProperty('wanted_since');
    expect(await show()).toContain(
      'production serves v3, but the file wants v2 (no commit in this clone asked for it)',
    );
  });

  test('plan annotates a change that an earlier commit wanted, instead of reporting it as drift', async () => {
    const { plan, show, commit } = await makeSyncedTeam();
    const merged = commit({ text: 'Two' });
    const { drift, activation } = await plan();
    expect(drift).toEqual([]);
    expect(activation).toMatchObject({ wanted_since: { commit: merged, date: '2026-01-02' } });
    expect(await show()).toContain(
      `→ staging: v2 → new version (merged in ${merged.slice(0, 12)} on 2026-01-02; not live, or moved back in the service)`,
    );
  });

  test('plan annotates a change with the commit that first wanted it and not with later commits', async () => {
    const { plan, commit } = await makeSyncedTeam();
    const merged = commit({ text: 'Two' });
    commit({ text: 'Two', description: 'Something else' });
    expect((await plan()).activation).toMatchObject({ wanted_since: { commit: merged } });
  });

  test('plan annotates the change of a field that an earlier commit wanted', async () => {
    const { plan, commit } = await makeSyncedTeam();
    const merged = commit({ pins: { staging: 'latest' }, description: 'Says hello' });
    const { report } = await plan();
    expect(report.prompts[0]?.changes).toEqual([
      {
        kind: 'update-prompt',
        fields: {
          description: { before: '', after: 'Says hello', wanted_since: { commit: merged, date: '2026-01-02' } },
        },
      },
    ]);
  });

  test('plan says that the commit is only committed if the clone knows no tip of the live branch', async () => {
    const { folder, plan, show, commit } = await makeSyncedTeam();
    writeFiles(folder, { 'promptsync.yaml': CONFIG.replace('branch: main\n', '') });
    const committed = commit({ text: 'Two', pins: { staging: 'latest' } });
    expect((await plan()).activation).toMatchObject({ wanted_since: { commit: committed, unmerged: true } });
    expect(await show()).toContain(`(committed in ${committed.slice(0, 12)} on 2026-01-02;`);
  });

  test('plan does not annotate a change that only the checked-out branch wants', async () => {
    const { folder, plan, commit } = await makeSyncedTeam();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commit({ text: 'Two', pins: { staging: 'latest' } });
    const { drift, activation } = await plan();
    expect(drift).toEqual([]);
    expect(activation).not.toHaveProperty('wanted_since');
  });

  test('plan on a branch reports drift against the merge base with the live branch', async () => {
    const { folder, plan, commit, service } = await makeSyncedTeam();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commit({ text: 'Two' });
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { drift } = await plan();
    expect(drift).toMatchObject([{ environment: 'production', kind: 'outside', restores: false }]);
  });

  test('plan does not annotate a change that only an uncommitted edit wants', async () => {
    const { folder, plan } = await makeSyncedTeam();
    writeFiles(folder, { [PATH]: promptText('greeting', { text: 'Two' }) });
    expect((await plan()).activation).not.toHaveProperty('wanted_since');
  });

  test('plan annotates a change with the live branch if HEAD is behind it and the service has what it wants', async () => {
    const { folder, plan, show, commit, sync } = await makeSyncedTeam();
    const newer = commit({ text: 'Two' });
    await sync();
    git(folder, 'switch', '--quiet', '--detach', 'HEAD~1');
    const { drift, activation } = await plan();
    expect(drift).toEqual([]);
    expect(activation).toMatchObject({ wanted_elsewhere: { commit: newer, branch: 'main' } });
    expect(await show()).toContain(`→ staging: v3 → v2 (main wants v3 since ${newer.slice(0, 12)})`);
  });

  test('plan does not annotate an environment in which no version is active', async () => {
    const { plan, commit } = await makeSyncedTeam();
    commit({ pins: { staging: 'latest', production: 'latest', qa: 1 } });
    const { drift, activation } = await plan();
    expect(drift).toEqual([]);
    expect(activation).toMatchObject({ environment: 'qa', before: null });
    expect(activation).not.toHaveProperty('wanted_since');
  });

  test('plan does not annotate a pin to a branch, because the branch can move', async () => {
    const { folder, plan, commit } = await makeSyncedTeam();
    commit({ text: 'Two', pins: { staging: 'git:candidate' } });
    git(folder, 'branch', 'candidate');
    const { drift, activation } = await plan();
    expect(drift).toEqual([]);
    expect(activation).toMatchObject({ environment: 'staging' });
    expect(activation).not.toHaveProperty('wanted_since');
  });

  test('plan does not report a version as outside drift if a moving ref may have meant its text before', async () => {
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

describe('evidence in version records', () => {
  test('plan reports an environment that was moved back as drift if a later version records that it was live', async () => {
    const { plan, commit, sync, moveProduction } = await makeSyncedTeam();
    commit({ pins: { staging: 'latest', production: 2 } });
    await sync();
    moveProduction(1);
    expect(await plan()).toMatchObject({ drift: [], activation: { wanted_since: {} } });
    moveProduction(2);
    commit({ text: 'Two', pins: { staging: 'latest', production: 2 } });
    await sync();
    moveProduction(1);
    const { drift } = await plan();
    expect(drift).toMatchObject([{ environment: 'production', kind: 'outside', observed: { version_number: 1 } }]);
    expect((await plan('--base', 'HEAD')).drift).toEqual(drift);
  });

  test('plan does not count a version record from a commit that does not contain the wanted pin', async () => {
    const { plan, commit, sync, moveProduction } = await makeSyncedTeam();
    commit({ text: 'Two', pins: { staging: 'latest', production: 2 } });
    await sync();
    commit({ text: 'Two', pins: { staging: 'latest', production: 1 } });
    await sync();
    // The record of version 3 shows that production served version 2, but a later commit wants version 2 there again.
    const wanted = commit({ text: 'Two', pins: { staging: 'latest', production: 2 } });
    moveProduction(1);
    expect(await plan()).toMatchObject({ drift: [], activation: { wanted_since: { commit: wanted } } });
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

  test('plan does not report a prompt file that was written by hand as drift before its first sync', async () => {
    const { plan } = await makeUnsynced();
    expect((await plan('--on-drift', 'fail')).report.prompts).toMatchObject([{ drift: [] }]);
  });

  test('With an explicit base, plan reports the same prompt file as drift', async () => {
    const { plan } = await makeUnsynced();
    expect((await plan('--base', 'HEAD')).drift).toMatchObject([
      { kind: 'unfinished' },
      { environment: 'production', kind: 'outside' },
    ]);
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

  test('plan reports a prompt file that the checked-out branch deletes, and does not ask the service about it', async () => {
    const { folder, plan, service } = await makeTwoPrompts();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    rmSync(join(folder, 'prompts/refund.md'));
    commitAll(folder, 'Remove the refund prompt');
    service.requests.splice(0);
    expect(missingFiles((await plan()).report)).toEqual(['prompts/refund.md']);
    expect(service.requests.filter(({ path }) => path.includes('refund'))).toEqual([]);
  });

  test('plan reports a prompt file that was deleted and not committed', async () => {
    const { folder, plan } = await makeTwoPrompts();
    rmSync(join(folder, 'prompts/refund.md'));
    expect(missingFiles((await plan()).report)).toEqual(['prompts/refund.md']);
    expect(missingFiles((await plan('greeting')).report)).toEqual([]);
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
  const NOTICE = 'Drift is not shown, because';

  /** Returns the exit code of plan, and the notice about the missing base. */
  async function planIn(folder: string, service: TestService, options: RunOptions = {}) {
    const { exitCode, stderr } = await run(folder, ['plan'], { ...service, ...options });
    return { exitCode, notice: stderr.split('\n').filter((line) => line.startsWith(NOTICE)) };
  }

  const files = workspaceFiles({ greeting: { text: 'One' } }, CONFIG);
  const edited = { [PATH]: promptText('greeting', { text: 'Two' }) };

  test('plan says that it shows no drift outside a git repository, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const notice = [`${NOTICE} this folder is not in a git repository.`];
    expect(await planIn(makeWorkspace(files), service)).toEqual({ exitCode: 0, notice });
  });

  test('plan says that it shows no drift in a repository without a commit, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeWorkspace(files);
    git(folder, 'init', '--quiet');
    const notice = [`${NOTICE} the git repository has no commit yet.`];
    expect(await planIn(folder, service)).toEqual({ exitCode: 0, notice });
  });

  test('plan says that it shows no drift in a shallow clone, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeRepository(files);
    writeFiles(folder, edited);
    commitAll(folder, 'Change the text');
    const notice = [`${NOTICE} this clone is shallow.`];
    expect(await planIn(cloneOf(folder), service)).toEqual({ exitCode: 0, notice });
  });

  test('plan says that it shows no drift in a partial clone, and succeeds', async () => {
    const service = await startTestService(['greeting']);
    const origin = makeRepository(files);
    git(origin, 'config', 'uploadpack.allowFilter', 'true');
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', '--filter=blob:none', `file://${origin}`, clone);
    const notice = [`${NOTICE} this clone is partial.`];
    expect(await planIn(clone, service)).toEqual({ exitCode: 0, notice });
  });

  test('plan does not mention a missing base if no prompt differs from the service', async () => {
    const { folder, service } = await makeSyncedTeam();
    rmSync(join(folder, '.git'), { recursive: true });
    expect(await planIn(folder, service)).toEqual({ exitCode: 0, notice: [] });
  });

  test('plan compares with HEAD if the live branch has no common ancestor with it', async () => {
    const { folder, plan, service } = await makeSyncedTeam();
    git(folder, 'switch', '--quiet', '--orphan', 'unrelated');
    writeFiles(folder, workspaceFiles({ greeting: { text: 'One', pins: BOTH } }, CONFIG));
    commitAll(folder, 'Start again');
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { exitCode, activation } = await plan();
    expect(exitCode).toBe(0);
    expect(activation).toMatchObject({ wanted_since: { unmerged: true } });
  });
});

describe('the cost of the default base', () => {
  test('A plan without changes on the live branch reads no history, and sends the same requests as before', async () => {
    const { plan, service } = await makeSyncedTeam();
    service.requests.splice(0);
    const listCommands = countGit();
    await plan();
    const commands = listCommands();
    expect(commands.filter((name) => ['log', 'merge-base', 'rev-list', 'grep', 'ls-tree'].includes(name))).toEqual([]);
    expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  test('A plan without changes on a branch finds missing files with one merge base and one comparison', async () => {
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

describe('sync without --base', () => {
  test('sync --on-drift fail refuses to overwrite an edit in the service even if the user gives no base', async () => {
    const { folder, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--on-drift', 'fail'], service);
    expect(exitCode).toBe(3);
    expect(report.prompts[0]).toMatchObject({ status: 'blocked', problems: [{ code: 'guard/drift' }] });
    expect(report.problems).toEqual([]);
  });

  test('sync says that the clone is stale instead of refusing an edit that a newer commit may have asked for', async () => {
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

  test('plan says that the clone lacks the commit of a version if a newer commit made it', async () => {
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
    expect((await run(clone, ['plan'], service)).stdout).toContain(
      `made from ${newer.slice(0, 12)}, which this clone does not have: run git fetch; or it was never merged`,
    );
  });

  test('sync says what is at stake before it asks, including the changes in the service that it overwrites', async () => {
    const { folder, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { exitCode, stderr } = await run(folder, ['sync'], { ...service, terminal: true, input: 'n\n' });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'Apply? 1 prompt changes in production. This overwrites 1 change that was made in the service.',
    );
  });

  test('sync does not mention changes in the service if it overwrites none', async () => {
    const { folder, service, commit } = await makeSyncedTeam();
    commit({ text: 'Two' });
    const { stderr } = await run(folder, ['sync'], { ...service, terminal: true, input: 'n\n' });
    expect(stderr).toContain('Apply? 1 prompt changes in staging, 1 in production.');
    expect(stderr).not.toContain('overwrites');
  });

  test('sync blocks a prompt whose plan changes after the user has confirmed it', async () => {
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

  test('sync decides promotion order from the history of HEAD, whether or not the user gives a base', async () => {
    const config = `${CONFIG}environments:\n  staging: {}\n  production: { promote_from: staging }\n`;
    const folder = makeRepository(workspaceFiles({ greeting: { text: 'One', pins: { staging: 'latest' } } }, config));
    const service = await startTestService(['greeting']);
    const { sync, commit } = workIn(folder, service);
    await sync();
    commit({ text: 'Two', pins: { staging: 'latest' } });
    await sync();
    commit({ text: 'Two', pins: { staging: 'latest', production: 1 } });
    for (const base of [[], ['--base', 'HEAD'], ['--base', 'HEAD~1']]) {
      const { exitCode, report } = await runJson(folder, ['sync', '--yes', ...base], service);
      expect({ base, exitCode }).toEqual({ base, exitCode: 3 });
      expect(report.prompts[0]?.problems).toMatchObject([{ code: 'guard/promotion-order' }]);
    }
  });
});

describe('status', () => {
  test('status shows an edit in the service as drift', async () => {
    const { folder, service } = await makeSyncedTeam();
    await changeService(service.baseUrl, 'greeting', 'production', 'A fix');
    const { report } = await runJson(folder, ['status'], service);
    expect(report.prompts[0]?.drift).toMatchObject([{ environment: 'production', kind: 'outside' }]);
  });
});
