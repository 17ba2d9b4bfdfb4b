import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeService, startTestService, type TestService } from '../support/service.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { run, runJson } from '../support/run.ts';

const CONFIG = `prompts: ["prompts/**/*.md"]
environments: # in promotion order
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

/** Makes a repository without prompt files, and a service that already has three prompts. */
async function makeTeam() {
  const service = await startTestService(['greeting', 'refund', 'summary']);
  const folder = makeRepository({ 'promptsync.yaml': CONFIG });
  for (const prompt of ['greeting', 'refund', 'summary']) {
    await changeService(service.baseUrl, prompt, 'production', `First text of ${prompt} for {{name}}.\n\nBe kind.`);
    await changeService(service.baseUrl, prompt, 'staging', `Second text of ${prompt} for {{name}}.\n\nBe kind.`);
  }
  service.takeWrites();
  return { folder, service, ...workIn(folder, service) };
}

function workIn(folder: string, service: TestService) {
  const promptsync = async (...words: readonly string[]) => {
    const ran = await run(folder, words, { environment: service.environment });
    expect({ words, ran }).toMatchObject({ ran: { exitCode: 0 } });
    return ran.stdout;
  };
  return {
    promptsync,
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    served: (prompt: string, environment: string) =>
      service.store.readPrompt(`prm_${prompt}`, environment)?.active_version?.content,
    /** Syncs, checks that the next plan is empty, and returns the writes that the sync sent. */
    converge: async () => {
      await promptsync('sync', '--yes');
      const writes = service.takeWrites();
      expect(await promptsync('plan')).toBe('nothing to do: 3 prompts in sync.\n');
      expect(service.takeWrites()).toEqual([]);
      return writes;
    },
  };
}

describe('promptsync', () => {
  test('sync leaves nothing to do after an import, an edit, a promotion, a pulled outside change and a rollback', async () => {
    const { folder, service, promptsync, converge, read, served } = await makeTeam();

    // Bring the prompts under git. An import writes nothing to the service.
    await promptsync('import', 'prm_greeting', 'prm_refund', 'prm_summary');
    expect(read('prompts/greeting.md')).toContain('Second text of greeting');
    expect(read('prompts/greeting.md')).toMatch(/staging: latest\n {2}production: version:\S+ {2}# 1\n/);
    expect(service.takeWrites()).toEqual([]);
    commitAll(folder, 'Import the prompts');
    // The first sync creates the baselines and activates nothing outside the tracking environment.
    const noted = await converge();
    expect(noted.filter((write) => !write.endsWith(' promptsync')).toSorted()).toEqual([
      'POST prm_greeting versions',
      'POST prm_refund versions',
      'POST prm_summary versions',
    ]);

    // An edit goes to staging.
    writeFiles(folder, { 'prompts/greeting.md': read('prompts/greeting.md').replace('Second text', 'Third text') });
    commitAll(folder, 'Warmer greeting (#7)');
    expect(await converge()).toContain('set-active prm_greeting staging');
    expect(served('greeting', 'staging')).toContain('Third text');

    // Promote the edit to production.
    const promoted = await promptsync('promote', 'greeting', '--to', 'production', '--commit');
    expect(promoted).toMatch(/~ production: version:\S+ → 4/);
    expect(promoted).toContain('+Third text of greeting for {{name}}.');
    expect(git(folder, 'log', '-1', '--format=%s')).toBe('Promote greeting to production (v1 → v4)');
    expect(await converge()).toEqual(['set-active prm_greeting production']);

    // Somebody changes the text in the service while the file is edited, too.
    await changeService(service.baseUrl, 'greeting', 'staging', 'Third text of greeting for {{name}}!\n\nBe kind.');
    service.takeWrites();
    writeFiles(folder, { 'prompts/greeting.md': read('prompts/greeting.md').replace('Be kind.', 'Be very kind.') });
    await promptsync('pull');
    expect(read('prompts/greeting.md')).toContain('Third text of greeting for {{name}}!\n\nBe very kind.\n');
    commitAll(folder, 'Pull the exclamation mark');
    expect(await converge()).toContain('set-active prm_greeting staging');
    expect(served('greeting', 'staging')).toBe('Third text of greeting for {{name}}!\n\nBe very kind.');

    // Roll production back.
    await promptsync('promote', 'greeting', '--to', 'production', '--commit');
    expect(await converge()).toEqual(['set-active prm_greeting production']);
    await promptsync('rollback', 'greeting', '--environment', 'production', '--branch', 'calmer');
    expect(git(folder, 'log', '-1', '--format=%s')).toBe('Roll greeting back in production (v6 → v4)');
    expect(git(folder, 'branch', '--show-current')).toBe('calmer');
    // The version is active nowhere, so the sync probes it before it activates it again.
    expect(await converge()).toEqual(['set-active prm_greeting promptsync-look', 'set-active prm_greeting production']);
    expect(served('greeting', 'production')).toBe('Third text of greeting for {{name}}.\n\nBe kind.');

    const { report } = await runJson(folder, ['history', 'greeting'], { environment: service.environment });
    const versions = report.prompts[0]?.history?.versions ?? [];
    expect(versions.map(({ version_number: number, subject }) => [number, subject ?? null])).toEqual([
      [6, 'Pull the exclamation mark'],
      [5, null],
      [4, 'Warmer greeting (#7)'],
      [3, 'Import the prompts'],
      [2, null],
      [1, null],
    ]);
    expect(versions.map(({ active_in: active }) => active)).toEqual([['staging'], [], ['production'], [], [], []]);
    const lineage = await promptsync('history', 'greeting', '--environment', 'production');
    expect(lineage).toContain('Warmer greeting (#7)');
    expect(lineage).toContain('Roll greeting back in production (v6 → v4)');
  });
});
