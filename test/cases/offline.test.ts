import { describe, expect, test } from 'vitest';
import { makeReport } from '../../src/report/make-report.ts';
import type { CommandResult } from '../../src/run/command-result.ts';
import { syncPrompts, type SyncOptions } from '../../src/commands/sync.ts';
import type { Report, ReportChange } from '../../src/report/schema/report-schema.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { parseReport, run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { makeSystem } from '../support/system.ts';

type Review = { readonly result: CommandResult; readonly report: Report };

const PINS = { staging: 'latest', production: 7 };

/** Plans the last commit without an API key. A service runs, but promptsync must not send it any request. */
async function reviewIn(folder: string, options: Partial<SyncOptions> = {}): Promise<Review> {
  const { baseUrl, requests } = await startTestService([]);
  const system = makeSystem(folder, { PROMPTSYNC_BASE_URL: baseUrl });
  const result = await syncPrompts({ ...OPTIONS, ...options }, system);
  expect(requests).toEqual([]);
  return { result, report: parseReport(JSON.stringify(makeReport(result.run))) };
}

const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: true, yes: false, exitCode: true, allowDirty: false },
  ...{ base: 'HEAD~1', contactPolicy: 'keyless' },
};

/** Formats each change in one line. */
function formatChanges({ prompts }: Report): readonly string[] {
  return prompts.flatMap(({ changes }) =>
    changes.map((change) => {
      if (change.kind !== 'set-active') return change.kind;
      const { environment, before, after } = change;
      return `${environment}: ${before?.id ?? 'none'} → ${'new' in after ? 'new' : after.id}`;
    }),
  );
}

/** Returns the changes of environments, with their texts. */
function selectActivations({ prompts }: Report): readonly ReportChange[] {
  return prompts.flatMap(({ changes }) => changes.filter(({ kind }) => kind === 'set-active'));
}

describe('plan without an API key', () => {
  test('plan without an API key warns that it did not contact the service, and shows the text of a git pin but not of a number', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { pins: PINS, text: 'First.' } }));
    git(folder, 'tag', 'v1');
    const edit = (parts: PromptParts) => {
      writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', parts) });
      commitAll(folder, 'Edit');
    };
    edit({ pins: PINS, text: 'Second.' });
    edit({ pins: { staging: 'git:v1', production: 'latest' }, text: 'Second.' });
    const { report, result } = await reviewIn(folder);
    expect(report).toMatchObject({ mode: 'dry-run', service: null, plan_digest: null });
    expect(report.problems).toMatchObject([
      {
        ...{ code: 'service/not-asked', severity: 'warning' },
        message: 'promptsync did not contact the service because this run has no API key.',
      },
    ]);
    expect(result.exitCode).toBe(2);
    expect(formatChanges(report)).toEqual(['staging: base → git:v1', 'production: v7 → base']);
    expect(selectActivations(report)).toMatchObject([
      { environment: 'staging', before_text: 'Second.', after_text: 'First.' },
      { environment: 'production', before_text: null, after_text: 'Second.' },
    ]);
  });

  test('sync without an API key fails before sending any request', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'B' }) });
    commitAll(folder, 'Change');
    const { result, report } = await reviewIn(folder, { dryRun: false, yes: true });
    expect(report.prompts).toMatchObject([{ status: 'failed' }]);
    expect(report.prompts[0]!.changes.map(({ status }) => status)).toEqual(['not_made', 'not_made']);
    expect(result.exitCode).toBe(4);
  });
});

describe('--offline', () => {
  /** Runs a command in a repository whose last commit changes a text. A service runs, but the command has no key for it. */
  async function runOffline(...words: readonly string[]) {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'B' }) });
    commitAll(folder, 'Change');
    const { baseUrl, requests } = await startTestService(['greeting']);
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
