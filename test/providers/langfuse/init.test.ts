import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { init, type InitOptions } from '../../../src/commands/init/init.ts';
import { gatherAnswers, type AnswerHelpers } from '../../../src/commands/init/init-answers.ts';
import { makeInterview } from '../../commands/init/answers.ts';
import { SECRET_KEY, startLangfuse } from '../../doubles/langfuse-server.ts';
import { makeFolder } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import type { Failure } from '../../support/github-api.ts';
import { run, runJson } from '../../support/run.ts';
import { makeSystem } from '../../support/system.ts';

const INIT = ['init', '--provider', 'langfuse'];
const SERVICE = {
  provider: 'langfuse',
  base_url: 'https://cloud.langfuse.com',
  public_key_env: 'LANGFUSE_PUBLIC_KEY',
  secret_key_env: 'LANGFUSE_SECRET_KEY',
};

const NOT_FOUND = { status: 404, body: '<html>Not found</html>' };

const serviceIn = (folder: string) => parse(readFileSync(join(folder, 'promptsync.yaml'), 'utf8')).service as unknown;

test('init --provider langfuse writes a valid workspace and workflows that pass both Langfuse keys to the action', async () => {
  const langfuse = await startLangfuse();
  const { LANGFUSE_HOST: _, ...keys } = langfuse.environment;
  const environment = { ...keys, LANGFUSE_BASE_URL: langfuse.baseUrl };
  const folder = makeFolder();
  const { report, stderr } = await runJson(folder, [...INIT, '--ci', 'github'], { environment });
  expect([serviceIn(folder), stderr]).toEqual([{ ...SERVICE, base_url: langfuse.baseUrl }, '']);
  const steps = report.next_steps ?? [];
  expect(steps[0]).toContain('promptsync new KEY');
  const githubStep = steps.find((one) => one.includes('GitHub'));
  expect(githubStep).toContain('LANGFUSE_SECRET_KEY');
  // GitHub has environments, and no labels.
  expect(githubStep).not.toContain('label');
  const { prompts } = (await runJson(folder, ['plan'], langfuse)).report;
  expect(prompts).toMatchObject([
    { id: 'example/agent', key: 'example/agent', type: 'chat', status: 'pending' },
    { id: 'example/greeting', key: 'example/greeting', type: 'text', status: 'pending' },
  ]);
  const workflows = (report.files ?? []).filter(({ path }) => path.startsWith('.github/'));
  expect(workflows).toHaveLength(4);
  for (const { path } of workflows) {
    const { jobs } = parse(readFileSync(join(folder, path), 'utf8'));
    const allSteps = Object.values(jobs as object).flatMap(({ steps: all }) => all);
    for (const step of allSteps.filter(({ uses = '' }) => uses.includes('promptsync'))) {
      expect(step.with).toMatchObject({
        'public-key': '${{ secrets.LANGFUSE_PUBLIC_KEY }}',
        'api-key': '${{ secrets.LANGFUSE_SECRET_KEY }}',
      });
    }
  }
});

test('init --provider langfuse writes GitLab jobs that plan offline if the secret key is missing', async () => {
  const folder = makeFolder();
  await run(folder, [...INIT, '--url', 'https://langfuse.example.com', '--ci', 'gitlab']);
  const jobs = readFileSync(join(folder, '.gitlab/promptsync.gitlab-ci.yml'), 'utf8');
  expect(jobs).toContain('offline=$([ -n "$LANGFUSE_SECRET_KEY" ] || echo --offline)');
  expect(jobs).toContain('LANGFUSE_SECRET_KEY and LANGFUSE_PUBLIC_KEY with one value for each environment scope');
  expect(jobs).not.toContain('PROMPTSYNC_API_KEY');
});

/** Starts a Langfuse with the labels eu, staging and production. */
async function startLabeled() {
  const langfuse = await startLangfuse();
  langfuse.store.addVersion('team/a [b]', { text: 'A.', labels: ['production', 'eu'] });
  langfuse.store.addVersion('b', { text: 'B.', labels: ['production', 'staging'] });
  langfuse.store.addVersion('c', { text: 'C.', labels: ['production', 'staging'] });
  return langfuse;
}

