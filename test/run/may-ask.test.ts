import { rmSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type ContactPolicyOptions, findReasonNotToContact } from '../../src/run/open-service.ts';
import { syncPrompts, type SyncOptions } from '../../src/commands/sync.ts';
import { parseConfig } from '../../src/workspace/load-config.ts';
import { commitAll, makeRepository, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import { KEY, startTestService } from '../support/service.ts';
import { makeSystem } from '../support/system.ts';

type Workspace = Parameters<typeof findReasonNotToContact>[1];

const URL = 'https://prompts.example.com';
const HOME = `service: { base_url: "${URL}" }`;
const OTHER = HOME.replace('prompts', 'other');
const SPARE = HOME.replace('}', ', api_key_env: SPARE_KEY }');
const EMBEDDED = 'service: { embedded: .promptsync/a.db }';
const HTTP = 'service: { allow_http: true }';
const given: ContactPolicyOptions = { keys: [{ value: KEY, label: 'The test' }] };

/** The files at the base commit. Null stands for no base commit. */
type BaseFiles = Readonly<Record<string, string>> | null;

/**
 * Returns whether a plan contacts the service.
 * @param head the configuration in the work tree, at the path `file`
 */
async function mayContact(
  base: BaseFiles,
  head: string,
  options: ContactPolicyOptions,
  { file = 'promptsync.yaml', address = '' } = {},
): Promise<boolean> {
  const environment = { PROMPTSYNC_BASE_URL: address };
  const context = { file: `/work/${file}`, shownPath: 'promptsync.yaml', root: '/work', environment };
  const { config } = parseConfig(CONFIG + head, context);
  // The function reads only this from the repository.
  const readFileAt = async (_: string, path: string) => {
    const text = base?.[path];
    return text === undefined ? null : Buffer.from(text);
  };
  const workspace = { config, base: base && { commit: 'base' }, repository: { readFileAt } };
  const policy = { contactPolicy: 'trusted', ...options } as const;
  const reason = await findReasonNotToContact(
    policy,
    workspace as unknown as Workspace,
    makeSystem('/work', environment),
  );
  expect(reason === null || reason.code === 'service/not-asked').toBe(true);
  return reason === null;
}

describe('a pull request plan', () => {
  test.each<[title: string, base: string | null, head: string, options: ContactPolicyOptions, address?: string]>([
    ['a pull request plan contacts the service if the base and the head configure the same service', HOME, HOME, {}],
    [
      'a pull request plan contacts the service if the head changes only the format and unrelated settings',
      ...([HOME, `service:\n  base_url: ${URL}\nconcurrency: 1\ntimeout_seconds: 60`, {}] as const),
    ],
    [
      'a pull request plan contacts the service if the head explicitly sets the default API key variable',
      ...([HOME, HOME.replace('}', ', api_key_env: PROMPTSYNC_API_KEY }'), {}] as const),
    ],
    [
      'a pull request plan with an explicit API key contacts the service even if the head changes the API key variable',
      ...([HOME, SPARE, given] as const),
    ],
    [
      'a pull request plan uses the service address and API key from the workflow instead of those that the head configures',
      ...([null, SPARE.replace('prompts', 'other'), given, URL] as const),
    ],
    [
      'a pull request plan contacts the service if the workflow sets its address and API key and the configuration sets neither',
      ...(['', '', given, URL] as const),
    ],
    [
      'a pull request plan contacts the service if the workflow sets only its address and the head does not change the API key variable',
      ...([OTHER, HOME, {}, URL] as const),
    ],
    [
      'a pull request plan uses plain HTTP if the base and the head both allow HTTP',
      ...([HTTP, HTTP, given, 'http://prompts.invalid'] as const),
    ],
    [
      'a plan contacts a service that only the head configures if the contact policy is always',
      ...([null, OTHER, { contactPolicy: 'always' }] as const),
    ],
  ])('%s', async (_, base, head, options, address) => {
    const files: BaseFiles = base === null ? {} : { 'promptsync.yaml': CONFIG + base };
    expect(await mayContact(files, head, options, { address: address ?? '' })).toBe(true);
  });

  test.each<[title: string, base: string | null, head: string, options: ContactPolicyOptions, address?: string]>([
    ['a pull request plan contacts no service if the head changes the service address', HOME, OTHER, {}],
    [
      'a pull request plan contacts no service if the head changes the path in the service URL',
      ...([HOME, HOME.replace('.com', '.com/other'), {}] as const),
    ],
    [
      'a pull request plan with an explicit API key contacts no service if the head changes the service address',
      ...([HOME, OTHER, given] as const),
    ],
    ['a pull request plan contacts no service if the head changes the API key variable', HOME, SPARE, {}],
    ['a pull request plan contacts no service if only the head configures a service', '', HOME, {}],
    ['a pull request plan contacts no service if neither the base nor the head configures a service', '', '', {}],
    ['a pull request plan contacts no service if the base has no configuration file', null, HOME, {}],
    [
      'a pull request plan with an explicit API key contacts no service if the base has no configuration file',
      ...([null, HOME, given] as const),
    ],
    ['a pull request plan contacts no service if the base configuration is invalid', 'service: 7', HOME, {}],
    ['a pull request plan contacts no service if the base uses the embedded service', EMBEDDED, HOME, {}],
    ['a pull request plan contacts no service if the head uses the embedded service', HOME, EMBEDDED, given],
    [
      'a plan contacts no service if its contact policy is keyless, even if an API key is given',
      ...([HOME, HOME, { contactPolicy: 'keyless', ...given }] as const),
    ],
    [
      'a pull request plan contacts no service if the workflow sets only its address and the head changes the API key variable',
      ...([HOME, SPARE, {}, URL] as const),
    ],
    [
      'a pull request plan contacts no service if the workflow sets only its address and the base has no configuration file',
      ...([null, HOME, {}, URL] as const),
    ],
    [
      'a pull request plan sends no API key over plain HTTP if only the head allows HTTP',
      ...(['', HTTP, given, 'http://prompts.invalid'] as const),
    ],
  ])('%s', async (_, base, head, options, address) => {
    const files: BaseFiles = base === null ? {} : { 'promptsync.yaml': CONFIG + base };
    expect(await mayContact(files, head, options, { address: address ?? '' })).toBe(false);
  });

  test('a pull request plan compares a subfolder configuration with the same file in the base commit, and trusts no new file', async () => {
    const file = 'team/promptsync.yaml';
    const root = { 'promptsync.yaml': CONFIG + OTHER };
    expect(await mayContact({ ...root, [file]: CONFIG + HOME }, HOME, {}, { file })).toBe(true);
    expect(await mayContact(root, OTHER, {}, { file })).toBe(false);
    expect(await mayContact(null, HOME, {})).toBe(false);
  });
});

test('a plan for a pull request contacts no service if the head replaces the configuration folder with a symbolic link to a folder with another service', async () => {
  const service = await startTestService(['greeting']);
  const other = await startFront({ target: service.baseUrl });
  const configOf = (url: string) => `${CONFIG}service: { base_url: "${url}" }\n`;
  const folder = makeRepository({
    'team-a/promptsync.yaml': configOf(service.baseUrl),
    'team-a/prompts/greeting.md': promptText('greeting'),
    'team-b/promptsync.yaml': configOf(other.baseUrl).replace('prompts/**/*.md', '../team-b/*.md'),
    'team-b/greeting.md': promptText('greeting'),
  });
  const plan = async (path: string) => {
    writeFiles(folder, { [path]: promptText('greeting', { text: 'Head.' }) });
    commitAll(folder, 'Head');
    const options: SyncOptions = {
      ...{ only: [], dryRun: true, yes: false, exitCode: false, allowDirty: false, base: 'HEAD~1' },
      ...given,
      contactPolicy: 'trusted',
    };
    const { run } = await syncPrompts(options, makeSystem(`${folder}/team-a`, { PROMPTSYNC_API_KEY: KEY }));
    expect(run.plan?.prompts.map(({ status }) => status)).toEqual(['pending']);
    const requests = [service.requests.splice(0).length > 0, other.requests.length > 0];
    return { problems: run.problems.map(({ code }) => code), requests };
  };
  expect(await plan('team-a/prompts/greeting.md')).toEqual({ problems: [], requests: [true, false] });
  rmSync(`${folder}/team-a`, { recursive: true });
  symlinkSync('team-b', `${folder}/team-a`);
  expect(await plan('team-b/greeting.md')).toEqual({ problems: ['service/not-asked'], requests: [false, false] });
});
