import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../src/domain/chat.ts';
import { compareMessages } from '../../../src/domain/text-changes.ts';
import { mergePrompt } from '../../../src/editing/merge-prompt.ts';
import { makeMerger } from '../../../src/git/make-merger.ts';
import { langfuseFileRules } from '../../../src/providers/langfuse/file-rules.ts';
import { LENIENT_SETTINGS, parsePromptFile } from '../../../src/workspace/parse-prompt-file.ts';
import { commitAll, git } from '../../support/folder.ts';
import { history, makeChatFile, makeScene, system, user } from './scene.ts';

/** Chat prompts, each with a property that could get lost on the way to a file and back. */
const CHAT_PROMPTS: Readonly<Record<string, readonly ChatMessage[]>> = {
  'chat/plain': [system('You help {{customer}}.'), user('{{question}}')],
  'chat/placeholders': [system('Be kind.'), history, user('Hi.'), { type: 'placeholder', name: 'examples' }, history],
  'chat/unusual-roles': ['', 'a "b"', 'history*'].map((role) => ({ role, content: `As ${role}.` })),
  'chat/markers': [user('{{role "x"}}\n\\{{placeholder "h"}}\n  {{role \'y\n{{role}}\n{{Role "z"}}')],
  'chat/empty-messages': [system(''), history, user('\n\nBetween blank lines.\r---')],
};
const PATH = 'prompts/chat/plain.md';

test('Chat prompts can be imported, edited and pulled, and every plan after a sync is empty', async () => {
  const { langfuse, store, folder, json, read, commit, sync, addVersion } = await makeScene();
  const labels = ['staging', 'production'];
  for (const [name, messages] of Object.entries(CHAT_PROMPTS)) addVersion(name, { messages, labels });
  addVersion('text/1', { text: 'A text prompt for {{customer}}.', labels });
  addVersion('unwritable', { messages: [system('a\r'), user('b')], labels });

  const imported = await json('import', '**');
  expect(imported).toMatchObject({ exitCode: 3, report: { summary: { prompts: 7, applied: 6, blocked: 1 } } });
  const types = imported.report.prompts.map(({ type }) => type);
  expect(types.filter((type) => type === 'chat')).toHaveLength(6);
  commitAll(folder, 'Import the prompts');
  await sync();
  expect(langfuse.takeWrites()).toEqual([]);

  const added = [system('You kindly help {{customer}}.'), history, user('{{question}}')];
  const edited = read(PATH).replace('You help', 'You kindly help');
  commit({ [PATH]: edited.replace('{{role "user"}}', '{{placeholder "history"}}\n\n{{role "user"}}') }, 'Edit');
  const [prompt] = (await json('plan', 'chat/plain')).report.prompts;
  expect(prompt?.changes.find(({ kind }) => kind === 'set-active')).toMatchObject({
    breaking: [{ placeholder: 'history', kind: 'added' }],
    messages: { before: ['system', 'user'], after: ['system', 'history*', 'user'] },
  });
  await sync();
  expect(store.serves('chat/plain', 'staging')?.text).toEqual(added);
  expect(store.serves('chat/plain', 'production')?.text).toEqual(CHAT_PROMPTS['chat/plain']);

  for (const [name, messages] of Object.entries(CHAT_PROMPTS)) {
    addVersion(name, { messages: [...messages, { role: 'assistant', content: '{{role "done"}}\n' }] });
  }
  expect((await json('pull')).report.summary).toMatchObject({ applied: 5, unchanged: 1 });
  commitAll(folder, 'Pull the edits');
  await sync();
  expect(read('prompts/chat/empty-messages.md')).toContain('\n{{role "assistant"}}\n\\{{role "done"}}\n');
});

test('pull merges one message and keeps every other byte of the file, and refuses messages that a file cannot hold', async () => {
  const body = '{{role "system"}} \n\nYou help.\n\n\n{{role "user"}}\n{{question}}';
  const path = 'prompts/a.md';
  const { json, read, write, addVersion, sync } = await makeScene({ [path]: makeChatFile('a', body) });
  await sync();
  const kind = read(path).replace('You help.', 'You help kindly.');
  write({ [path]: kind });
  addVersion('a', { messages: [system('You help.'), user('Please answer: {{question}}')] });
  expect((await json('pull')).exitCode).toBe(0);
  expect(read(path)).toBe(kind.replace('{{question}}', 'Please answer: {{question}}'));
  write({ [path]: kind });
  addVersion('a', { messages: [system('a\r'), user('b')] });
  const unwritable = await json('pull');
  expect([unwritable.exitCode, unwritable.report.prompts[0]?.problems]).toMatchObject([
    3,
    [{ code: 'pull/not-writable' }],
  ]);
  expect(read(path)).toBe(kind);
});

