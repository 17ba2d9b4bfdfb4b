import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.ts';
import { SECRET_KEY, startLangfuse } from '../../doubles/langfuse-server.ts';
import type { LangfuseEdit, LangfuseStore } from '../../doubles/langfuse-store.ts';
import { makeTeam } from '../../forges/github/team.ts';
import { startFront } from '../../support/front.ts';
import { CONFIG, promptText } from '../../support/prompts.ts';

const NAME = 'prm_greeting';

/** Returns the prompt file of the greeting. Its name in Langfuse is its id. */
const greets = (text: string) => ({
  'prompts/greeting.md': promptText('greeting', { key: NAME, name: NAME, text }),
});

test('With Langfuse, the action reviews a pull request with or without API keys and applies the merged changes', async () => {
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
  expect(reviewed.stdout).toContain('Plan: 1 of 1 prompt changes (1 new version, 1 activation).');
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

test('The action hides the Basic credential for Langfuse and asks the runner to mask it', async () => {
  const langfuse = await startLangfuse();
  const publicKey = langfuse.environment.LANGFUSE_PUBLIC_KEY;
  const credential = Buffer.from(`${publicKey}:${SECRET_KEY}`).toString('base64');
  const config = `service: { provider: langfuse, base_url: "${langfuse.baseUrl}" }\n${CONFIG}`;
  const team = await makeTeam({ greeting: { key: NAME, name: NAME, text: 'One.' } }, config);
  const inputs = { 'base-url': langfuse.baseUrl, 'api-key': SECRET_KEY, 'public-key': publicKey };
  const { stdout, stderr, summary } = await team.review(greets(`Send ${credential}.`), { inputs });
  expect(summary).toContain('Send [redacted].');
  expect(stdout + stderr + summary + JSON.stringify(team.github.requests)).not.toContain(credential);
  const masks = [...stdout.matchAll(/^::add-mask::(.+)$/gm)].map(([, mask = '']) => mask);
  expect(masks.some((mask) => credential.includes(mask))).toBe(true);
});

const REVIEWED_CONFIG = { model: 'gpt-5' };
const EVIL_CONFIG = { model: 'evil' };

/**
 * Makes a merged pull request that changes the text to `Two!`. Its review said that the new version keeps the metadata
 * of version 1, which has these labels. `apply` applies the merge and requires a reviewed plan.
 */
async function mergeReviewed(labels: readonly string[]) {
  const langfuse = await startLangfuse();
  langfuse.store.addVersion(NAME, { text: 'One.', labels, config: REVIEWED_CONFIG });
  const config = `service: { provider: langfuse, base_url: "${langfuse.baseUrl}" }\n${CONFIG}`;
  const team = await makeTeam({ greeting: { key: NAME, name: NAME, text: 'One.' } }, config);
  const publicKey = langfuse.environment.LANGFUSE_PUBLIC_KEY;
  const keys = { 'api-key': SECRET_KEY, 'public-key': publicKey, 'require-reviewed-plan': 'true' };
  const reviewed = await team.review(greets('Two!'), { inputs: { ...keys, 'base-url': langfuse.baseUrl } });
  expect(reviewed.stdout).toContain('(keeps the metadata of v1)');
  const commit = team.mergePull(team.openPull('change'), 'squash');
  langfuse.takeWrites();
  const apply = async (baseUrl = langfuse.baseUrl) => {
    const { outputs, stdout } = await team.runPush(commit, { inputs: { ...keys, 'base-url': baseUrl } });
    return { reason: outputs['failure-reason'], stdout, writes: langfuse.takeWrites() };
  };
  return { langfuse, apply };
}

/** Forwards requests to Langfuse, and makes a change there right before it reads the label for the second time. */
async function startMeddler(langfuse: { readonly baseUrl: string; readonly store: LangfuseStore }, edit: LangfuseEdit) {
  let reads = 0;
  const front = await startFront({
    target: langfuse.baseUrl,
    answer: ({ path }) => {
      if (!path.includes('label=staging')) return null;
      reads += 1;
      if (reads === 2) langfuse.store.addVersion(NAME, edit);
      return null;
    },
  });
  return front.baseUrl;
}

describe('require-reviewed-plan with Langfuse', () => {
  test('The action does not create a version if it would inherit the config of a version added after the review', async () => {
    const { langfuse, apply } = await mergeReviewed([]);
    langfuse.store.addVersion(NAME, { text: 'Anything.', config: EVIL_CONFIG });
    const applied = await apply();
    expect(applied).toMatchObject({ reason: 'refused', writes: [] });
    expect(applied.stdout).toContain('has not been reviewed');
  });

  test('The action does not create a version if it would inherit the config of a version added between planning and writing', async () => {
    const { langfuse, apply } = await mergeReviewed([]);
    const applied = await apply(await startMeddler(langfuse, { text: 'Anything.', config: EVIL_CONFIG }));
    expect(applied).toMatchObject({ reason: 'refused', writes: [] });
    expect(applied.stdout).toContain('guard/stale-plan');
  });

  test.each<[sentence: string, config: JsonValue]>([
    ['The action refuses to activate an existing version with the reviewed text but no config', {}],
    ['The action refuses to activate an existing version with the reviewed text but a different config', EVIL_CONFIG],
    [
      'The action refuses to activate an existing version with the reviewed text but a config that is not a mapping',
      ['evil'],
    ],
    [
      'The action refuses to activate an existing version with the reviewed text but a config with the reserved key promptsync',
      { ...REVIEWED_CONFIG, promptsync: EVIL_CONFIG },
    ],
  ])('%s', async (_, config) => {
    const { langfuse, apply } = await mergeReviewed(['staging']);
    langfuse.store.addVersion(NAME, { text: 'Two!', config });
    const applied = await apply();
    expect(applied).toMatchObject({ reason: 'refused', writes: [] });
    expect(applied.stdout).toContain('has not been reviewed');
  });

  test('The action refuses to apply if somebody creates a version with the reviewed text between planning and writing', async () => {
    const { langfuse, apply } = await mergeReviewed(['staging']);
    const applied = await apply(await startMeddler(langfuse, { text: 'Two!', config: {} }));
    expect(applied).toMatchObject({ reason: 'refused', writes: [] });
    expect(applied.stdout).toContain('guard/stale-plan');
  });

  test('The action activates an existing version with exactly the reviewed text and config', async () => {
    const { langfuse, apply } = await mergeReviewed(['staging']);
    langfuse.store.addVersion(NAME, { text: 'Two!', config: REVIEWED_CONFIG });
    expect(await apply()).toMatchObject({ reason: '', writes: [`PATCH ${NAME} v2 [staging]`] });
  });
});
