import { expect, test } from 'vitest';
import type { Report, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { commitAll, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFrontFor } from '../support/front.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
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

// The transcripts and the recorded reports show the counts and results of blocked and complete runs.
test('The JSON report of a plan, a failed sync and a status has the documented fields', async () => {
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

  const { environment } = await startFrontFor(service, ({ method }) =>
    method === 'PATCH' ? { status: 403, body: '{}' } : null,
  );
  const failed = await runJson(folder, ['sync', '--yes'], { environment });
  expect(failed.exitCode).toBe(4);
  expect(failed.report.summary).toEqual({ ...NO_SUMMARY, prompts: 1, create_version: 1, failed: 1 });
  expect(only(failed.report)).toMatchObject({
    status: 'failed',
    changes: [{ status: 'made', version: v2 }, { status: 'not_made' }, { status: 'not_made' }, { status: 'not_made' }],
    problems: [{ code: 'service/not-authorised', severity: 'error' }],
  });

  writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { pins: { staging: 1, production: 7 } }) });
  const { report, exitCode } = await runJson(folder, ['status'], service);
  expect(exitCode).toBe(3);
  expect(only(report).environments).toEqual([
    { environment: 'staging', pin: '1', active: v1, wanted: v1, in_sync: true },
    { environment: 'production', pin: '7', active: v1, wanted: null, in_sync: false },
  ]);
});

test('The JSON report of a command without a plan has no plan digest, and lists the prompt files', async () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  const { report, exitCode } = await runJson(folder, ['sync', '--yes']);
  expect(exitCode).toBe(1);
  expect(report).toMatchObject({
    ...{ mode: 'apply', service: null, commit: null, plan_digest: null },
    ...{ prompts: [{ status: 'not_attempted', changes: [] }], problems: [{ code: 'config/missing-service' }] },
  });
});
