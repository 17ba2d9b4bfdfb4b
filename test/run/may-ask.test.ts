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

const HOME = 'service: { base_url: "https://prompts.example.com" }';

/** What the configuration says about the service, by the name that the rows use. Null: there is no configuration. */
const SETTINGS: Readonly<Record<string, string | null>> = {
  'no file': null,
  nothing: '',
  invalid: 'service: 7',
  home: HOME,
  formatted: 'service:\n  base_url: https://prompts.example.com\nconcurrency: 1\ntimeout_seconds: 60',
  other: HOME.replace('prompts', 'other'),
  'other path': HOME.replace('.com', '.com/other'),
  'other variable': HOME.replace('}', ', api_key_env: SPARE_KEY }'),
  embedded: 'service: { embedded: .promptsync/a.db }',
  http: 'service: { allow_http: true }',
};
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
  /**
   * Rows `title: 'BASE | HEAD'`, in the names of `SETTINGS`. The workflow may set a `key` or an `address`, and `always`
   * and `keyless` are other contact policies.
   */
  function testContacts(contacts: boolean, rows: Readonly<Record<string, string>>): void {
    test.each(Object.entries(rows))('%s', async (_, row) => {
      const [base = '', head = '', ...words] = row.split(' | ');
      const settings = SETTINGS[base] ?? null;
      const files: BaseFiles = settings === null ? {} : { 'promptsync.yaml': CONFIG + settings };
      const contactPolicy = (['always', 'keyless'] as const).find((policy) => words.includes(policy));
      const options = { ...(words.includes('key') && given), ...(contactPolicy && { contactPolicy }) };
      const address = words.find((word) => word.startsWith('http')) ?? '';
      expect(await mayContact(files, SETTINGS[head] ?? '', options, { address })).toBe(contacts);
    });
  }

  testContacts(true, {
    'a pull request plan contacts the service if the base and the head configure the same service': 'home | home',
    'a pull request plan contacts the service if the head changes only the format and unrelated settings':
      'home | formatted',
    'a pull request plan with an explicit API key contacts the service even if the head changes the API key variable':
      'home | other variable | key',
    'a pull request plan uses the service address and API key from the workflow instead of those that the head configures':
      'no file | other | key | https://prompts.example.com',
    'a pull request plan contacts the service if the workflow sets only its address and the head does not change the API key variable':
      'other | home | https://prompts.example.com',
    'a pull request plan uses plain HTTP if the base and the head both allow HTTP':
      'http | http | key | http://prompts.invalid',
    'a plan contacts a service that only the head configures if the contact policy is always':
      'no file | other | always',
  });
  testContacts(false, {
    'a pull request plan contacts no service if the head changes the service address': 'home | other',
    'a pull request plan contacts no service if the head changes the path in the service URL': 'home | other path',
    'a pull request plan with an explicit API key contacts no service if the head changes the service address':
      'home | other | key',
    'a pull request plan contacts no service if the head changes the API key variable': 'home | other variable',
    'a pull request plan contacts no service if only the head configures a service': 'nothing | home',
    'a pull request plan contacts no service if neither the base nor the head configures a service':
      'nothing | nothing',
    'a pull request plan contacts no service if the base configuration is invalid': 'invalid | home',
    'a pull request plan contacts no service if the head uses the embedded service': 'home | embedded | key',
    'a plan contacts no service if its contact policy is keyless, even if an API key is given':
      'home | home | keyless | key',
    'a pull request plan contacts no service if the workflow sets only its address and the head changes the API key variable':
      'home | other variable | https://prompts.example.com',
    'a pull request plan sends no API key over plain HTTP if only the head allows HTTP':
      'nothing | http | key | http://prompts.invalid',
  });

  test('a pull request plan compares a subfolder configuration with the same file in the base commit, and trusts no new file', async () => {
    const file = 'team/promptsync.yaml';
    const other = HOME.replace('prompts', 'other');
    const root = { 'promptsync.yaml': CONFIG + other };
    expect(await mayContact({ ...root, [file]: CONFIG + HOME }, HOME, {}, { file })).toBe(true);
    expect(await mayContact(root, other, {}, { file })).toBe(false);
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