test('init --id imports a prompt instead of creating an example, and lists the labels of the project on standard error', async () => {
  const folder = makeFolder();
  const words = [...INIT, '--ci', 'none', '--id', 'team/a [b]', '--environments'];
  const { stdout, stderr, exitCode } = await run(folder, [...words, 'eu'], await startLabeled());
  expect([exitCode, stderr, stdout.includes('+ prompts/team/a-b.md')]).toEqual([0, '', true]);
  expect(stdout).not.toContain(SECRET_KEY);
  const other = makeFolder();
  const listed = await run(other, [...INIT, '--ci', 'none'], await startLabeled());
  expect(listed.stderr).toMatch(/^[^\n]*labels in Langfuse: "production", "staging", "eu"\n$/);
  expect([existsSync(join(other, 'promptsync.yaml')), existsSync(join(other, 'prompts'))]).toEqual([true, false]);
});

test.each<[reason: string, variables: object, failure: Failure | null]>([
  ['init succeeds without an example prompt if Langfuse fails', {}, { status: 500 }],
  ['init succeeds without an example prompt if a key is missing', { LANGFUSE_PUBLIC_KEY: '' }, null],
])('%s', async (_, variables, failure) => {
  const langfuse = await startLabeled();
  if (failure !== null) langfuse.fail({ path: /./ }, failure, 100);
  const environment = { ...langfuse.environment, ...variables };
  const folder = makeFolder();
  const { exitCode, stderr } = await run(folder, [...INIT, '--ci', 'none'], { environment });
  expect([exitCode, stderr]).toEqual([0, '']);
  expect([existsSync(join(folder, 'promptsync.yaml')), existsSync(join(folder, 'prompts'))]).toEqual([true, false]);
});

describe('the flags of init for Langfuse', () => {
  /** Gathers the answers without a terminal. The addresses are those of the environment variables. */
  function gather(flags: Partial<InitOptions>, ...urls: readonly string[]) {
    const listAddresses: AnswerHelpers['listAddresses'] = () =>
      urls.map((url, index) => ({ url, variable: ['LANGFUSE_BASE_URL', 'LANGFUSE_HOST'][index] ?? '' }));
    const unused = () => expect.fail('init does not ask the service before it knows all answers.');
    const helpers = { findAddressFault: unused, findKeyFault: unused, findPromptFault: unused };
    return gatherAnswers({ embedded: false, provider: 'langfuse', ...flags }, null, {
      ...{ ...helpers, guessCi: async () => 'none', listAddresses, listEnvironments: unused },
    });
  }
  const URL = 'https://langfuse.example.com';

  test.each<[what: string, flags: Partial<InitOptions>, message: string]>([
    ['init --provider langfuse rejects --embedded', { embedded: true }, '`--provider` and `--embedded`'],
    ['init --provider langfuse rejects --api-key-env because Langfuse uses two keys', { apiKeyEnv: 'K' }, 'two keys'],
    ['init --provider langfuse rejects an invalid label', { environments: 'Prod' }, '--environments'],
    ['init suggests commas if the labels are separated by spaces', { environments: 'dev prod' }, 'such as dev,prod.'],
    ['init --provider langfuse rejects an invalid prompt name', { id: 'a//b' }, '--id'],
    ['init --provider langfuse rejects an invalid service URL', { url: 'langfuse' }, '--url'],
  ])('%s', async (_, flags, message) => {
    const { problems } = { problems: [], ...(await gather(flags, URL)) };
    expect(problems).toMatchObject([{ message: expect.stringContaining(message) }]);
  });

  test.each<[sentence: string, urls: readonly string[], code: string]>([
    ['Without a terminal, init does not guess the Langfuse address', [], 'init/service-needed'],
    ['Without a terminal, init rejects two Langfuse addresses', [URL, `${URL}/a`], 'config/different-addresses'],
  ])('%s', async (_, urls, code) => {
    const { problems } = { problems: [], ...(await gather({}, ...urls)) };
    expect(problems).toMatchObject([{ code }]);
    for (const name of ['base_url', 'LANGFUSE_BASE_URL', 'LANGFUSE_HOST'])
      expect(JSON.stringify(problems)).toContain(name);
    const hint = expect.stringContaining('`--provider langfuse` for Langfuse');
    expect(await gather({ provider: undefined })).toMatchObject({ problems: [{ code: 'init/service-needed', hint }] });
  });
});

