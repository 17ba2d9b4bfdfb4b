import { expect, test } from 'vitest';
import type { AskPolicyOptions } from '../../src/commands/open-service.ts';
import { syncPrompts, type SyncOptions } from '../../src/commands/sync.ts';
import { commitAll, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { handOn, startFront, type Front, type FrontRequest } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { KEY, startTestService, type TestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';

const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: true, yes: false, exitCode: false, allowDirty: false },
  base: 'HEAD~1',
};

/** The service that the base names, and a second address that a head may name instead. */
type Services = { readonly service: TestService; readonly other: Front };

async function startServices(): Promise<Services> {
  const service = await startTestService(['greeting']);
  return { service, other: await startFront({ target: service.baseUrl }) };
}

/** Returns a configuration. `URL` stands for the address of the base and `OTHER` for the address of the head. */
function configOf(text: string, { service, other }: Services): string {
  return `${CONFIG}${text.replace('URL', service.baseUrl).replace('OTHER', other.baseUrl)}\n`;
}

/** Makes a repository with two commits. A base of null has no configuration. */
function makeHead(base: string | null, head: string): string {
  const { 'promptsync.yaml': _, ...prompts } = workspaceFiles({ greeting: {} });
  const folder = makeRepository(base === null ? prompts : { ...prompts, 'promptsync.yaml': base });
  writeFiles(folder, { 'promptsync.yaml': head, 'prompts/greeting.md': promptText('greeting', { text: 'Head.' }) });
  commitAll(folder, 'Head');
  return folder;
}

type Outcome = { readonly problems: readonly string[]; readonly requests: number; readonly otherRequests: number };

async function plan(
  folder: string,
  { service, other }: Services,
  options: Partial<SyncOptions>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const world = makeWorld(folder, { PROMPTSYNC_API_KEY: KEY, SPARE_KEY: KEY, ...environment });
  const { run } = await syncPrompts({ ...OPTIONS, askPolicy: 'trusted', ...options }, world);
  expect(run.plan?.prompts.map(({ status }) => status)).toEqual(['pending']);
  const problems = run.problems.map(({ code }) => code);
  return { problems, requests: service.requests.length, otherRequests: other.requests.length };
}

const ASKED = { problems: [], requests: expect.any(Number), otherRequests: 0 };
const NOT_ASKED = { problems: ['service/not-asked'], requests: 0, otherRequests: 0 };
const given: AskPolicyOptions = { keys: [{ value: KEY, label: 'The test' }] };
const HOME = 'service: { base_url: "URL" }';
const OTHER = HOME.replace('URL', 'OTHER');
const SPARE = HOME.replace('}', ', api_key_env: SPARE_KEY }');
const EMBEDDED = 'service: { embedded: .promptsync/a.db }';

test.each<[string, string | null, string, AskPolicyOptions, boolean]>([
  ['a pull request plan contacts the service that base and head both configure', HOME, HOME, {}, true],
  [
    'a pull request plan contacts the service if the head only formats its settings differently',
    HOME,
    'service:\n  base_url: URL',
    {},
    true,
  ],
  [
    'a pull request plan contacts the service if the head writes out the default key variable',
    HOME,
    HOME.replace('}', ', api_key_env: PROMPTSYNC_API_KEY }'),
    {},
    true,
  ],
  [
    'a pull request plan contacts the service if the head changes only other settings',
    HOME,
    `${HOME}\nconcurrency: 1\ntimeout_seconds: 60`,
    {},
    true,
  ],
  ['a pull request plan contacts no service if the head changes the address', HOME, OTHER, {}, false],
  [
    'a pull request plan contacts no service if the head changes the path of the address',
    HOME,
    HOME.replace('URL', 'URL/other'),
    {},
    false,
  ],
  [
    'a pull request plan with an explicit key contacts no service if the head changes the address',
    HOME,
    OTHER,
    given,
    false,
  ],
  ['a pull request plan contacts no service if the head changes the key variable', HOME, SPARE, {}, false],
  [
    'a pull request plan with an explicit key contacts the service if the head changes the key variable',
    HOME,
    SPARE,
    given,
    true,
  ],
  [
    'a pull request plan contacts no service if the head changes the address and the key variable',
    HOME,
    SPARE.replace('URL', 'OTHER'),
    given,
    false,
  ],
  ['a pull request plan contacts no service if the base configures none', '', HOME, {}, false],
  ['a pull request plan contacts no service if base and head configure none', '', '', {}, false],
  ['a pull request plan contacts no service if the base has no configuration', null, HOME, {}, false],
  [
    'a pull request plan with an explicit key contacts no service if the base has no configuration',
    null,
    HOME,
    given,
    false,
  ],
  [
    'a pull request plan contacts no service if the configuration of the base is invalid',
    'service: 7',
    HOME,
    {},
    false,
  ],
  ['a pull request plan contacts no service if the base uses the embedded service', EMBEDDED, HOME, {}, false],
  ['a pull request plan contacts no service if the head uses the embedded service', HOME, EMBEDDED, given, false],
  ['a keyless plan never contacts the service', HOME, HOME, { askPolicy: 'keyless' }, false],
  [
    'a keyless plan never contacts the service, even with an explicit key',
    HOME,
    HOME,
    { askPolicy: 'keyless', ...given },
    false,
  ],
])('%s', async (_, base, head, options, asked) => {
  const services = await startServices();
  const folder = makeHead(base === null ? null : configOf(base, services), configOf(head, services));
  expect(await plan(folder, services, options)).toEqual(asked ? ASKED : NOT_ASKED);
});