describe('mergePrompt for a chat prompt', () => {
  const parse = (body: string, further = '') => {
    const source = makeChatFile('a', body).replace('pins', `${further}pins`);
    const { file } = parsePromptFile(Buffer.from(source), 'a.md', { ...LENIENT_SETTINGS, rules: langfuseFileRules });
    return file ?? expect.fail('The file is not valid.');
  };
  /** Merges the service's text into the file. */
  const merge = (base: string, ours: string, theirs: string, side: 'ours' | 'theirs' | null = null, further = '') => {
    const [baseContent, content] = [base, theirs].map((body) => parse(body).content);
    const service = { fields: { key: 'a', name: 'a', description: '' }, baseFile: null };
    return mergePrompt(
      parse(ours, further),
      { ...service, content: content!, baseContents: [baseContent!] },
      { side, labels: { ours: 'mine', theirs: 'yours' }, mergeLines: makeMerger([]) },
    );
  };
  const chat = (first: string, second: string) => `{{role "system"}}\n${first}\n\n{{role "user"}}\n${second}`;

  test('mergePrompt marks both sides of a conflict in one message, and merges the other message', async () => {
    const merged = await merge(chat('Help.', 'Q?'), chat('Kind.', 'Q?'), chat('Fast.', 'Please?'));
    const text = chat('<<<<<<< mine\nKind.\n=======\nFast.\n>>>>>>> yours', 'Please?');
    expect(merged.text).toEqual({ text, conflicts: 1 });
  });

  test('mergePrompt treats every difference as a conflict if a clean merge would produce an invalid chat prompt', async () => {
    const base = '{{role "system"}}\n\n{{role "user"}}\n{{question}}';
    const ours = base.replace('{{role "system"}}', '{{placeholder "history"}}');
    // The content begins with a line break, so git merges the line cleanly below the placeholder.
    const theirs = base.replace('{{role "system"}}', '{{role "system"}}\n\n\nHi.');
    expect((await merge(base, ours, theirs)).text?.conflicts).toBeGreaterThan(0);
    const { text } = await merge(base, ours, theirs, 'theirs');
    expect(text).toEqual({ text: parse(theirs).content.text, conflicts: 0 });
  });

  test('mergePrompt updates `variables` from the content of the messages and ignores placeholders', async () => {
    const base = chat('You help.', '{{question}}');
    const theirs = `{{placeholder "history"}}\n\n${chat('You help {{customer}}.', '{{question}}')}`;
    const { edits } = await merge(base, base, theirs, null, 'variables: [question]\n');
    expect(edits).toContainEqual(expect.objectContaining({ field: 'variables', after: '["question","customer"]' }));
  });
});

test.each<[what: string, before: string, after: string, messages: object | null]>([
  ['A report omits the sequence of messages if only their content changes', '{{role "a"}}\nb', '{{role "a"}}\nc', null],
  [
    'A report writes roles with special characters as JSON strings, so that no role looks like a placeholder',
    '{{role "a"}}',
    '{{role "history*"}}\n\n{{role ""}}\n\n{{role "a b"}}\n\n{{role "x-1_y"}}\n\n{{placeholder "h"}}',
    { before: ['a'], after: ['"history*"', '""', '"a b"', 'x-1_y', 'h*'] },
  ],
])('%s', (_, before, after, messages) => {
  const side = (text: string) => ({ type: 'chat' as const, text, metadata: undefined });
  expect(compareMessages({ before: side(before), after: side(after) })).toEqual(messages);
});

test('No command edits the file of a prompt that has a different type in Langfuse, and a git pin to a text prompt is an error', async () => {
  const path = 'prompts/a.md';
  const { store, folder, json, read, commit, addVersion } = await makeScene({
    [path]: '---\nid: a\npins: { staging: latest }\n---\n\nHi.\n',
  });
  addVersion('a', { text: 'One.' });
  addVersion('a', { text: 'Two.' });
  const text = git(folder, 'rev-parse', 'HEAD').trim();
  commit({ [path]: makeChatFile('a', '{{role "user"}}\nHi.') });
  const before = read(path);
  for (const words of ['pull', 'promote a --to production', 'rollback a --environment staging']) {
    const { exitCode, report } = await json(...words.split(' '));
    expect([exitCode, report.prompts[0]?.problems.map(({ code }) => code)]).toEqual([3, ['prompt/other-type']]);
    expect(read(path)).toBe(before);
  }
  await store.deletePrompt('a');
  commit({ [path]: makeChatFile('a', '{{role "user"}}\nHi.', `{ staging: latest, production: 'git:${text}' }`) });
  const { report } = await json('plan', '--base', text);
  expect(report.prompts[0]).toMatchObject({
    status: 'blocked',
    drift: [],
    problems: [{ code: 'pin/no-prompt-at-ref' }],
  });
  expect(report.prompts[0]?.problems[0]?.message).toContain('is a text prompt');
});