describe('the questions of init for Langfuse', () => {
  /** Runs init. Answers the questions about the address from `addresses` in turn, and other questions with their defaults. */
  async function interviewWith(
    environment: Readonly<Record<string, string>>,
    flags: Partial<InitOptions> = {},
    addresses: readonly string[] = [],
  ) {
    const folder = makeFolder();
    const replies = { 'Which service': 'langfuse', 'Which CI': 'none', 'What is the address': addresses };
    const { asked, interview } = makeInterview(replies);
    await init({ embedded: false, force: false, ...flags }, { ...makeSystem(folder, environment), interview });
    return { folder, asked, ofAddress: asked.filter((message) => message.includes('What is the address')) };
  }

  test('init asks for no service if a flag names it, for no key variables, and names the labels of the project, which it lists once', async () => {
    const langfuse = await startLabeled();
    const { folder, asked } = await interviewWith(langfuse.environment, { provider: 'langfuse' });
    const labels = /\blabels do you use.*labels: "production", "staging", "eu"/;
    const expected = [/address of Langfuse/, /folder/, labels, /Which prompt/, /CI/, /pre-commit/];
    expect(asked).toEqual(expected.map((one) => expect.stringMatching(one)));
    expect(asked[2]).not.toMatch(/environment|service/);
    expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: langfuse.baseUrl });
    // The address and the keys are checked with one request each.
    expect(langfuse.requests.filter(({ path }) => path.includes('page='))).toHaveLength(3);
  });

  test('init asks for the Langfuse address again if the server is not Langfuse or rejects the keys', async () => {
    const [langfuse, other] = [await startLangfuse(), await startFront({ answer: () => NOT_FOUND })];
    const otherRegion = await startFront({ answer: () => ({ ...NOT_FOUND, status: 401 }) });
    const addresses = [other.baseUrl, otherRegion.baseUrl, langfuse.baseUrl];
    const { folder, asked, ofAddress } = await interviewWith(langfuse.environment, {}, addresses);
    expect(asked[0]).toMatch(/Which service/);
    expect(ofAddress).toEqual([
      'What is the address of Langfuse?',
      expect.stringMatching(/404.*Press Enter to use this answer anyway\.\nWhat is the address of Langfuse\?$/),
      expect.stringMatching(/\nWhat is the address of Langfuse\?$/),
    ]);
    expect(JSON.stringify(other.requests)).not.toContain(Buffer.from(SECRET_KEY).toString('base64').slice(4, -4));
    expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: langfuse.baseUrl });
  });

  test('init suggests Langfuse Cloud if no variable contains an address', async () => {
    const { folder } = await interviewWith({ LANGFUSE_SECRET_KEY: SECRET_KEY });
    expect(serviceIn(folder)).toEqual(SERVICE);
  });

  test('The user can complete init for Langfuse without API keys, and it then names no labels', async () => {
    const { baseUrl } = await startLabeled();
    const { folder, asked, ofAddress } = await interviewWith({ LANGFUSE_HOST: baseUrl });
    expect(ofAddress).toEqual([
      'What is the address of Langfuse?',
      expect.stringMatching(/LANGFUSE_SECRET_KEY.*not set/),
    ]);
    expect(asked.find((message) => message.includes('promotion order'))).not.toContain('"');
    expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: baseUrl });
  });
});
