import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXAMPLE } from '../../support/folder.ts';
import { makeScheduler } from '../../support/github-workflow.ts';
import { promptText } from '../../support/prompts.ts';
import type { TestService } from '../../support/service.ts';
import { splitSections } from './support.ts';
import { makeTeam, type Edits } from './team.ts';

const CONFIG = `prompts: ["prompts/**/*.md"]
environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

const WORKFLOW = readFileSync(join(EXAMPLE, '.github/workflows/promptsync-apply.yml'), 'utf8');

/** The key of each environment. The service accepts both. */
const KEYS = { staging: 'sk-staging-0123456789', production: 'sk-production-0123456789' };

const SECRETS = {
  staging: { PROMPTSYNC_API_KEY: KEYS.staging },
  production: { PROMPTSYNC_API_KEY: KEYS.production },
};

const writeGreeting = (text: string, production = 1): Edits => ({
  'prompts/greeting.md': promptText('greeting', { text, pins: { staging: 'latest', production } }),
});

/** Makes a team whose greeting is at v2 in staging and at v1 in production. Production has required reviewers. */
async function makeTeamWithReviewers() {
  const team = await makeTeam({ greeting: { text: 'One.' } }, CONFIG);
  for (const apiKey of Object.values(KEYS)) team.service.store.authorizeKey({ apiKey, projectId: 'project' });
  for (const edits of [{}, writeGreeting('One.'), writeGreeting('Two.')]) {
    expect(await team.runPush(team.pushMain(edits))).toMatchObject({ exitCode: 0 });
  }
  team.service.takeWrites();
  /** The environments of each job that has ended, and the reason if it failed. */
  const ended: string[] = [];
  const scheduler = makeScheduler(WORKFLOW, {
    protectedEnvironments: ['production'],
    secrets: SECRETS,
    runStep: async (commit, inputs) => {
      const { exitCode, outputs } = await team.runPush(commit, { inputs });
      ended.push(`${inputs['environments']} ${outputs['failure-reason'] || 'succeeded'}`);
      return exitCode;
    },
  });
  /** Returns the only comment of a pull request, split into the part of each environment. */
  const readComment = (number = 1) => {
    const [comment, ...others] = team.github.comments(number);
    expect(others).toEqual([]);
    return splitSections(comment?.body);
  };
  return { ...team, startRun: scheduler.push, ended, readComment };
}

/** Returns the text of the greeting that each environment serves. */
function readServed({ store }: TestService) {
  const read = (environment: string) => store.readPrompt('prm_greeting', environment)?.active_version?.content;
  return { staging: read('staging'), production: read('production') };
}

test('Merges are applied to staging at once and to production after an approval, and an outdated approval is superseded', async () => {
  const team = await makeTeamWithReviewers();
  await team.review(writeGreeting('Two.', 2));
  const pull = team.openPull('change');
  const checks = team.github.checks(pull.head);
  const reviewed = team.readComment();
  expect(reviewed.production).toContain('production: 1 prompt\n');
  expect(team.service.takeWrites()).toEqual([]);
  const first = await team.startRun(team.mergePull(pull));
  expect(first.statuses()).toEqual({ staging: 'success', production: 'waiting' });
  expect(team.readComment().production).toBe(reviewed.production);

  team.push('next', writeGreeting('Three.', 2));
  const next = team.openPull('next');
  await team.runPull(next);
  const second = await team.startRun(team.mergePull(next));
  expect(second.statuses()).toEqual({ staging: 'success', production: 'waiting' });
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'One.' });
  expect(team.readComment(2).staging).toContain('staging: applied, ');
  team.service.takeWrites();

  await first.approve('production');
  expect(first.statuses()).toEqual({ staging: 'success', production: 'failure' });
  expect(team.service.takeWrites()).toEqual([]);
  expect(team.readComment().production).toMatch(/^production: superseded, /);
  expect(team.readComment().production).not.toContain('guard/promotion-order');

  await second.approve('production');
  expect(second.statuses()).toEqual({ staging: 'success', production: 'success' });
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'Two.' });
  const done = team.readComment(2);
  expect(done.staging).toContain('staging: applied, ');
  expect(done.production).toContain('production: applied, ');
  expect(team.github.checks(pull.head)).toEqual(checks);
  expect(team.ended).toEqual([
    ...['staging succeeded', 'staging succeeded'],
    ...['production superseded', 'production succeeded'],
  ]);
});

test('A production job without an API key or for an unknown environment keeps the staging section in the comment', async () => {
  const team = await makeTeamWithReviewers();
  await team.review(writeGreeting('Three.', 2));
  const commit = team.mergePull(team.openPull('change'));
  expect(await team.runPush(commit, { inputs: { environments: 'staging' } })).toMatchObject({ exitCode: 0 });
  const { staging } = team.readComment();
  expect(staging).toContain('staging: applied, ');
  for (const inputs of [{ environments: 'production', 'api-key': '' }, { environments: 'prodution' }]) {
    expect(await team.runPush(commit, { inputs })).toMatchObject({ exitCode: 1 });
    expect(team.readComment().staging.trim()).toContain(staging.trim().slice(0, 200));
    expect(team.github.comments(1)[0]?.body).toContain(`#### ${inputs.environments}`);
  }
});
