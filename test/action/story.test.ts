import { expect, test } from 'vitest';
import { promptText } from '../support/prompts.ts';
import { makeTeam } from './team.ts';

const both = { staging: 'latest', production: 1 };

test('A pull request is opened, pushed to again, and merged', async () => {
  const team = await makeTeam({ greeting: { text: 'Hello {{name}}.' }, farewell: {} });
  const { github, service } = team;
  const first = team.push('main', {}, 'Add the action');
  expect((await team.runPush(first)).outputs['failure-reason']).toBe('');
  service.takeWrites();

  team.push('change', { 'prompts/greeting.md': promptText('greeting', { pins: both, text: 'Hi {{name}}.' }) });
  const opened = await team.runPull(team.openPull('change'));
  console.log(opened.stdout, opened.summary, github.comments(1), opened.outputs);
  team.push('change', { 'prompts/greeting.md': promptText('greeting', { pins: both, text: 'Hi {{name}} and {{you}}.' }) });
  const pull = team.openPull('change');
  const pushed = await team.runPull(pull);
  console.log(pushed.stdout, github.comments(1), pushed.stderr);
  const merged = team.mergePull(pull);
  const applied = await team.runPush(merged, { inputs: { 'require-reviewed-plan': 'true' } });
  console.log(applied);
});
