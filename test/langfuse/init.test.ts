import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { init } from '../../src/commands/init.ts';
import type { Interview } from '../../src/domain/world.ts';
import type { NamedProviderName } from '../../src/providers/list.ts';
import { SECRET_KEY, startLangfuse } from '../doubles/langfuse-server.ts';
import { makeFolder } from '../support/folder.ts';
import { run, runJson } from '../support/run.ts';
import { makeWorld } from '../support/world.ts';

const PROVIDER = ['--provider', 'langfuse'];
const SERVICE = {
  provider: 'langfuse',
  base_url: 'https://cloud.langfuse.com',
  public_key_env: 'LANGFUSE_PUBLIC_KEY',
  secret_key_env: 'LANGFUSE_SECRET_KEY',
};

const serviceIn = (folder: string) => parse(readFileSync(join(folder, 'promptsync.yaml'), 'utf8')).service as unknown;

describe('init for Langfuse', () => {
  test('init --provider langfuse writes a valid workspace and workflows that pass both Langfuse keys to the action', async () => {
    const langfuse = await startLangfuse();
    const folder = makeFolder();
    const { report } = await runJson(folder, ['init', ...PROVIDER, '--ci', 'github'], langfuse);
    expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: langfuse.baseUrl });
    expect((await run(folder, ['validate'])).stdout).toBe('2 prompts valid.\n');
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
      expect(steps.find(({ uses = '' }) => uses.includes('promptsync')).with).toMatchObject({
        'public-key': '${{ secrets.LANGFUSE_PUBLIC_KEY }}',
        'api-key': '${{ secrets.LANGFUSE_SECRET_KEY }}',
      });
    }
  });

  test('init --provider langfuse writes GitLab jobs that plan offline if the secret key is missing', async () => {
    const folder = makeFolder();
    await run(folder, ['init', ...PROVIDER, '--ci', 'gitlab']);
    const jobs = readFileSync(join(folder, '.gitlab/promptsync.gitlab-ci.yml'), 'utf8');
    expect(jobs).toContain('offline=$([ -n "$LANGFUSE_SECRET_KEY" ] || echo --offline)');
    expect(jobs).toContain('LANGFUSE_SECRET_KEY,\n# LANGFUSE_PUBLIC_KEY and GITLAB_TOKEN');
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
    ['init --provider langfuse rejects --embedded', ['--embedded'], '--provider and --embedded'],
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
    const { exitCode, stdout } = await run(makeFolder(), ['init', ...PROVIDER, ...flags]);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(expected)]);
  });

  test.each<[sentence: string, first: string, provider: NamedProviderName | undefined, questions: readonly RegExp[]]>([
    [
      'init configures Langfuse if the user enters langfuse as the service address',
      ' langfuse ',
      undefined,
      [/prompt service/, /Where is Langfuse/],
    ],
    ['init --provider langfuse does not ask for the names of the key variables', '', 'langfuse', [/Where is Langfuse/]],
  ])('%s', async (_, first, provider, questions) => {
    const folder = makeFolder();
    const asked: string[] = [];
    const text: Interview['text'] = async ({ message, initial, findFault }) => {
      asked.push(message);
      const answer = message.includes('prompt service') ? first : initial;
      expect(findFault(answer)).toBeNull();
      return answer;
    };
    const world = { ...makeWorld(folder), interview: { text, confirm: async () => false } };
    await init({ embedded: false, force: false, provider }, world);
    const expected = [...questions, /folder/, /labels/, /Which prompt/, /CI/];
    expect(asked).toEqual(expected.map((one) => expect.stringMatching(one)));
    expect(serviceIn(folder)).toEqual(SERVICE);
  });
});
