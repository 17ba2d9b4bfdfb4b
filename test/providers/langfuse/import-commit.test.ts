import { describe, expect, test } from 'vitest';
import { git } from '../../support/folder.ts';
import { history, makeChatScene, system, user } from './chat-scene.ts';

const PATH = 'prompts/agent.md';

/** Makes a chat prompt and a text prompt. In each of them, the labels `staging` and `production` name different versions. */
async function makeServed() {
  const scene = await makeChatScene();
  const { addVersion } = scene;
  await addVersion('agent', { messages: [system('One.')], labels: ['production'] });
  await addVersion('agent', { messages: [system('Two.'), history], labels: ['staging'] });
  await addVersion('greeting', { text: 'One.', labels: ['production'], config: [1, 2] });
  await addVersion('greeting', { text: 'Two.\n\nBody.\n\nEnd.', labels: ['staging'] });
  return scene;
}

const subjectsIn = (folder: string) => git(folder, 'log', '--format=%s', '--reverse').split('\n').slice(1);

describe('import --commit from Langfuse', () => {
  test('import --commit also commits the messages and texts of other labels, and the next sync writes nothing', async () => {
    const { folder, json, langfuse, read } = await makeServed();
    expect((await json('import', '*', '--commit')).exitCode).toBe(0);
    expect(subjectsIn(folder)).toEqual(['Import prompts as production serves them', 'Import 2 prompts']);
    expect(git(folder, 'show', `HEAD~1:${PATH}`)).toBe(
      '---\nid: agent\ntype: chat\npins:\n  staging: 2\n  production: 1\n---\n\n{{role "system"}}\nOne.',
    );
    expect(read(PATH)).toContain('pins:\n  staging: latest\n  production: 1\n');
    langfuse.requests.length = 0;
    expect((await json('sync', '--yes')).exitCode).toBe(0);
    expect(langfuse.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('import --commit imports a prompt and prints a notice if no file can hold the messages of another label', async () => {
    const { folder, json, addVersion } = await makeChatScene();
    await addVersion('agent', { messages: [], labels: ['production'] });
    await addVersion('agent', { messages: [user('Hi.')], labels: ['staging'] });
    const { exitCode, stderr, report } = await json('import', '*', '--commit');
    expect({ exitCode, status: report.prompts[0]?.status }).toEqual({ exitCode: 0, status: 'applied' });
    expect(stderr).toMatch(
      /^No commit contains the text of "agent" that the label "production" serves \(v1\): .*has no messages/m,
    );
    expect(subjectsIn(folder)).toEqual(['Import 1 prompt']);
  });

  test('For a Langfuse prompt, history does not guess which versions are older than the adoption', async () => {
    const { json } = await makeServed();
    await json('import', '*', '--commit');
    await json('sync', '--yes');
    const { report } = await json('history', 'greeting');
    const versions = report.prompts[0]?.history?.versions ?? [];
    expect(versions.map(({ made_by: by, created_by: creator }) => [by, creator !== undefined])).toEqual([
      ['unknown', true],
      ['unknown', true],
    ]);
  });

  test.each([
    [
      'pull right after import --commit writes a hot fix in staging to the file, even if all labels were on the same version',
      'staging',
    ],
    [
      'pull right after import --commit writes a hot fix in production to the file, even if all labels were on the same version',
      'production',
    ],
  ])('%s', async (_, label) => {
    const { json, read, addVersion } = await makeChatScene();
    await addVersion('greeting', { text: 'One.\n\nBody.', labels: ['staging', 'production'] });
    await json('import', '*', '--commit');
    await addVersion('greeting', { text: 'One!\n\nBody.', labels: [label] });
    const { exitCode, report } = await json('pull');
    expect({ exitCode, problems: report.prompts[0]?.problems }).toEqual({ exitCode: 0, problems: [] });
    expect(read('prompts/greeting.md')).toContain('\n\nOne!\n\nBody.\n');
  });

  test('pull writes an edit that was made in Langfuse to the file, even if a commit holds a newer text that belongs to another label', async () => {
    const { folder, json, read, addVersion } = await makeChatScene();
    await addVersion('greeting', { text: 'Two.\n\nBody.\n\nEnd.', labels: ['staging'] });
    await addVersion('greeting', { text: 'Hotfix.', labels: ['production'] });
    await json('import', '*', '--commit');
    expect(subjectsIn(folder)).toHaveLength(2);
    await addVersion('greeting', { text: 'Two!\n\nBody.\n\nEnd.', labels: ['staging'] });
    const { exitCode } = await json('pull');
    expect(exitCode).toBe(0);
    expect(read('prompts/greeting.md')).toContain('\n\nTwo!\n\nBody.\n\nEnd.\n');
  });
});
