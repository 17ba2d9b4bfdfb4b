import { describe, expect, test } from 'vitest';
import type { CommandResult } from '../../src/commands/result.ts';
import { sync, type SyncOptions } from '../../src/commands/sync.ts';
import { makeReport } from '../../src/report/make-report.ts';
import type { Report, ReportChange } from '../../src/report/schema.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { PROMOTION } from '../support/promotion.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { parseReport, run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';

type Prompts = Readonly<Record<string, PromptParts>>;
type Reviewed = { readonly result: CommandResult; readonly report: Report };

const PINS = { staging: 'latest', production: 7 };

/** A head after a base, reviewed without a key; a service is there, and nothing may be asked of it. */
async function review(base: Prompts, head: Prompts, options: Partial<SyncOptions> = {}, config = CONFIG) {
  const folder = makeRepository(workspaceFiles(base, config));
  writeFiles(folder, workspaceFiles(head, config));
  commitAll(folder, 'Change');
  return reviewIn(folder, options);
}

async function reviewIn(folder: string, options: Partial<SyncOptions> = {}): Promise<Reviewed> {
  const { baseUrl, requests } = await startTestService([]);
  const world = makeWorld(folder, { PROMPTSYNC_BASE_URL: baseUrl });
  const result = await sync({ ...OPTIONS, ...options }, world);
  expect(requests).toEqual([]);
  return { result, report: parseReport(JSON.stringify(makeReport(result.run))) };
}

const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: true, yes: false, exitCode: true, allowDirty: false },
  ...{ base: 'HEAD~1', asking: 'keyless' },
};

/** Each change, as it is shown to readers. */
function changesOf({ prompts }: Report): readonly string[] {
  return prompts.flatMap(({ changes }) =>
    changes.map((change) => {
      if (change.kind !== 'set-active') return change.kind;
      const { environment, before, after } = change;
      return `${environment}: ${before?.id ?? 'none'} → ${'new' in after ? 'new' : after.id}`;
    }),
  );
}

/** The texts of what changes in environments. */
function textsOf({ prompts }: Report): readonly ReportChange[] {
  return prompts.flatMap(({ changes }) => changes.filter(({ kind }) => kind === 'set-active'));
}

