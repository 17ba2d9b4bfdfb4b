import { expect, test } from 'vitest';
import { git } from '../../support/folder.ts';
import { history, makeScene, system, user } from './scene.ts';

const PATH = 'prompts/agent.md';

const subjectsIn = (folder: string) => git(folder, 'log', '--format=%s', '--reverse').split('\n').slice(1);

test('import --commit also commits the messages and texts of other labels, and the next sync writes nothing', async () => {
  const { folder, json, langfuse, read, addVersion } = await makeScene();
  addVersion('agent', { messages: [system('One.')], labels: ['production'] });
  addVersion('agent', { messages: [system('Two.'), history], labels: ['staging'] });
  addVersion('greeting', { text: 'Two.', labels: ['staging'] });
  addVersion('greeting', { text: 'Hotfix.', labels: ['production'], config: [1, 2] });
  addVersion('unwritable', { messages: [], labels: ['production'] });
  addVersion('unwritable', { messages: [user('Hi.')], labels: ['staging'] });
  const { exitCode, stderr } = await json('import', '*', '--commit');
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(
    /^No commit contains the text of "unwritable" that the label "production" serves \(v1\): .*has no messages/m,
  );
  expect(subjectsIn(folder)).toEqual(['Import prompts as production serves them', 'Import 3 prompts']);
  expect(git(folder, 'show', `HEAD~1:${PATH}`)).toBe(
    '---\nid: agent\ntype: chat\npins:\n  staging: 2\n  production: 1\n---\n\n{{role "system"}}\nOne.',
  );
  expect(read(PATH)).toContain('pins:\n  staging: latest\n  production: 1\n');
  langfuse.requests.length = 0;
  expect((await json('sync', '--yes')).exitCode).toBe(0);
  expect(langfuse.takeWrites()).toEqual([]);
});
