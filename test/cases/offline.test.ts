import { describe, expect, test } from 'vitest';
import { makeReport } from '../../src/report/make-report.ts';
import { syncPrompts, type SyncOptions } from '../../src/commands/sync.ts';
import { commitAll, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { makeSystem } from '../support/system.ts';

/** Makes a repository whose last commit changes a text, and starts a service to which the tests have no key. */
async function makeEdited() {
  const folder = makeRepository(workspaceFiles({ greeting: {} }));
  writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'B' }) });
  commitAll(folder, 'Change');
  return { folder, ...(await startTestService(['greeting'])) };
}

test('sync without an API key fails before sending any request', async () => {
  const { folder, baseUrl, requests } = await makeEdited();
  const options: SyncOptions = {
    ...{ only: [], dryRun: false, yes: true, exitCode: true, allowDirty: false },
    ...{ base: 'HEAD~1', contactPolicy: 'keyless' },
  };
  const result = await syncPrompts(options, makeSystem(folder, { PROMPTSYNC_BASE_URL: baseUrl }));
  const { prompts } = makeReport(result.run);
  expect(prompts).toMatchObject([{ status: 'failed', changes: [{ status: 'not_made' }, { status: 'not_made' }] }]);
  expect({ exitCode: result.exitCode, requests }).toEqual({ exitCode: 4, requests: [] });
});

describe('--offline', () => {
  async function runOffline(...words: readonly string[]) {
    const { folder, baseUrl, requests } = await makeEdited();
    const ran = await run(folder, [...words, '--offline'], { environment: { PROMPTSYNC_BASE_URL: baseUrl } });
    expect(requests).toEqual([]);
    return ran;
  }

  test('plan --offline --base shows the plan without an API key, and exits with 3 if a guard blocks it', async () => {
    for (const [words, expected] of [
      ['plan --base HEAD~1', 0],
      ['sync --dry-run --base HEAD~1 --exit-code', 2],
      ['plan --base HEAD~1 --max-changes 0', 3],
    ] as const) {
      const { exitCode, stdout, stderr } = await runOffline(...words.split(' '));
      expect([words, exitCode]).toEqual([words, expected]);
      expect(stdout).toContain('create version');
      expect(stderr).toContain('promptsync did not contact the service because `--offline` was specified.');
    }
  });

  test('--offline names each missing flag of --base and --dry-run', async () => {
    for (const [line, missing] of [
      ['plan', '`--base`'],
      ['sync --yes --base HEAD~1', '`--dry-run`'],
      ['sync', '`--dry-run` and `--base`'],
    ] as const) {
      const { exitCode, stdout } = await runOffline(...line.split(' '));
      expect([line, exitCode]).toEqual([line, 1]);
      expect(stdout).toContain(`\`--offline\` requires ${missing}. [usage/invalid]`);
    }
  });
});
