import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { init, type InitOptions } from '../../../src/commands/init/init.ts';
import type { Interview } from '../../../src/domain/system.ts';
import type { NamedProviderName } from '../../../src/providers/provider-list.ts';
import { SECRET_KEY, startLangfuse } from '../../doubles/langfuse-server.ts';
import { makeFolder } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { run, runJson } from '../../support/run.ts';
import { makeSystem } from '../../support/system.ts';

const PROVIDER = ['--provider', 'langfuse'];
const SERVICE = {
  provider: 'langfuse',
  base_url: 'https://cloud.langfuse.com',
  public_key_env: 'LANGFUSE_PUBLIC_KEY',
  secret_key_env: 'LANGFUSE_SECRET_KEY',
};

const NOT_FOUND = { status: 404, body: '<html>Not found</html>' };

const serviceIn = (folder: string) => parse(readFileSync(join(folder, 'promptsync.yaml'), 'utf8')).service as unknown;

describe('init for Langfuse', () => {
  test('init --provider langfuse writes a valid workspace and workflows that pass both Langfuse keys to the action', async () => {
    const langfuse = await startLangfuse();
    const folder = makeFolder();
    const { report } = await runJson(folder, ['init', ...PROVIDER, '--ci', 'github'], langfuse);
    expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: langfuse.baseUrl });
    expect((await run(folder, ['validate'])).stdout).toBe('2 prompts valid.\n');
    expect(report.next_steps?.[0]).toContain('promptsync new KEY');
    const { prompts } = (await runJson(folder, ['plan'], langfuse)).report;
    expect(prompts).toMatchObject([
      { id: 'example/agent', key: 'example/agent', type: 'chat', status: 'pending' },
      { id: 'example/greeting', key: 'example/greeting', type: 'text', status: 'pending' },
    ]);
    const workflows = (report.files ?? []).filter(({ path }) => path.startsWith('.github/'));
    expect(workflows).toHaveLength(4);
    for (const { path } of workflows) {
      const { jobs } = parse(readFileSync(join(folder, path), 'utf8'));
      const steps = Object.values(jobs as object).flatMap(({ steps: all }) => all);
      for (const step of steps.filter(({ uses = '' }) => uses.includes('promptsync'))) {
        expect(step.with).toMatchObject({
          'public-key': '${{ secrets.LANGFUSE_PUBLIC_KEY }}',
          'api-key': '${{ secrets.LANGFUSE_SECRET_KEY }}',
        });
      }
    }
  });

  test('init --provider langfuse creates no example prompt if the Langfuse project already has prompts', async () => {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('a', { text: 'A.' });
    const folder = makeFolder();
    await run(folder, ['init', ...PROVIDER, '--ci', 'none'], langfuse);
    expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(true);
    expect(existsSync(join(folder, 'prompts'))).toBe(false);
  });

  test.each<[sentence: string, variables: Readonly<Record<string, string>>, status: number]>([
    [
      'init --provider langfuse creates no example prompt if the secret key is missing',
      { LANGFUSE_SECRET_KEY: '' },
      200,
    ],
    ['init --provider langfuse creates no example prompt if Langfuse fails to list the prompts', {}, 500],
  ])('%s', async (_, variables, status) => {
    const langfuse = await startLangfuse();
    if (status !== 200) langfuse.fail({ path: /./ }, { status }, 100);
    const folder = makeFolder();
    await run(folder, ['init', ...PROVIDER, '--ci', 'none'], {
      environment: { ...langfuse.environment, ...variables },
    });
    expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(true);
    expect(existsSync(join(folder, 'prompts'))).toBe(false);
  });

  test('init --provider langfuse does not use the word "label" for GitHub environments', async () => {
    const langfuse = await startLangfuse();
    const { report } = await runJson(makeFolder(), ['init', ...PROVIDER, '--ci', 'github'], langfuse);
    const step = report.next_steps?.find((one) => one.includes('GitHub'));
    expect(step).toContain('LANGFUSE_SECRET_KEY');
    expect(step).not.toContain('label');
  });

  test('init --provider langfuse writes GitLab jobs that plan offline if the secret key is missing', async () => {
    const folder = makeFolder();
    await run(folder, ['init', ...PROVIDER, '--url', 'https://langfuse.example.com', '--ci', 'gitlab']);
    const jobs = readFileSync(join(folder, '.gitlab/promptsync.gitlab-ci.yml'), 'utf8');
    expect(jobs).toContain('offline=$([ -n "$LANGFUSE_SECRET_KEY" ] || echo --offline)');
    expect(jobs).toContain('LANGFUSE_SECRET_KEY and LANGFUSE_PUBLIC_KEY with one value for each environment scope');
    expect(jobs).not.toContain('PROMPTSYNC_API_KEY');
  });

  test('init --provider langfuse creates a file for the existing prompt that --id names', async () => {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('team/a [b]', { text: 'A.', labels: ['staging'] });
    const folder = makeFolder();
    const { stdout, exitCode } = await run(
      folder,
      ['init', ...PROVIDER, '--ci', 'none', '--id', 'team/a [b]'],
      langfuse,
    );
    expect([exitCode, stdout.includes('+ prompts/team/a-b.md')]).toEqual([0, true]);
    expect(stdout).not.toContain(SECRET_KEY);
  });

  test.each<[sentence: string, flags: readonly string[], message: string]>([
    ['init --provider langfuse rejects --embedded', ['--embedded'], '`--provider` and `--embedded`'],
    [
      'init --provider langfuse rejects --api-key-env because Langfuse uses two keys',
      ['--api-key-env', 'K'],
      'two keys',
    ],
    [
      'init --provider langfuse rejects an environment that is not a valid Langfuse label',
      ['--environments', 'Prod'],
      '--environments',
    ],
    [
      'init --provider langfuse rejects the reserved label latest as an environment',
      ['--environments', 'latest'],
      '--environments',
    ],
    ['init --provider langfuse rejects an invalid prompt name', ['--id', 'a//b'], '--id'],
    ['init --provider langfuse rejects an invalid service URL', ['--url', 'langfuse'], '--url'],
  ])('%s', async (_, flags, expected) => {
    const environment = { LANGFUSE_BASE_URL: 'https://langfuse.example.com' };
    const { exitCode, stdout } = await run(makeFolder(), ['init', ...PROVIDER, ...flags], { environment });
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(expected)]);
  });

  test('init takes the Langfuse address from LANGFUSE_BASE_URL', async () => {
    const {
      baseUrl,
      environment: { LANGFUSE_HOST: _, ...environment },
    } = await startLangfuse();
    const folder = makeFolder();
    await run(folder, ['init', ...PROVIDER], { environment: { ...environment, LANGFUSE_BASE_URL: baseUrl } });
    expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: baseUrl });
  });

  test.each<[sentence: string, environment: Readonly<Record<string, string>>, code: string]>([
    ['Without a terminal, init does not guess the Langfuse address', { LANGFUSE_BASE_URL: '' }, 'init/service-needed'],
    [
      'Without a terminal, init rejects two variables with different Langfuse addresses',
      { LANGFUSE_BASE_URL: 'https://langfuse.example.com', LANGFUSE_HOST: 'https://cloud.langfuse.com' },
      'config/different-addresses',
    ],
  ])('%s', async (_, addresses, code) => {
    const environment = { ...addresses, LANGFUSE_PUBLIC_KEY: 'pk-lf-1', LANGFUSE_SECRET_KEY: SECRET_KEY };
    const folder = makeFolder();
    const { report } = await runJson(folder, ['init', ...PROVIDER], { environment });
    expect(report.problems).toMatchObject([{ code }]);
    const advice = `${report.problems[0]?.message} ${report.problems[0]?.hint}`;
    for (const name of ['base_url', 'LANGFUSE_BASE_URL', 'LANGFUSE_HOST']) expect(advice).toContain(name);
    expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(false);
  });

  test('Without a terminal and without a service, init names the flag for Langfuse', async () => {
    const { report } = await runJson(makeFolder(), ['init'], { environment: {} });
    expect(report.problems).toMatchObject([
      { code: 'init/service-needed', hint: expect.stringContaining('`--provider langfuse` for Langfuse') },
    ]);
  });

  test('init suggests commas if the names of the environments are separated by spaces', async () => {
    const { stdout } = await run(makeFolder(), ['init', '--embedded', '--environments', 'dev prod']);
    expect(stdout).toContain('expected names separated by commas, such as dev,prod.');
  });

  describe('the questions', () => {
    const CI_AND_SERVICE: Readonly<Record<string, string>> = { 'Which service': 'langfuse', 'Which CI': 'none' };

    /** Runs init. Answers the questions about the address from `addresses` in turn, and other questions with their defaults. */
    async function interviewWith(
      environment: Readonly<Record<string, string>>,
      flags: Partial<InitOptions> = {},
      addresses: readonly string[] = [],
    ) {
      const folder = makeFolder();
      const asked: string[] = [];
      const open = [...addresses];
      const interview: Interview = {
        text: async ({ message, initial, findFault }) => {
          asked.push(message);
          const answer = message.includes('What is the address') ? (open.shift() ?? initial) : initial;
          expect(findFault(answer)).toBeNull();
          return answer;
        },
        select: async ({ message }) => {
          asked.push(message);
          return CI_AND_SERVICE[message.split(' ').slice(0, 2).join(' ')] ?? '';
        },
        confirm: async () => false,
      };
      await init({ embedded: false, force: false, ...flags }, { ...makeSystem(folder, environment), interview });
      return { folder, asked };
    }

    test.each<[sentence: string, provider: NamedProviderName | undefined, questions: readonly RegExp[]]>([
      ['init configures Langfuse if the user selects Langfuse as the service', undefined, [/Which service/]],
      ['init --provider langfuse does not ask for the service', 'langfuse', []],
    ])('%s, and does not ask for the key variables', async (_, provider, questions) => {
      const langfuse = await startLangfuse();
      const { folder, asked } = await interviewWith(langfuse.environment, { provider });
      const expected = [...questions, /address of Langfuse/, /folder/, /labels/, /Which prompt/, /CI/];
      expect(asked).toEqual(expected.map((one) => expect.stringMatching(one)));
      expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: langfuse.baseUrl });
    });

    test('After it has checked the address and the keys, init lists the prompts of a Langfuse project only once', async () => {
      const langfuse = await startLangfuse();
      await interviewWith(langfuse.environment);
      const lists = langfuse.requests.filter(({ path }) => path.includes('page='));
      // The address and the keys are checked with one request each.
      expect(lists).toHaveLength(3);
    });

    test('init asks for the Langfuse address again if the server is not Langfuse or rejects the keys', async () => {
      const [langfuse, other] = [await startLangfuse(), await startFront({ answer: () => NOT_FOUND })];
      const otherRegion = await startFront({ answer: () => ({ ...NOT_FOUND, status: 401 }) });
      const addresses = [other.baseUrl, otherRegion.baseUrl, langfuse.baseUrl];
      const { folder, asked } = await interviewWith(langfuse.environment, {}, addresses);
      expect(asked.filter((message) => message.includes('What is the address'))).toEqual([
        'What is the address of Langfuse?',
        expect.stringMatching(/404.*Press Enter to use this answer anyway\.\nWhat is the address of Langfuse\?$/),
        expect.stringMatching(/\nWhat is the address of Langfuse\?$/),
      ]);
      expect(JSON.stringify(other.requests)).not.toContain(Buffer.from(SECRET_KEY).toString('base64').slice(4, -4));
      expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: langfuse.baseUrl });
    });

    test('init suggests Langfuse Cloud if no variable contains an address', async () => {
      const folder = makeFolder();
      const suggested: string[] = [];
      const stop = new Error('The test stops at the question about the address.');
      const interview: Interview = {
        text: async ({ initial }) => {
          suggested.push(initial);
          throw stop;
        },
        select: async () => 'langfuse',
        confirm: async () => false,
      };
      const system = { ...makeSystem(folder, { LANGFUSE_SECRET_KEY: SECRET_KEY }), interview };
      await expect(init({ embedded: false, force: false }, system)).rejects.toBe(stop);
      expect(suggested).toEqual(['https://cloud.langfuse.com']);
    });

    test('The user can complete init for Langfuse without API keys', async () => {
      const { baseUrl } = await startLangfuse();
      const { folder, asked } = await interviewWith({ LANGFUSE_HOST: baseUrl });
      expect(asked.filter((message) => message.includes('What is the address'))).toEqual([
        'What is the address of Langfuse?',
        expect.stringMatching(/LANGFUSE_SECRET_KEY.*not set/),
      ]);
      expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: baseUrl });
    });
  });
});