test('a plan that needs no trust check contacts the service that the head configures', async () => {
  const services = await startServices();
  const folder = makeHead(null, configOf(OTHER, services));
  const { otherRequests } = await plan(folder, services, { askPolicy: 'always' });
  expect(otherRequests).toBeGreaterThan(0);
});

test.each<[string, string | null, string, AskPolicyOptions, boolean]>([
  [
    'a workflow that sets address and key overrides the service that the head configures',
    null,
    SPARE.replace('URL', 'OTHER'),
    given,
    true,
  ],
  ['a workflow that sets address and key needs no service in the configuration', '', '', given, true],
  ['a workflow that sets only the address gets no plan if the head changes the key variable', HOME, SPARE, {}, false],
  [
    'a workflow that sets only the address gets a plan if base and head name the same key variable',
    OTHER,
    HOME,
    {},
    true,
  ],
  ['a workflow that sets only the address gets no plan if the base has no configuration', null, HOME, {}, false],
])('%s', async (_, base, head, options, asked) => {
  const services = await startServices();
  const folder = makeHead(base === null ? null : configOf(base, services), configOf(head, services));
  const environment = { PROMPTSYNC_BASE_URL: services.service.baseUrl };
  expect(await plan(folder, services, options, environment)).toEqual(asked ? ASKED : NOT_ASKED);
});

test.each([
  ['a pull request plan sends no key over plain HTTP if only the head allows HTTP', '', ['service/not-asked']],
  ['a pull request plan uses plain HTTP if base and head both allow HTTP', 'service: { allow_http: true }', []],
])('%s', async (_, base, expected) => {
  const { baseUrl, requests } = await startTestService(['greeting']);
  const proxy = await startFront({ answer: (request) => handOn({ ...request, path: pathOf(request) }, baseUrl) });
  const folder = makeHead(`${CONFIG}${base}\n`, `${CONFIG}service: { allow_http: true }\n`);
  const world = makeWorld(folder, { PROMPTSYNC_BASE_URL: 'http://prompts.invalid', http_proxy: proxy.baseUrl });
  const { run } = await syncPrompts({ ...OPTIONS, ...given, askPolicy: 'trusted' }, world);
  expect(run.problems.map(({ code }) => code)).toEqual(expected);
  expect(requests.length > 0).toBe(expected.length === 0);
});

function pathOf({ path }: FrontRequest): string {
  return path.replace('http://prompts.invalid', '');
}

test('a pull request plan treats an empty PROMPTSYNC_BASE_URL as unset', async () => {
  const services = await startServices();
  const folder = makeHead(null, configOf(OTHER, services));
  expect(await plan(folder, services, given, { PROMPTSYNC_BASE_URL: '' })).toEqual(NOT_ASKED);
});

test('a pull request plan does not trust a nested configuration that only the head has', async () => {
  const services = await startServices();
  const home = configOf(HOME, services);
  const folder = makeRepository({ 'promptsync.yaml': home, 'team/prompts/greeting.md': promptText('greeting') });
  writeFiles(folder, {
    'team/promptsync.yaml': configOf(OTHER, services),
    'team/prompts/greeting.md': promptText('greeting', { text: 'Head.' }),
  });
  commitAll(folder, 'Head');
  expect(await plan(`${folder}/team`, services, given)).toEqual(NOT_ASKED);
});

test('a pull request plan compares a configuration in a subfolder with that file at the base', async () => {
  const services = await startServices();
  const home = configOf(HOME, services);
  const at = { 'team/promptsync.yaml': home, 'promptsync.yaml': configOf(OTHER, services) };
  const folder = makeRepository({ ...at, 'team/prompts/greeting.md': promptText('greeting') });
  writeFiles(folder, { 'team/prompts/greeting.md': promptText('greeting', { text: 'Head.' }) });
  commitAll(folder, 'Head');
  expect(await plan(`${folder}/team`, services, {})).toEqual(ASKED);
  expect(git(folder, 'status', '--porcelain')).toBe('');
});

test.each<[string, (config: string) => string]>([
  [
    'a pull request plan contacts no service if no base is given',
    (config) => makeRepository(workspaceFiles({ greeting: {} }, config)),
  ],
  [
    'a pull request plan contacts no service outside a git repository',
    (config) => makeWorkspace(workspaceFiles({ greeting: {} }, config)),
  ],
])('%s', async (_, make) => {
  const services = await startServices();
  expect(await plan(make(configOf(HOME, services)), services, { base: undefined })).toEqual(NOT_ASKED);
});
