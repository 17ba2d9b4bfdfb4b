import { expect, test } from 'vitest';
import { promptText } from '../../support/prompts.ts';
import type { TestService } from '../../support/service.ts';
import { splitSections } from './support.ts';
import { makeTeam, type Edits } from './team.ts';

const CONFIG = `prompts: ["prompts/**/*.md"]
environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

const writeGreeting = (text: string, production = 1): Edits => ({
  'prompts/greeting.md': promptText('greeting', { text, pins: { staging: 'latest', production } }),
});

/** Makes a team whose greeting is at v2 in staging and at v1 in production. */
async function makeTeamWithTwoJobs() {
  const team = await makeTeam({ greeting: { text: 'One.' } }, CONFIG);
  for (const edits of [{}, writeGreeting('One.'), writeGreeting('Two.')]) {
    expect(await team.runPush(team.pushMain(edits))).toMatchObject({ exitCode: 0 });
  }
  team.service.takeWrites();
  /** Runs the apply job of an environment. Returns the reason if it fails. */
  const apply = async (environments: string, commit: string) => {
    const inputs = { environments, 'require-reviewed-plan': 'true' };
    return (await team.runPush(commit, { inputs })).outputs['failure-reason'];
  };
  /** Returns the only comment of a pull request, split into the part of each environment. */
  const readComment = (number = 1) => {
    const [comment, ...others] = team.github.comments(number);
    expect(others).toEqual([]);
    return splitSections(comment?.body);
  };
  return { ...team, apply, readComment };
}

/** Returns the text of the greeting that each environment serves. */
function readServed({ store }: TestService) {
  const read = (environment: string) => store.readPrompt('prm_greeting', environment)?.active_version?.content;
  return { staging: read('staging'), production: read('production') };
}

test('The jobs of two environments apply the same commit and report in one comment, and an outdated job is superseded', async () => {
  const team = await makeTeamWithTwoJobs();
  await team.review(writeGreeting('Two.', 2));
  const pull = team.openPull('change');
  const checks = team.github.checks(pull.head);
  const reviewed = team.readComment();
  expect(reviewed.production).toContain('production: 1 prompt\n');
  expect(team.service.takeWrites()).toEqual([]);
  const first = team.mergePull(pull);
  expect(await team.apply('staging', first)).toBe('');
  expect(team.readComment().production).toBe(reviewed.production);

  team.push('next', writeGreeting('Three.', 2));
  const next = team.openPull('next');
  await team.runPull(next);
  const second = team.mergePull(next);
  expect(await team.apply('staging', second)).toBe('');
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'One.' });
  expect(team.readComment(2).staging).toContain('staging: applied, ');
  team.service.takeWrites();

  expect(await team.apply('production', first)).toBe('superseded');
  expect(team.service.takeWrites()).toEqual([]);
  expect(team.readComment().production).toMatch(/^production: superseded, /);
  expect(team.readComment().production).not.toContain('guard/promotion-order');

  expect(await team.apply('production', second)).toBe('');
  expect(readServed(team.service)).toEqual({ staging: 'Three.', production: 'Two.' });
  const done = team.readComment(2);
  expect(done.staging).toContain('staging: applied, ');
  expect(done.production).toContain('production: applied, ');
  expect(team.github.checks(pull.head)).toEqual(checks);
});

test('A production job without an API key or for an unknown environment keeps the staging section in the comment', async () => {
  const team = await makeTeamWithTwoJobs();
  await team.review(writeGreeting('Three.', 2));
  const commit = team.mergePull(team.openPull('change'));
  expect(await team.apply('staging', commit)).toBe('');
  const { staging } = team.readComment();
  expect(staging).toContain('staging: applied, ');
  for (const inputs of [{ environments: 'production', 'api-key': '' }, { environments: 'prodution' }]) {
    expect(await team.runPush(commit, { inputs })).toMatchObject({ exitCode: 1 });
    expect(team.readComment().staging.trim()).toContain(staging.trim().slice(0, 200));
    expect(team.github.comments(1)[0]?.body).toContain(`#### ${inputs.environments}`);
  }
});
