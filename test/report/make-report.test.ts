import { expect, test } from 'vitest';
import type { Report, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { commitAll, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { NO_SUMMARY } from './support.ts';

const CONFIG = 'prompts: ["prompts/**/*.md"]\nenvironments:\n  staging: {}\n  production: {}\n';
const id = expect.stringMatching(/^ver_/);
const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const both = { staging: 'latest', production: 'latest' };
const [v1, v2] = [1, 2].map((version_number) => ({ id, version_number }));

function only({ prompts }: Report): ReportPrompt {
  expect(prompts).toHaveLength(1);
  return prompts[0]!;
}

test('The JSON report of a plan, a blocked run, a failed sync, a sync and a status has the documented fields', async () => {
  const folder = makeRepository(workspaceFiles({ greeting: { pins: both, name: 'Greeting' } }, CONFIG));
  const service = await startTestService(['greeting']);
  await runJson(folder, ['sync', '--yes'], service);
  writeFiles(folder, {
    'prompts/greeting.md': promptText('greeting', { pins: both, name: 'Support greeting', text: 'Second text.' }),
  });
  const commit = commitAll(folder, 'Soften the tone');
  const wanted_since = { commit, date: '2026-01-02' };
  const texts = { before_text: 'Text of greeting.', after_text: 'Second text.', breaking: [] };
  const planned = await runJson(folder, ['plan', '--exit-code'], service);
  expect(planned).toMatchObject({ exitCode: 2, stderr: '' });
  expect(planned.report).toEqual({
    schema_version: 1,
    mode: 'dry-run',
    service: service.baseUrl,
    ...{ commit, base: 'main', branch: 'main', plan_digest: digest },
    promotion_order: ['staging', 'production'],
    summary: { ...NO_SUMMARY, prompts: 1, create_version: 1, update_prompt: 1, set_active: 2 },
    prompts: [
      {
        path: 'prompts/greeting.md',
        id: 'prm_greeting',
        key: 'greeting',
        type: 'text',
        status: 'pending',
        changes: [
          { kind: 'create-version', digest, change_summary: 'Soften the tone' },
          { kind: 'update-prompt', fields: { name: { before: 'Greeting', after: 'Support greeting', wanted_since } } },
          ...['staging', 'production'].map((environment) => {
            return { kind: 'set-active', environment, before: v1, after: { new: true }, ...texts, wanted_since };
          }),
        ],
        environments: ['staging', 'production'].map((environment) => {
          return { environment, pin: 'latest', active: v1, wanted: { new: true }, in_sync: false };
        }),
        drift: [],
        problems: [],
      },
    ],
    problems: [],
  });

  const blocked = await runJson(folder, ['sync', '--yes', '--max-changes', '0'], service);
  expect(blocked.exitCode).toBe(3);
  expect(blocked.report.summary).toEqual({ ...NO_SUMMARY, prompts: 1, blocked: 1 });
  expect(only(blocked.report)).toMatchObject({
    status: 'blocked',
    changes: [{ kind: 'create-version' }, { kind: 'update-prompt' }, { kind: 'set-active' }, { kind: 'set-active' }],
    problems: [{ code: 'guard/max-changes' }],
  });

  const front = await startFront({
    target: service.baseUrl,
    answer: ({ method }) => (method === 'PATCH' ? { status: 403, body: '{}' } : null),
  });
  const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
  const failed = await runJson(folder, ['sync', '--yes'], { environment });
  expect(failed.exitCode).toBe(4);
  expect(failed.report.summary).toEqual({ ...NO_SUMMARY, prompts: 1, create_version: 1, failed: 1 });
  expect(only(failed.report)).toMatchObject({
    status: 'failed',
    changes: [{ status: 'made', version: v2 }, { status: 'not_made' }, { status: 'not_made' }, { status: 'not_made' }],
    problems: [{ code: 'service/not-authorised', severity: 'error' }],
  });

  const { report } = await runJson(folder, ['sync', '--yes'], service);
  expect(report.summary).toEqual({ ...NO_SUMMARY, prompts: 1, update_prompt: 1, set_active: 2, applied: 1 });
  expect(only(report)).toMatchObject({
    status: 'applied',
    changes: [
      { kind: 'update-prompt', status: 'made' },
      { kind: 'set-active', environment: 'staging', status: 'made', after: v2 },
      { kind: 'set-active', environment: 'production', status: 'made', after: v2 },
    ],
  });

  const text = 'Second text.';
  const rows: readonly (readonly [PromptParts, number, readonly unknown[]])[] = [
    [{ pins: { staging: 'latest' }, text }, 0, [['latest', v2, v2, true]]],
    [{ pins: { staging: 'latest' }, text: 'b' }, 0, [['latest', v2, { new: true }, false]]],
    [{ pins: { staging: 'version:x' }, text }, 3, [['version:x', v2, null, false]]],
    [
      ...([{ pins: { staging: 2, production: 7 }, text }, 3] as const),
      [
        ['2', v2, v2, true],
        ['7', v2, null, false],
      ],
    ],
  ];
  for (const [parts, code, expected] of rows) {
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', parts) });
    const { report, exitCode } = await runJson(folder, ['status'], service);
    const rowsOfReport = only(report).environments?.map((row) => [row.pin, row.active, row.wanted, row.in_sync]);
    expect([exitCode, rowsOfReport]).toEqual([code, expected]);
  }
});

test('the JSON report contains the mode and lists the prompt files even if the command computes no plan', async () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  const valid = await runJson(folder, ['validate']);
  expect(valid.exitCode).toBe(0);
  expect(valid.report).toMatchObject({ mode: 'validate', service: null, commit: null, plan_digest: null });
  expect(only(valid.report)).toMatchObject({ status: 'not_attempted', changes: [] });
  for (const [mode, ...words] of [
    ['dry-run', 'plan'],
    ['apply', 'sync', '--yes'],
    ['status', 'status'],
  ] as const) {
    const { report, exitCode } = await runJson(folder, words);
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({ mode, plan_digest: null, problems: [{ code: 'config/missing-service' }] });
    expect(only(report)).toMatchObject({ status: 'not_attempted' });
  }
});
