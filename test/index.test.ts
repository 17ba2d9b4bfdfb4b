import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as api from '../src/index.ts';
import { KEY, startService } from './embedded/support.ts';

const WORKSPACE = join(import.meta.dirname, '../prompts.example');

test('The public API supports a complete sync: reading, observing, planning, applying and rendering', async () => {
  const { config } = await api.loadConfig({ workingDirectory: WORKSPACE, environment: {} });
  const { files, problems } = await api.readPrompts(config!);
  expect(problems).toEqual([]);
  const service = await connected(files);
  const first = await sync(service, files);
  expect(api.renderText(first, { colour: false, quiet: true })).toContain('3 new versions');
  const second = await sync(service, files);
  expect(second).toMatchObject({ summary: { unchanged: 3, applied: 0 } });
});

test('makeReport keeps the message and the hint of a problem that the caller created', () => {
  const problem: api.Problem = { code: 'guard/drift', severity: 'error', message: 'Closed today.', hint: 'Wait.' };
  const run = { service: 'x', commit: null, files: [], acceptedWarnings: api.collectAcceptedWarnings([], null) };
  const report = api.makeReport({ ...run, plan: null, outcomes: null, problems: [problem], mode: 'dry-run' });
  expect(report.problems).toMatchObject([{ message: 'Closed today.', hint: 'Wait.' }]);
});

test('Every export of the public API has a doc comment', () => {
  const exported = exportsOf(readSource('index.ts'));
  expect(exported.length).toBeGreaterThan(30);
  expect(exported.filter(({ name, file }) => !isDescribed(readSource(file), name))).toEqual([]);
});

test('isDescribed accepts only a doc comment directly above the declaration of exactly this name', () => {
  const [comment, one] = ['/** What it is. */\n', 'export const One = 1;\n'];
  for (const described of [`${comment}${one}`, '/**\n * What it is.\n */\nexport async function One() {}\n'])
    expect(isDescribed(described, 'One')).toBe(true);
  const another = `${comment}export type Another = 1;\n${one}`;
  for (const source of [one, `// What it is.\n${one}`, another, `${comment}export type OneMore = 1;\n`])
    expect(isDescribed(source, 'One')).toBe(false);
});

function readSource(file: string): string {
  return readFileSync(join(import.meta.dirname, '../src', file), 'utf8');
}

function exportsOf(index: string): readonly { readonly name: string; readonly file: string }[] {
  return [...index.matchAll(/^export (?:type )?\{([^}]*)\} from '\.\/([^']+)'/gm)].flatMap(
    ([, names = '', file = '']) =>
      names.split(',').flatMap((written) => {
        const name = written.trim().replace(/^type /, '');
        return name === '' ? [] : [{ name, file }];
      }),
  );
}

function isDescribed(source: string, name: string): boolean {
  return new RegExp(`\\*/\\nexport (?:async )?(?:function|type|const|class) ${name}\\b`).test(source);
}

async function connected(files: readonly api.PromptFile[]): Promise<api.PromptService> {
  const { server, store } = await startService();
  store.authorizeKey({ apiKey: KEY, projectId: 'one' });
  for (const { id, key, name } of files) store.registerPrompt({ id, projectId: 'one', key, name });
  const service = api.connectPromptService({
    ...{ baseUrl: server.baseUrl, apiKey: KEY, concurrency: 2, timeoutSeconds: 5, environment: {} },
    ...{ now: Date.now, random: Math.random, sleep: (milliseconds: number) => setTimeout(milliseconds) },
  });
  onTestFinished(() => service.close());
  return service;
}

async function sync(service: api.PromptService, files: readonly api.PromptFile[]): Promise<api.Report> {
  const provider = api.makeFourCallProvider({
    service,
    newOperation: () => 'operation',
    textAt: async () => null,
    sleep: (milliseconds) => setTimeout(milliseconds),
  });
  const desired: api.DesiredState = {
    ...{ files, contentsAtRefs: new Map(), base: null, environmentOrder: null, environmentSelection: null },
    ...{ environmentsWithoutLatest: [], movingRefs: new Set<string>() },
    ...{ promotionSources: new Map(), otherPromotionSources: new Map() },
  };
  const getReadRequest = (file: api.PromptFile) => api.makeReadRequest(file, desired);
  const observation = await api.observePrompts(provider, files.map(getReadRequest), { concurrency: 2 });
  const guards: api.GuardSettings = {
    ...{ onDrift: 'overwrite', maxChanges: null, expectedPlan: null, uncommitted: new Set() },
  };
  const plan = api.guardPlan(api.makePlan(desired, observation, api.NO_PLANNING_HISTORY), guards);
  const outcomes = await api.applyPlan(plan, provider, {
    getReadRequest: ({ file }) => getReadRequest(file),
    planAgain: async ({ file }, observed) => api.planPrompt(file, observed, desired),
    ...{ isReviewed: false, concurrency: 2, pause: async () => {}, stop: new AbortController().signal },
  });
  const acceptedWarnings = api.collectAcceptedWarnings(files, null);
  const run = { service: 'x', commit: null, files, acceptedWarnings, plan, outcomes, problems: [] };
  return api.makeReport({ ...run, mode: 'apply' });
}
