import { rmSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ContactPolicyOptions } from '../../src/run/open-service.ts';
import { syncPrompts, type SyncOptions } from '../../src/commands/sync.ts';
import { commitAll, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { handOn, startFront, type Front, type FrontRequest } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { KEY, startTestService, type TestService } from '../support/service.ts';
import { makeSystem } from '../support/system.ts';

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
  const system = makeSystem(folder, { PROMPTSYNC_API_KEY: KEY, SPARE_KEY: KEY, ...environment });
  const { run } = await syncPrompts({ ...OPTIONS, contactPolicy: 'trusted', ...options }, system);
  expect(run.plan?.prompts.map(({ status }) => status)).toEqual(['pending']);
  const problems = run.problems.map(({ code }) => code);
  return { problems, requests: service.requests.length, otherRequests: other.requests.length };
}

const ASKED = { problems: [], requests: expect.any(Number), otherRequests: 0 };
const NOT_ASKED = { problems: ['service/not-asked'], requests: 0, otherRequests: 0 };
const given: ContactPolicyOptions = { keys: [{ value: KEY, label: 'The test' }] };
const HOME = 'service: { base_url: "URL" }';
const OTHER = HOME.replace('URL', 'OTHER');
const SPARE = HOME.replace('}', ', api_key_env: SPARE_KEY }');
const EMBEDDED = 'service: { embedded: .promptsync/a.db }';

test.each<[string, string | null, string, ContactPolicyOptions, boolean]>([
  [
    'a pull request plan contacts the service if the base and the head configure the same service',
    HOME,
    HOME,
    {},
    true,
  ],
  [
    'a pull request plan contacts the service if the head only reformats the service settings',
    HOME,
    'service:\n  base_url: URL',
    {},
    true,
  ],
  [
    'a pull request plan contacts the service if the head explicitly sets the default API key variable',
    HOME,
    HOME.replace('}', ', api_key_env: PROMPTSYNC_API_KEY }'),
    {},
    true,
  ],
  [
    'a pull request plan contacts the service if the head changes only unrelated settings',
    HOME,
    `${HOME}\nconcurrency: 1\ntimeout_seconds: 60`,
    {},
    true,
  ],
  ['a pull request plan contacts no service if the head changes the service address', HOME, OTHER, {}, false],
  [
    'a pull request plan contacts no service if the head changes the path in the service URL',
    HOME,
    HOME.replace('URL', 'URL/other'),
    {},
    false,
  ],
  [
    'a pull request plan with an explicit API key contacts no service if the head changes the service address',
    HOME,
    OTHER,
    given,
    false,
  ],
  ['a pull request plan contacts no service if the head changes the API key variable', HOME, SPARE, {}, false],
  [
    'a pull request plan with an explicit API key contacts the service even if the head changes the API key variable',
    HOME,
    SPARE,
    given,
    true,
  ],
  [
    'a pull request plan with an explicit API key contacts no service if the head changes the address and the key variable',
    HOME,
    SPARE.replace('URL', 'OTHER'),
    given,
    false,
  ],
  [
    'a pull request plan contacts no service if the head configures a service but the base does not',
    '',
    HOME,
    {},
    false,
  ],
  ['a pull request plan contacts no service if neither the base nor the head configures a service', '', '', {}, false],
  ['a pull request plan contacts no service if the base has no configuration file', null, HOME, {}, false],
  [
    'a pull request plan with an explicit API key contacts no service if the base has no configuration file',
    null,
    HOME,
    given,
    false,
  ],
  ['a pull request plan contacts no service if the base configuration is invalid', 'service: 7', HOME, {}, false],
  ['a pull request plan contacts no service if the base uses the embedded service', EMBEDDED, HOME, {}, false],
  ['a pull request plan contacts no service if the head uses the embedded service', HOME, EMBEDDED, given, false],
  ['a plan contacts no service if its contact policy is keyless', HOME, HOME, { contactPolicy: 'keyless' }, false],
  [
    'a plan contacts no service if its contact policy is keyless, even if an API key is given',
    HOME,
    HOME,
    { contactPolicy: 'keyless', ...given },
    false,
  ],
])('%s', async (_, base, head, options, asked) => {
  const services = await startServices();
  const folder = makeHead(base === null ? null : configOf(base, services), configOf(head, services));
  expect(await plan(folder, services, options)).toEqual(asked ? ASKED : NOT_ASKED);
});

