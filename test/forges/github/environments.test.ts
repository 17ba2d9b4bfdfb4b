import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXAMPLE } from '../../support/folder.ts';
import { makeScheduler } from '../../support/github-workflow.ts';
import { promptText } from '../../support/prompts.ts';
import type { TestService } from '../../support/service.ts';
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
    const visible = comment?.body.replaceAll(/^<!-- .* -->\n/gm, '') ?? '';
    const parts = visible.split(/^#### (?=production|staging)/m);
    const findPart = (name: string) => parts.find((part) => part.startsWith(name)) ?? '';
    return { staging: findPart('staging'), production: findPart('production') };
  };
  return { ...team, startRun: scheduler.push, ended, readComment };
}

/** Returns the text of the greeting that each environment serves. */
function readServed({ store }: TestService) {
  const read = (environment: string) => store.readPrompt('prm_greeting', environment)?.active_version?.content;
  return { staging: read('staging'), production: read('production') };
}

const PLANNED = { staging: 'staging: 1 prompt\n', production: 'production: 1 prompt\n' };
const APPLIED = { staging: 'staging: applied, ', production: 'production: applied, ' };

test('A merge is applied to staging at once and to production after its approval, and the comment shows each step', async () => {
  const team = await makeTeamWithReviewers();
  await team.review(writeGreeting('Three.', 2));
  const pull = team.openPull('change');
  const checks = team.github.checks(pull.head);
  expect(checks).toMatchObject([{ name: 'promptsync', conclusion: 'success' }]);
  const reviewed = team.readComment();
  expect(reviewed.staging).toContain(PLANNED.staging);
  expect(reviewed.production).toContain(PLANNED.production);
  expect(team.service.takeWrites()).toEqual([]);

  const run = await team.startRun(team.mergePull(pull));
  expect(run.statuses()).toEqual({ staging: 'success', production: 'waiting' });
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'One.' });
  expect(team.service.takeWrites()).toEqual([
    'POST prm_greeting versions',
    'set-active prm_greeting promptsync',
    'set-active prm_greeting staging',
  ]);
  const waiting = team.readComment();
  expect(waiting.staging).toContain(APPLIED.staging);
  expect(waiting.production).toBe(reviewed.production);
  expect(team.github.checks(pull.head)).toEqual(checks);

  await run.approve('production');
  expect(run.statuses()).toEqual({ staging: 'success', production: 'success' });
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'Two.' });
  expect(team.service.takeWrites()).toContain('set-active prm_greeting production');
  const done = team.readComment();
  expect(done.staging).toContain(APPLIED.staging);
  expect(done.production).toContain(APPLIED.production);
  expect(team.github.checks(pull.head)).toEqual(checks);
});

test("If main moves on before a production job is approved, the job ends as superseded, and the newer commit's job applies both merges", async () => {
  const team = await makeTeamWithReviewers();
  await team.review(writeGreeting('Two.', 2));
  const first = await team.startRun(team.mergePull(team.openPull('change')));
  expect(first.statuses()).toEqual({ staging: 'success', production: 'waiting' });

  team.push('next', writeGreeting('Three.', 2));
  const next = team.openPull('next');
  await team.runPull(next);
  const second = await team.startRun(team.mergePull(next));
  expect(second.statuses()).toEqual({ staging: 'success', production: 'waiting' });
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'One.' });
  team.service.takeWrites();

  await first.approve('production');
  expect(first.statuses()).toEqual({ staging: 'success', production: 'failure' });
  expect(team.service.takeWrites()).toEqual([]);
  expect(team.readComment().production).toMatch(/^production: superseded, /);
  expect(team.readComment().production).not.toContain('guard/promotion-order');

  await second.approve('production');
  expect(second.statuses()).toEqual({ staging: 'success', production: 'success' });
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'Two.' });
  expect(team.ended).toEqual([
    ...['staging succeeded', 'staging succeeded'],
    ...['production superseded', 'production succeeded'],
  ]);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['that has no API key', { environments: 'production', 'api-key': '' }],
  ['that names an unknown environment', { environments: 'prodution' }],
])('A production job %s keeps the staging section in the comment', async (_, inputs) => {
  const team = await makeTeamWithReviewers();
  await team.review(writeGreeting('Three.', 2));
  const commit = team.mergePull(team.openPull('change'));
  expect(await team.runPush(commit, { inputs: { environments: 'staging' } })).toMatchObject({ exitCode: 0 });
  const { staging } = team.readComment();
  expect(staging).toContain(APPLIED.staging);
  expect(await team.runPush(commit, { inputs })).toMatchObject({ exitCode: 1 });
  expect(team.readComment().staging.trim()).toContain(staging.trim().slice(0, 200));
  expect(team.github.comments(1)[0]?.body).toContain('#### prod');
});
