import { expect, test } from 'vitest';
import type { AskingOptions } from '../../src/commands/open-service.ts';
import { sync, type SyncOptions } from '../../src/commands/sync.ts';
import { commitAll, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { handOn, startFront, type Front, type FrontRequest } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { KEY, startTestService, type TestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';

const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: true, yes: false, exitCode: false, allowDirty: false },
  base: 'HEAD~1',
};

/** The service of the base, and a front that a head may name instead. */
type Services = { readonly service: TestService; readonly other: Front };

async function startServices(): Promise<Services> {
  const service = await startTestService(['greeting']);
  return { service, other: await startFront({ target: service.baseUrl }) };
}

/** A configuration's part about the service; `URL` is the base's and `OTHER` the head's own. */
function configOf(text: string, { service, other }: Services): string {
  return `${CONFIG}${text.replace('URL', service.baseUrl).replace('OTHER', other.baseUrl)}\n`;
}

/** Null where the base is to have no configuration. */
function makeHead(base: string | null, head: string): string {
  const { 'promptsync.yaml': _, ...prompts } = workspaceFiles({ greeting: {} });
  const folder = makeRepository(base === null ? prompts : { ...prompts, 'promptsync.yaml': base });
  writeFiles(folder, { 'promptsync.yaml': head, 'prompts/greeting.md': promptText('greeting', { text: 'Head.' }) });
  commitAll(folder, 'Head');
  return folder;
}

type Outcome = { readonly told: readonly string[]; readonly requests: number; readonly strangers: number };

async function plan(
  folder: string,
  { service, other }: Services,
  options: Partial<SyncOptions>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const world = makeWorld(folder, { PROMPTSYNC_API_KEY: KEY, SPARE_KEY: KEY, ...environment });
  const { run } = await sync({ ...OPTIONS, asking: 'trusted', ...options }, world);
  expect(run.plan?.prompts.map(({ status }) => status)).toEqual(['pending']);
  const told = run.problems.map(({ code }) => code);
  return { told, requests: service.requests.length, strangers: other.requests.length };
}

const ASKED = { told: [], requests: expect.any(Number), strangers: 0 };
const NOT_ASKED = { told: ['service/not-asked'], requests: 0, strangers: 0 };
const given: AskingOptions = { keys: [{ value: KEY, from: 'The test' }] };
const HOME = 'service: { base_url: "URL" }';
const OTHER = HOME.replace('URL', 'OTHER');
const SPARE = HOME.replace('}', ', api_key_env: SPARE_KEY }');
const EMBEDDED = 'service: { embedded: .promptsync/a.db }';

test.each<[string, string | null, string, AskingOptions, boolean]>([
  ['the same service in both', HOME, HOME, {}, true],
  ['the same service, written otherwise', HOME, 'service:\n  base_url: URL', {}, true],
  [
    'the same service, with the usual variable spelt out',
    HOME,
    HOME.replace('}', ', api_key_env: PROMPTSYNC_API_KEY }'),
    {},
    true,
  ],
  ['the same service, and other settings', HOME, `${HOME}\nconcurrency: 1\ntimeout_seconds: 60`, {}, true],
  ['another address in the head', HOME, OTHER, {}, false],
  ['another path of the address', HOME, HOME.replace('URL', 'URL/other'), {}, false],
  ['another address, with a key that was handed over', HOME, OTHER, given, false],
  ['another variable for the key', HOME, SPARE, {}, false],
  ['another variable that is not read, as the key was handed over', HOME, SPARE, given, true],
  ['another address and another variable', HOME, SPARE.replace('URL', 'OTHER'), given, false],
  ['no service at the base', '', HOME, {}, false],
  ['no service in either', '', '', {}, false],
  ['no configuration at the base', null, HOME, {}, false],
  ['no configuration at the base, with a key that was handed over', null, HOME, given, false],
  ['a base whose configuration is not valid', 'service: 7', HOME, {}, false],
  ['an embedded service at the base', EMBEDDED, HOME, {}, false],
  ['an embedded service in the head', HOME, EMBEDDED, given, false],
  ['nothing is asked of the same service when nothing may be', HOME, HOME, { asking: 'keyless' }, false],
  ['with a key neither', HOME, HOME, { asking: 'keyless', ...given }, false],
])('%s', async (_, base, head, options, asked) => {
  const services = await startServices();
  const folder = makeHead(base === null ? null : configOf(base, services), configOf(head, services));
  expect(await plan(folder, services, options)).toEqual(asked ? ASKED : NOT_ASKED);
});

test('whoever always asks is asked for no base', async () => {
  const services = await startServices();
  const folder = makeHead(null, configOf(OTHER, services));
  const { strangers } = await plan(folder, services, { asking: 'always' });
  expect(strangers).toBeGreaterThan(0);
});

test.each<[string, string | null, string, AskingOptions, boolean]>([
  ['and the key: whatever the files say', null, SPARE.replace('URL', 'OTHER'), given, true],
  ['and the key: no service in the files', '', '', given, true],
  ['alone: the base must name the variable of the key', HOME, SPARE, {}, false],
  ['alone: files that agree', OTHER, HOME, {}, true],
  ['alone: no configuration at the base', null, HOME, {}, false],
])('the address comes from the workflow, %s', async (_, base, head, options, asked) => {
  const services = await startServices();
  const folder = makeHead(base === null ? null : configOf(base, services), configOf(head, services));
  const environment = { PROMPTSYNC_BASE_URL: services.service.baseUrl };
  expect(await plan(folder, services, options, environment)).toEqual(asked ? ASKED : NOT_ASKED);
});

test.each([
  ['the head alone: the key goes nowhere', '', ['service/not-asked']],
  ['both', 'service: { allow_http: true }', []],
])('plain http to the address of the workflow is allowed by %s', async (_, base, expected) => {
  const { baseUrl, requests } = await startTestService(['greeting']);
  const proxy = await startFront({ answer: (request) => handOn({ ...request, path: pathOf(request) }, baseUrl) });
  const folder = makeHead(`${CONFIG}${base}\n`, `${CONFIG}service: { allow_http: true }\n`);
  const world = makeWorld(folder, { PROMPTSYNC_BASE_URL: 'http://prompts.invalid', http_proxy: proxy.baseUrl });
  const { run } = await sync({ ...OPTIONS, ...given, asking: 'trusted' }, world);
  expect(run.problems.map(({ code }) => code)).toEqual(expected);
  expect(requests.length > 0).toBe(expected.length === 0);
});

function pathOf({ path }: FrontRequest): string {
  return path.replace('http://prompts.invalid', '');
}

test('an empty address is none', async () => {
  const services = await startServices();
  const folder = makeHead(null, configOf(OTHER, services));
  expect(await plan(folder, services, given, { PROMPTSYNC_BASE_URL: '' })).toEqual(NOT_ASKED);
});

test('a configuration that only the head has, nearer than the base’s, names nothing', async () => {
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

test('a configuration in a folder is compared with the one that was there', async () => {
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
  ['without a base', (config) => makeRepository(workspaceFiles({ greeting: {} }, config))],
  ['outside of a repository', (config) => makeWorkspace(workspaceFiles({ greeting: {} }, config))],
])('nothing is trusted %s', async (_, make) => {
  const services = await startServices();
  expect(await plan(make(configOf(HOME, services)), services, { base: undefined })).toEqual(NOT_ASKED);
});
