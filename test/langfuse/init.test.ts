import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { init } from '../../src/commands/init.ts';
import type { Interview } from '../../src/domain/world.ts';
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

describe('A workspace for Langfuse', () => {
  test('is valid, has an example that a sync makes, and workflows with both keys', async () => {
    const langfuse = await startLangfuse();
    const folder = makeFolder();
    const { report } = await runJson(folder, ['init', ...PROVIDER, '--ci', 'github'], langfuse);
    expect(serviceIn(folder)).toEqual({ ...SERVICE, base_url: langfuse.baseUrl });
    expect((await run(folder, ['validate'])).stdout).toBe('1 prompt valid.\n');
    const { prompts } = (await runJson(folder, ['plan'], langfuse)).report;
    expect(prompts).toMatchObject([{ id: 'example/greeting', key: 'example/greeting', status: 'pending' }]);
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

  test('in GitLab is offline without the secret key, and names both', async () => {
    const folder = makeFolder();
    await run(folder, ['init', ...PROVIDER, '--ci', 'gitlab']);
    const jobs = readFileSync(join(folder, '.gitlab/promptsync.gitlab-ci.yml'), 'utf8');
    expect(jobs).toContain('offline=$([ -n "$LANGFUSE_SECRET_KEY" ] || echo --offline)');
    expect(jobs).toContain('LANGFUSE_SECRET_KEY,\n# LANGFUSE_PUBLIC_KEY and GITLAB_TOKEN');
    expect(jobs).not.toContain('PROMPTSYNC_API_KEY');
  });

  test('begins with a prompt that is there', async () => {
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

  test.each<[sentence: string, flags: readonly string[], said: string]>([
    ['the embedded service', ['--embedded'], '--provider and --embedded'],
    ['a variable of one key', ['--api-key-env', 'K'], 'two keys'],
    ['a label that Langfuse would refuse', ['--environments', 'Prod'], '--environments'],
    ['its own label', ['--environments', 'latest'], '--environments'],
    ['a name that Langfuse would refuse', ['--id', 'a//b'], '--id'],
    ['an address that is none', ['--url', 'langfuse'], '--url'],
  ])('is not begun with %s', async (_, flags, said) => {
    const { exitCode, stdout } = await run(makeFolder(), ['init', ...PROVIDER, ...flags]);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(said)]);
  });

  test.each<[sentence: string, first: string, provider: string | undefined, questions: readonly RegExp[]]>([
    ['the word langfuse for an address', ' langfuse ', undefined, [/prompt service/, /Where is Langfuse/]],
    ['--provider', '', 'langfuse', [/Where is Langfuse/]],
  ])('is asked for by %s, and not which variables hold the keys', async (_, first, provider, questions) => {
    const folder = makeFolder();
    const asked: string[] = [];
    const text: Interview['text'] = async ({ message, initial, fault }) => {
      asked.push(message);
      const said = message.includes('prompt service') ? first : initial;
      expect(fault(said)).toBeNull();
      return said;
    };
    const world = { ...makeWorld(folder), interview: { text, confirm: async () => false } };
    await init({ embedded: false, force: false, provider }, world);
    const expected = [...questions, /folder/, /environments/, /prompt comes first/, /CI/];
    expect(asked).toEqual(expected.map((one) => expect.stringMatching(one)));
    expect(serviceIn(folder)).toEqual(SERVICE);
  });
});
