import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import { SECRET_KEY, startLangfuse } from '../../doubles/langfuse-server.ts';
import { makeTeam } from '../../forges/github/team.ts';
import { CONFIG, promptText } from '../../support/prompts.ts';

const NAME = 'prm_greeting';

/** Returns the prompt file of the greeting. Its name in Langfuse is its id. */
const greets = (text: string) => ({
  'prompts/greeting.md': promptText('greeting', { key: NAME, name: NAME, text }),
});

/** Makes a Langfuse whose version 1 has a config and these labels, and a team that uses it. */
async function makeLangfuseTeam(labels: readonly string[]) {
  const langfuse = await startLangfuse();
  langfuse.store.addVersion(NAME, { text: 'One.', labels, config: { model: 'gpt-5' } });
  const config = `service: { provider: langfuse, base_url: "${langfuse.baseUrl}" }\n${CONFIG}`;
  const team = await makeTeam({ greeting: { key: NAME, name: NAME, text: 'One.' } }, config);
  const publicKey = langfuse.environment.LANGFUSE_PUBLIC_KEY;
  const keys = { 'base-url': langfuse.baseUrl, 'api-key': SECRET_KEY, 'public-key': publicKey };
  const credential = Buffer.from(`${publicKey}:${SECRET_KEY}`).toString('base64');
  return { langfuse, team, keys, credential };
}

test('With Langfuse, the action reviews a pull request with or without API keys, applies the merged changes, and hides the keys', async () => {
  const { langfuse, team, keys, credential } = await makeLangfuseTeam(['staging']);
  const keyless = await team.review(greets('Two.'), { keyless: true }, { repository: 'eve/prompts' });
  expect(keyless).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  expect(langfuse.requests).toEqual([]);

  const reviewed = await team.review(greets(`Send ${credential}.`), { inputs: keys });
  expect(reviewed.stdout).toContain('Plan: 1 of 1 prompt changes (1 new version, 1 activation).');
  expect(reviewed.summary).toContain('Send [redacted].');
  expect(langfuse.takeWrites()).toEqual([]);
  const masks = [...reviewed.stdout.matchAll(/^::add-mask::(.+)$/gm)].map(([, mask = '']) => mask);
  expect(masks.some((mask) => credential.includes(mask))).toBe(true);

  const commit = team.mergePull(team.openPull('change'), 'squash');
  const applied = await team.runPush(commit, { inputs: { ...keys, 'require-reviewed-plan': 'true' } });
  expect(applied).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
  expect(langfuse.takeWrites()).toEqual([`POST ${NAME} [staging]`]);
  expect(langfuse.store.serves(NAME, 'staging')).toMatchObject({ version: 2, config: { model: 'gpt-5' } });

  const outputs = [keyless, reviewed, applied].map(({ stdout, stderr, summary }) => stdout + stderr + summary).join('');
  for (const secret of [SECRET_KEY, credential]) {
    expect(outputs.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain(secret);
    expect(JSON.stringify(team.github.requests)).not.toContain(secret);
  }
});

/**
 * Makes a merged pull request that changes the text to `Two!`. Its review said that the new version keeps the metadata
 * of version 1, which has these labels. `apply` applies the merge and requires a reviewed plan, after somebody has added
 * a version. If the action refuses, deletes the version.
 */
async function mergeReviewed(labels: readonly string[]) {
  const { langfuse, team, keys } = await makeLangfuseTeam(labels);
  const reviewed = await team.review(greets('Two!'), { inputs: keys });
  expect(reviewed.stdout).toContain('(keeps the metadata of v1)');
  const commit = team.mergePull(team.openPull('change'), 'squash');
  langfuse.takeWrites();
  return {
    langfuse,
    apply: async (text: string, config: JsonObject) => {
      langfuse.store.addVersion(NAME, { text, config });
      const { outputs, stdout } = await team.runPush(commit, { inputs: { ...keys, 'require-reviewed-plan': 'true' } });
      if (outputs['failure-reason'] !== '') langfuse.store.deleteVersion(NAME, 2);
      return { reason: outputs['failure-reason'], stdout, writes: langfuse.takeWrites() };
    },
  };
}

const EVIL = { model: 'evil' };

test('The action does not create a version if it would inherit the config of a version added after the review', async () => {
  const { apply } = await mergeReviewed([]);
  const planned = await apply('Anything.', EVIL);
  expect(planned).toMatchObject({ reason: 'refused', writes: [] });
  expect(planned.stdout).toContain('has not been reviewed');
});

test('The action activates an existing version with the reviewed text only if it has exactly the reviewed config', async () => {
  const { apply } = await mergeReviewed(['staging']);
  const planned = await apply('Two!', EVIL);
  expect(planned).toMatchObject({ reason: 'refused', writes: [] });
  expect(planned.stdout).toContain('has not been reviewed');
  const same = await apply('Two!', { model: 'gpt-5' });
  expect(same).toMatchObject({ reason: '', writes: [`PATCH ${NAME} v2 [staging]`] });
});
