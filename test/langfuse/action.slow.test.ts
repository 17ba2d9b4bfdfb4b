import { expect, test } from 'vitest';
import { SECRET_KEY, startLangfuse } from '../doubles/langfuse-server.ts';
import { makeTeam } from '../github/team.ts';
import { CONFIG, promptText } from '../support/prompts.ts';

const NAME = 'prm_greeting';

/** The file of the greeting, which Langfuse calls by its id. */
const greets = (text: string) => ({
  'prompts/greeting.md': promptText('greeting', { key: NAME, name: NAME, text }),
});

test('A pull request is reviewed with two keys and without, and its merge is applied', async () => {
  const langfuse = await startLangfuse();
  langfuse.store.addVersion(NAME, { text: 'One.', labels: ['staging'], config: { model: 'gpt-5' } });
  const config = `service: { provider: langfuse, base_url: "${langfuse.baseUrl}" }\n${CONFIG}`;
  const team = await makeTeam({ greeting: { key: NAME, name: NAME, text: 'One.' } }, config);
  const keys = {
    'base-url': langfuse.baseUrl,
    'api-key': SECRET_KEY,
    'public-key': langfuse.environment.LANGFUSE_PUBLIC_KEY,
  };

  const keyless = await team.review(greets('Two.'), { keyless: true }, { repository: 'eve/prompts' });
  expect(keyless).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  expect(langfuse.requests).toEqual([]);

  const reviewed = await team.review(greets('Two!'), { inputs: keys });
  expect(reviewed.stdout).toContain('Plan: 1 to create, 1 to activate.');
  expect(langfuse.takeWrites()).toEqual([]);

  const commit = team.mergePull(team.openPull('change'), 'squash');
  const inputs = { ...keys, 'require-reviewed-plan': 'true' };
  const applied = await team.runPush(commit, { inputs });
  expect(applied).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  expect(langfuse.takeWrites()).toEqual([`POST ${NAME} [staging]`]);
  expect(langfuse.store.serves(NAME, 'staging')).toEqual({ version: 2, text: 'Two!', config: { model: 'gpt-5' } });

  const outputs = [keyless, reviewed, applied].map(({ stdout, stderr, summary }) => stdout + stderr + summary).join('');
  for (const secret of [SECRET_KEY, Buffer.from(`${keys['public-key']}:${SECRET_KEY}`).toString('base64')]) {
    expect(outputs.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain(secret);
  }
});