describe('A review without a key', () => {
  test('asks nothing, and says so', async () => {
    const { result, report } = await review({ greeting: { pins: PINS } }, { greeting: { pins: PINS, text: 'B' } });
    expect(report).toMatchObject({ mode: 'dry-run', service: null, plan_digest: null });
    expect(report.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(report.problems).toMatchObject([
      {
        ...{ code: 'service/not-asked', severity: 'warning' },
        message: 'The service was not asked: this run has no API key.',
      },
    ]);
    expect(result.exitCode).toBe(2);
  });

  test.each<[string, PromptParts, PromptParts, readonly string[]]>([
    ['nothing', { pins: PINS }, { pins: PINS }, []],
    ['a number', { pins: PINS }, { pins: { ...PINS, production: 9 } }, ['production: v7 → v9']],
    ['a number to latest', { pins: PINS }, { pins: { ...PINS, production: 'latest' } }, ['production: v7 → base']],
    [
      'latest to a number, of which nobody knows whether staging serves it',
      { pins: { ...PINS, production: 'latest' } },
      { pins: { ...PINS, production: 9 } },
      ['production: base → v9'],
    ],
    ['an id', { pins: { staging: 'version:a' } }, { pins: { staging: 'version:b' } }, ['staging: a → b']],
    ['an environment', { pins: { staging: 'latest' } }, { pins: PINS }, ['production: none → v7']],
    ['the name', { pins: PINS }, { pins: PINS, name: 'New' }, ['update-prompt']],
    ['metadata', { metadata: { model: 'x' } }, { metadata: { model: 'y' } }, ['create-version', 'staging: base → new']],
  ])('of what the head changes tells %s', async (_, base, head, changes) => {
    const { report, result } = await review({ greeting: base }, { greeting: head }, {}, PROMOTION);
    expect(changesOf(report)).toEqual(changes);
    expect(report.prompts[0]!.drift).toEqual([]);
    expect(result.exitCode).toBe(changes.length === 0 ? 0 : 2);
  });

  test('shows texts that git knows, and says of others that they are not known', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { pins: PINS, text: 'First.' } }));
    git(folder, 'tag', 'v1');
    const edit = (parts: PromptParts) => {
      writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', parts) });
      commitAll(folder, 'Edit');
    };
    edit({ pins: PINS, text: 'Second.' });
    edit({ pins: { staging: 'git:v1', production: 'latest' }, text: 'Second.' });
    const { report } = await reviewIn(folder);
    expect(changesOf(report)).toEqual(['staging: base → git:v1', 'production: v7 → base']);
    expect(textsOf(report)).toMatchObject([
      { environment: 'staging', before_text: 'Second.', after_text: 'First.' },
      { environment: 'production', before_text: null, after_text: 'Second.' },
    ]);
  });

  test('tells of a new prompt that it is made, and of one that is gone that it is', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {}, farewell: {} }));
    git(folder, 'rm', '--quiet', 'prompts/farewell.md');
    writeFiles(folder, { 'prompts/added.md': promptText('added') });
    commitAll(folder, 'Change');
    const { report } = await reviewIn(folder);
    expect(report.prompts.map(({ key, status }) => [key, status])).toEqual([
      ['added', 'pending'],
      ['greeting', 'unchanged'],
    ]);
    expect(changesOf(report)).toEqual(['create-version', 'staging: none → new']);
    expect(report.problems.map(({ code }) => code).toSorted()).toEqual(['prompt/gone', 'service/not-asked']);
  });

  test('writes nothing where somebody asks for that: it fails before anything was sent', async () => {
    const { result } = await review({ greeting: {} }, { greeting: { text: 'B' } }, { dryRun: false, yes: true });
    const { prompts } = makeReport(result.run);
    expect(prompts).toMatchObject([{ status: 'failed' }]);
    expect(prompts[0]!.changes.map(({ status }) => status)).toEqual(['not_made', 'not_made']);
    expect(result.exitCode).toBe(4);
  });
});

describe('With --offline', () => {
  /** A command in a repository whose last commit changes a text; a service is there, and nobody has a key to it. */
  async function runOffline(...words: readonly string[]) {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'B' }) });
    commitAll(folder, 'Change');
    const { baseUrl, requests } = await startTestService(['greeting']);
    const ran = await run(folder, [...words, '--offline'], { environment: { PROMPTSYNC_BASE_URL: baseUrl } });
    expect(requests).toEqual([]);
    return ran;
  }

  test.each<[string, readonly string[], number]>([
    ['plan --base', ['plan', '--base', 'HEAD~1'], 0],
    ['sync --dry-run --base', ['sync', '--dry-run', '--base', 'HEAD~1'], 0],
    ['plan --exit-code, where changes are pending', ['plan', '--base', 'HEAD~1', '--exit-code'], 2],
    ['plan, where a guard refuses', ['plan', '--base', 'HEAD~1', '--max-changes', '0'], 3],
  ])('%s shows the plan, says why it does not ask, and needs no key', async (_, words, expected) => {
    const { exitCode, stdout, stderr } = await runOffline(...words);
    expect(exitCode).toBe(expected);
    expect(stdout).toContain('create version');
    expect(stderr).toContain('The service was not asked: --offline was given.');
  });

  test.each<[string, readonly string[]]>([
    ['without a base', ['plan']],
    ['where something is to be written', ['sync', '--yes', '--base', 'HEAD~1']],
    ['where neither fits', ['sync']],
  ])('%s it is an error of usage', async (_, words) => {
    const { exitCode, stdout } = await runOffline(...words);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('--offline needs a dry run and --base. [usage/invalid]');
  });
});
