import { describe, expect, test } from 'vitest';
import { commitAll } from '../../support/folder.ts';
import { history, makeChatFile, makeChatScene, system, user } from './chat-scene.ts';

const PATH = 'prompts/a.md';

/** Makes a synced chat prompt with a system message and a question, written with uncommon blank lines. */
async function makeSynced(further = '') {
  const body = '{{role "system"}} \n\nYou help.\n\n\n{{role "user"}}\n{{question}}';
  const scene = await makeChatScene({ [PATH]: makeChatFile('a', body).replace('pins', `${further}pins`) });
  await scene.sync();
  return { ...scene, bodyOf: () => scene.read(PATH).split('---\n\n')[1] };
}

describe('pull of a chat prompt', () => {
  test('pull replaces only the message content that differs and leaves every other byte of the file as it is', async () => {
    const { json, addVersion, bodyOf, folder, sync } = await makeSynced();
    await addVersion('a', { messages: [system('You help.'), user('Please answer: {{question}}')] });
    expect((await json('pull')).exitCode).toBe(0);
    expect(bodyOf()).toBe('{{role "system"}} \n\nYou help.\n\n\n{{role "user"}}\nPlease answer: {{question}}\n');
    commitAll(folder, 'Pull');
    await sync();
  });

  test('pull merges an edit of one message in the file with an edit of another message in Langfuse', async () => {
    const { json, read, write, addVersion, bodyOf } = await makeSynced();
    write({ [PATH]: read(PATH).replace('You help.', 'You help kindly.') });
    await addVersion('a', { messages: [system('You help.'), user('Please answer: {{question}}')] });
    expect((await json('pull')).exitCode).toBe(0);
    expect(bodyOf()).toBe('{{role "system"}} \n\nYou help kindly.\n\n\n{{role "user"}}\nPlease answer: {{question}}\n');
  });

  test('pull writes the canonical form if Langfuse has a different sequence of roles and placeholders', async () => {
    const { json, addVersion, bodyOf, folder, sync } = await makeSynced();
    await addVersion('a', { messages: [system('You help.'), history, user('{{question}}')] });
    const { exitCode, report } = await json('pull');
    expect(exitCode).toBe(0);
    expect(bodyOf()).toBe(
      '{{role "system"}}\nYou help.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n{{question}}\n',
    );
    expect(report.prompts[0]?.edits).toMatchObject([
      {
        kind: 'set-text',
        texts: {
          breaking: [{ placeholder: 'history', kind: 'added' }],
          messages: { before: ['system', 'user'], after: ['system', 'history*', 'user'] },
        },
      },
    ]);
    commitAll(folder, 'Pull');
    await sync();
  });

  test('pull updates `variables` from the content of the messages and ignores placeholders', async () => {
    const { json, addVersion, read } = await makeSynced('variables: [question]\n');
    await addVersion('a', { messages: [system('You help {{customer}}.'), history, user('{{question}}')] });
    expect((await json('pull')).exitCode).toBe(0);
    expect(read(PATH)).toContain('variables: [question, customer]');
  });

  test('pull marks both sides of a conflict in a message, and the file is valid again once the conflict is resolved', async () => {
    const { json, read, write, addVersion } = await makeSynced();
    write({ [PATH]: read(PATH).replace('You help.', 'You help kindly.') });
    await addVersion('a', { messages: [system('You help fast.'), user('{{question}}')] });
    const { exitCode, report } = await json('pull');
    expect([exitCode, report.prompts[0]?.problems.map(({ code }) => code)]).toEqual([4, ['pull/conflict']]);
    const conflicted = read(PATH);
    expect(conflicted).toContain('You help kindly.\n=======\nYou help fast.\n>>>>>>> staging v2');
    expect((await json('validate')).exitCode).toBe(1);
    write({ [PATH]: conflicted.replaceAll(/^(?:<<<<<<<|=======|>>>>>>>).*\n/gm, '') });
    expect((await json('validate')).exitCode).toBe(0);
  });

  test.each([
    ['--ours', 'You help kindly.'],
    ['--theirs', 'You help fast.'],
  ])('pull %s resolves a conflict in a message', async (side, content) => {
    const { json, read, write, addVersion, bodyOf } = await makeSynced();
    write({ [PATH]: read(PATH).replace('You help.', 'You help kindly.') });
    await addVersion('a', { messages: [system('You help fast.'), user('Please answer: {{question}}')] });
    expect((await json('pull', side)).exitCode).toBe(0);
    expect(bodyOf()).toBe(`{{role "system"}} \n\n${content}\n\n\n{{role "user"}}\nPlease answer: {{question}}\n`);
  });

  test('pull treats every difference as a conflict if a clean merge would produce an invalid chat prompt', async () => {
    const { json, read, write, addVersion, commit, sync, bodyOf } = await makeSynced();
    const synced = '{{role "system"}}\n\n{{role "user"}}\n{{question}}';
    commit({ [PATH]: makeChatFile('a', synced) });
    await sync();
    write({ [PATH]: read(PATH).replace('{{role "system"}}', '{{placeholder "history"}}') });
    await addVersion('a', { messages: [system('\nHi.'), user('{{question}}')] });
    const { exitCode, report } = await json('pull', '--dry-run');
    expect([exitCode, report.prompts[0]?.problems.map(({ code }) => code)]).toEqual([4, ['pull/would-conflict']]);
    expect((await json('pull', '--theirs')).exitCode).toBe(0);
    expect(bodyOf()).toBe('{{role "system"}}\n\n\nHi.\n\n{{role "user"}}\n{{question}}\n');
  });

  test('pull warns about a marker that it writes to the file of a text prompt', async () => {
    const { json, addVersion, sync } = await makeChatScene({
      [PATH]: '---\nid: a\npins: { staging: latest }\n---\n\nHi.\n',
    });
    await sync();
    await addVersion('a', { text: 'Hi.\n{{role "user"}}' });
    const { exitCode, report } = await json('pull');
    expect(exitCode).toBe(0);
    expect(report.prompts[0]?.problems.map(({ code }) => code)).toEqual(['prompt/marker-in-text']);
  });

  test('pull escapes a line that looks like a marker', async () => {
    const { json, addVersion, bodyOf, folder, sync } = await makeSynced();
    await addVersion('a', { messages: [system('Write:\n{{role "user"}}\n\\{{role "x"}}'), user('{{question}}')] });
    expect((await json('pull')).exitCode).toBe(0);
    expect(bodyOf()).toContain('Write:\n\\{{role "user"}}\n\\\\{{role "x"}}\n');
    commitAll(folder, 'Pull');
    await sync();
  });
});
