import { expect, test } from 'vitest';
import { startFront, type Front } from '../support/front.ts';
import { promptText } from '../support/prompts.ts';
import { KEY, OTHER_KEY, startTestService } from '../support/service.ts';
import { makeTeam, type Team } from './team.ts';

type Regions = { readonly team: Team; readonly eu: Front; readonly us: Front };

const BY_VARIABLES = {
  inputs: { 'base-url': '', 'api-key': '' },
  environment: { EU_KEY: KEY, US_KEY: OTHER_KEY },
};

function configOf(eu: Front, us: Front): string {
  return [
    'services:',
    `  eu: { base_url: "${eu.baseUrl}", api_key_env: EU_KEY }`,
    `  us: { base_url: "${us.baseUrl}", api_key_env: US_KEY }`,
    'prompts: [{ pattern: prompts/greeting.md, service: eu }, { pattern: prompts/tax.md, service: us }]\n',
  ].join('\n');
}

/** A team with one prompt in each of two services. */
async function makeRegions(): Promise<Regions> {
  const team = await makeTeam({ greeting: {}, tax: {} });
  const eu = await startFront({ target: team.service.baseUrl });
  const us = await startFront({ target: (await startTestService(['tax'], OTHER_KEY)).baseUrl });
  team.pushMain({ 'promptsync.yaml': configOf(eu, us) });
  return { team, eu, us };
}

const changes = (text: string) => ({
  'prompts/greeting.md': promptText('greeting', { text }),
  'prompts/tax.md': promptText('tax', { text }),
});

/** What came with which key. */
function callsOf({ requests }: Front): readonly string[] {
  const calls = requests.map(({ path, key }) => `${/prm_[a-z]+/.exec(path)?.[0]} ${key}`);
  return [...new Set(calls)];
}

test('Review and apply ask each service with its own key', async () => {
  const { team, eu, us } = await makeRegions();
  team.push('change', changes('Other'));
  const pull = team.openPull('change');
  const reviewed = await team.runPull(pull, BY_VARIABLES);
  expect(reviewed).toMatchObject({ exitCode: 0, outputs: { 'plan-digest': expect.stringMatching(/^sha256:/) } });
  expect(await team.runPush(team.mergePull(pull), BY_VARIABLES)).toMatchObject({ exitCode: 0 });
  expect([callsOf(eu), callsOf(us)]).toEqual([[`prm_greeting ${KEY}`], [`prm_tax ${OTHER_KEY}`]]);
  expect(team.github.comments(1)[0]?.body).toContain(`eu: ${eu.baseUrl}, us: ${us.baseUrl}`);
});

test('A pull request that moves one of several services sends no key anywhere', async () => {
  const { team, eu, us } = await makeRegions();
  const thief = await startFront({});
  team.push('change', { ...changes('Other'), 'promptsync.yaml': configOf(eu, thief) });
  const ran = await team.runPull(team.openPull('change'), BY_VARIABLES);
  expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'plan-digest': '' } });
  expect([eu.requests, us.requests, thief.requests]).toEqual([[], [], []]);
});

test.each<[string, Readonly<Record<string, string>>, string]>([
  ['base-url', { 'api-key': '' }, 'config/base-url-of-which'],
  ['api-key', { 'base-url': '' }, 'config/key-of-which'],
])('The input %s is refused, as it could mean any of them', async (_, inputs, code) => {
  const { team, eu, us } = await makeRegions();
  const commit = team.pushMain(changes('Other'));
  const ran = await team.runPush(commit, { ...BY_VARIABLES, inputs });
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid' } });
  expect(ran.summary).toContain(code);
  expect([eu.requests, us.requests]).toEqual([[], []]);
});