test('a plan contacts a service that only the head configures if the contact policy is always', async () => {
  const services = await startServices();
  const folder = makeHead(null, configOf(OTHER, services));
  const { otherRequests } = await plan(folder, services, { contactPolicy: 'always' });
  expect(otherRequests).toBeGreaterThan(0);
});

test.each<[string, string | null, string, ContactPolicyOptions, boolean]>([
  [
    'a pull request plan uses the service address and API key from the workflow instead of those that the head configures',
    null,
    SPARE.replace('URL', 'OTHER'),
    given,
    true,
  ],
  [
    'a pull request plan contacts the service if the workflow sets its address and API key and the configuration sets neither',
    '',
    '',
    given,
    true,
  ],
  [
    'a pull request plan contacts no service if the workflow sets only its address and the head changes the API key variable',
    HOME,
    SPARE,
    {},
    false,
  ],
  [
    'a pull request plan contacts the service if the workflow sets only its address and the head does not change the API key variable',
    OTHER,
    HOME,
    {},
    true,
  ],
  [
    'a pull request plan contacts no service if the workflow sets only its address and the base has no configuration file',
    null,
    HOME,
    {},
    false,
  ],
])('%s', async (_, base, head, options, asked) => {
  const services = await startServices();
  const folder = makeHead(base === null ? null : configOf(base, services), configOf(head, services));
  const environment = { PROMPTSYNC_BASE_URL: services.service.baseUrl };
  expect(await plan(folder, services, options, environment)).toEqual(asked ? ASKED : NOT_ASKED);
});

test.each([
  ['a pull request plan sends no API key over plain HTTP if only the head allows HTTP', '', ['service/not-asked']],
  ['a pull request plan uses plain HTTP if the base and the head both allow HTTP', 'service: { allow_http: true }', []],
])('%s', async (_, base, expected) => {
  const { baseUrl, requests } = await startTestService(['greeting']);
  const proxy = await startFront({ answer: (request) => handOn({ ...request, path: pathOf(request) }, baseUrl) });
  const folder = makeHead(`${CONFIG}${base}\n`, `${CONFIG}service: { allow_http: true }\n`);
  const system = makeSystem(folder, { PROMPTSYNC_BASE_URL: 'http://prompts.invalid', http_proxy: proxy.baseUrl });
  const { run } = await syncPrompts({ ...OPTIONS, ...given, contactPolicy: 'trusted' }, system);
  expect(run.problems.map(({ code }) => code)).toEqual(expected);
  expect(requests.length > 0).toBe(expected.length === 0);
});

function pathOf({ path }: FrontRequest): string {
  return path.replace('http://prompts.invalid', '');
}

test('a plan for a pull request contacts no service if the head replaces the configuration folder with a symbolic link to a folder with another service', async () => {
  const services = await startServices();
  const theirs = `service: { base_url: "${services.other.baseUrl}" }\nprompts: ["../team-b/*.md"]\n`;
  const folder = makeRepository({
    'team-a/promptsync.yaml': configOf(HOME, services),
    'team-b/promptsync.yaml': theirs,
    'team-b/greeting.md': promptText('greeting'),
  });
  rmSync(`${folder}/team-a`, { recursive: true });
  symlinkSync('team-b', `${folder}/team-a`);
  writeFiles(folder, { 'team-b/greeting.md': promptText('greeting', { text: 'Head.' }) });
  commitAll(folder, 'Head');
  expect(await plan(`${folder}/team-a`, services, given)).toEqual(NOT_ASKED);
});

test('a pull request plan treats an empty PROMPTSYNC_BASE_URL as unset', async () => {
  const services = await startServices();
  const folder = makeHead(null, configOf(OTHER, services));
  expect(await plan(folder, services, given, { PROMPTSYNC_BASE_URL: '' })).toEqual(NOT_ASKED);
});

test('a pull request plan does not trust a nested configuration that exists only in the head', async () => {
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

test('a pull request plan compares a subfolder configuration with the same file in the base commit', async () => {
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
    'a pull request plan contacts no service if no base commit is given',
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
