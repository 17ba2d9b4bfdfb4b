import { describe, expect, test } from 'vitest';
import type { Report, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { commitAll, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const id = expect.stringMatching(/^ver_/);
const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const both = { staging: 'latest', production: 'latest' };

/** Makes a repository with one prompt, syncs it, and commits an edit. */
async function makeEdited(before: PromptParts, after: PromptParts) {
  const folder = makeRepository(workspaceFiles({ greeting: before }));
  const service = await startTestService(['greeting']);
  await runJson(folder, ['sync', '--yes'], service);
  writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', after) });
  const commit = commitAll(folder, 'Soften the tone');
  return { folder, service, commit };
}

function only({ prompts }: Report): ReportPrompt {
  expect(prompts).toHaveLength(1);
  return prompts[0]!;
}

const NOTHING = {
  ...{ prompts: 1, unchanged: 0, create_version: 0, baselines: 0, update_prompt: 0, set_active: 0 },
  ...{ blocked: 0, applied: 0, failed: 0, not_attempted: 0 },
};

describe('the JSON report', () => {
  test('the JSON report of a dry run contains exactly the documented fields', async () => {
    const { folder, service, commit } = await makeEdited(
      { pins: { staging: 'latest' }, name: 'Greeting' },
      { pins: { staging: 'latest' }, name: 'Support greeting', text: 'Second text.' },
    );
    const wanted_since = { commit, date: '2026-01-02' };
    const { report, exitCode, stderr } = await runJson(folder, ['plan', '--exit-code'], service);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' });
    expect(report).toEqual({
      schema_version: 1,
      mode: 'dry-run',
      service: service.baseUrl,
      ...{ commit, base: 'main', branch: 'main', plan_digest: digest },
      summary: { ...NOTHING, create_version: 1, update_prompt: 1, set_active: 1 },
      prompts: [
        {
          path: 'prompts/greeting.md',
          id: 'prm_greeting',
          key: 'greeting',
          type: 'text',
          status: 'pending',
          changes: [
            { kind: 'create-version', digest, change_summary: 'Soften the tone' },
            {
              kind: 'update-prompt',
              fields: { name: { before: 'Greeting', after: 'Support greeting', wanted_since } },
            },
            {
              kind: 'set-active',
              environment: 'staging',
              before: { id, version_number: 1 },
              after: { new: true },
              before_text: 'Text of greeting.',
              after_text: 'Second text.',
              breaking: [],
              wanted_since,
            },
          ],
          environments: [
            {
              ...{ environment: 'staging', pin: 'latest', active: { id, version_number: 1 } },
              ...{ wanted: { new: true }, in_sync: false },
            },
          ],
          drift: [],
          problems: [],
        },
      ],
      problems: [],
    });
  });

  test.each<[string, PromptParts, PromptParts, object]>([
    [
      'the JSON report includes prompt text of up to 1 MB',
      { text: 'é' },
      { text: 'é'.repeat(500_000) },
      { before_text: 'é', after_text: 'é'.repeat(500_000) },
    ],
    [
      'the JSON report omits prompt text of more than 1 MB and marks it as omitted',
      ...([{ text: 'é' }, { text: `${'é'.repeat(500_000)}!` }] as const),
      { before_text: 'é', after_text: null, text_omitted: true },
    ],
    [
      'the JSON report sorts metadata keys and lists added and removed variables',
      { text: '{{a}}', metadata: { z: 1, m: 'x' } },
      { text: '{{b}}', metadata: { m: ['y'], z: 1 } },
      {
        ...{ before_metadata: 'm: "x"\nz: 1', after_metadata: 'm: ["y"]\nz: 1' },
        breaking: [
          { variable: 'b', kind: 'added' },
          { variable: 'a', kind: 'removed' },
        ],
      },
    ],
  ])('%s', async (_, before, after, texts) => {
    const { folder, service } = await makeEdited({ pins: both, ...before }, { pins: both, ...after });
    for (const command of [['plan'], ['status'], ['sync', '--yes']]) {
      const { report } = await runJson(folder, command, service);
      const changes = only(report).changes.filter(({ kind }) => kind === 'set-active');
      expect(changes).toMatchObject([texts, texts]);
      expect(changes.some((change) => 'text_omitted' in change)).toBe('text_omitted' in texts);
    }
  });

  test('the JSON report of a sync includes the status of each change and the id of the new version', async () => {
    const { folder, service } = await makeEdited(
      { pins: both, metadata: { a: 1 } },
      { pins: both, text: 'Second text.', name: 'New' },
    );
    const { report } = await runJson(folder, ['sync', '--yes'], service);
    const version = { id, version_number: 2 };
    expect(report.summary).toEqual({ ...NOTHING, create_version: 1, update_prompt: 1, set_active: 2, applied: 1 });
    expect(only(report)).toMatchObject({
      status: 'applied',
      changes: [
        { kind: 'create-version', status: 'made', version },
        { kind: 'update-prompt', status: 'made' },
        { kind: 'set-active', environment: 'staging', status: 'made', after: version },
        { kind: 'set-active', environment: 'production', status: 'made', after: version },
      ],
    });
    expect(JSON.stringify(report)).not.toContain('after_metadata');
  });

  test('the JSON report of a failed write shows which changes were made and which were not', async () => {
    const { folder, service } = await makeEdited({ pins: both }, { pins: both, text: 'Second text.', name: 'New' });
    const front = await startFront({
      target: service.baseUrl,
      answer: ({ method }) => (method === 'PATCH' ? { status: 403, body: '{}' } : null),
    });
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    const { report, exitCode } = await runJson(folder, ['sync', '--yes'], { environment });
    expect(exitCode).toBe(4);
    expect(report.summary).toEqual({ ...NOTHING, create_version: 1, failed: 1 });
    expect(only(report)).toMatchObject({
      status: 'failed',
      changes: [{ status: 'made' }, { status: 'not_made' }, { status: 'not_made' }, { status: 'not_made' }],
      problems: [{ code: 'service/not-authorised', severity: 'error' }],
    });
  });

  test('the JSON report lists the planned changes of a blocked prompt', async () => {
    const { folder, service } = await makeEdited({ pins: both }, { pins: both, text: 'Second text.' });
    for (const command of [['plan'], ['sync', '--yes']]) {
      const { report, exitCode } = await runJson(folder, [...command, '--max-changes', '0'], service);
      expect(exitCode).toBe(3);
      expect(report.summary).toMatchObject({ blocked: 1, create_version: 0, set_active: 0, applied: 0 });
      expect(only(report)).toMatchObject({
        status: 'blocked',
        changes: [{ kind: 'create-version' }, { kind: 'set-active' }, { kind: 'set-active' }],
        problems: [{ code: 'guard/max-changes' }],
      });
    }
  });

  test('the JSON report contains the mode and lists the prompt files even if the command computes no plan', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    const valid = await runJson(folder, ['validate']);
    expect(valid.exitCode).toBe(0);
    expect(valid.report).toMatchObject({ mode: 'validate', service: null, commit: null, plan_digest: null });
    expect(only(valid.report)).toMatchObject({ status: 'not_attempted', changes: [] });
    for (const [command, mode] of [
      ['plan', 'dry-run'],
      ['sync', 'apply'],
      ['status', 'status'],
    ] as const) {
      const words = command === 'sync' ? ['sync', '--yes'] : [command];
      const { report, exitCode } = await runJson(folder, words);
      expect(exitCode).toBe(1);
      expect(report).toMatchObject({ mode, plan_digest: null, problems: [{ code: 'config/missing-service' }] });
      expect(only(report)).toMatchObject({ status: 'not_attempted' });
    }
    writeFiles(folder, { '.git/not-a-repository': '' });
    const { environment } = await startTestService(['greeting']);
    const { report } = await runJson(folder, ['sync', '--yes'], { environment });
    expect(report).toMatchObject({ mode: 'apply', problems: [{ code: 'git/failed' }] });
  });
});

test('the JSON report of the status command lists the active and the desired version of each environment', async () => {
  const v1 = { id, version_number: 1 };
  const { folder, service } = await makeEdited({ pins: both }, { pins: both });
  const rows: readonly (readonly [PromptParts, number, unknown])[] = [
    [{ pins: { staging: 'latest' } }, 0, [['latest', v1, v1, true]]],
    [{ pins: { staging: 'latest' }, text: 'b' }, 0, [['latest', v1, { new: true }, false]]],
    [{ pins: { canary: 1 } }, 0, [['1', null, v1, false]]],
    [{ pins: { staging: 7 } }, 3, [['7', v1, null, false]]],
    [{ pins: { staging: 'version:x' } }, 3, [['version:x', v1, null, false]]],
    [{ pins: { staging: 'git:nope' } }, 3, [['git:nope', v1, null, false]]],
    [
      { pins: { staging: 1, production: 7 } },
      3,
      [
        ['1', v1, v1, true],
        ['7', v1, null, false],
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
