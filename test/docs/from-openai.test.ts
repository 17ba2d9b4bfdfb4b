import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChatMessage, parseChatText } from '../../src/domain/chat.ts';
import { normalizeText } from '../../src/domain/content.ts';
import { parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { isError } from '../../src/problem.ts';
import { messageLists } from '../domain/chat-messages.ts';
import { childEnvironment, startNode } from '../support/cli.ts';
import { makeWorkspace, type Files } from '../support/folder.ts';
import { runs, SEED } from '../support/seed.ts';
import { readPageFile } from './pages.ts';

const SCRIPT = readPageFile('docs/moving-from/openai.md', 'from-openai.mjs');

/** Runs the script of the page on this JSON. Returns its result and the paths of all files in `prompts`. */
async function runScript(json: unknown, files: Files = {}) {
  const folder = makeWorkspace({ ...files, 'from-openai.mjs': SCRIPT, 'openai.json': JSON.stringify(json) });
  const options = { cwd: folder, environment: childEnvironment() };
  const ran = await startNode(join(folder, 'from-openai.mjs'), ['openai.json'], options).ended;
  return { folder, ...ran, paths: globSync('**/*.md', { cwd: folder }).toSorted() };
}

function readPrompt(folder: string, path: string) {
  const { file, problems } = parsePromptFile(readFileSync(join(folder, path)), path);
  expect(problems.filter(isError)).toEqual([]);
  const { type, text, metadata } = file!.content;
  return { id: file!.id, type, metadata, messages: parseChatText(text).messages.map(({ message }) => message) };
}

const hello = { role: 'user', content: 'Hello.' };

describe('from-openai.mjs on docs/moving-from/openai.md', () => {
  test('promptsync reads back exactly the messages that from-openai.mjs wrote, whatever their content', async () => {
    const lists = fc
      .sample(messageLists.map(omitPlaceholders), { numRuns: runs(800), seed: SEED })
      .filter((messages) => messages.length > 0);
    const prompts = lists.map((messages, index) => {
      return { name: `group/${index}`, messages: index % 2 ? messages.map(splitContent) : messages };
    });
    const { folder, stderr, exitCode } = await runScript(prompts);
    expect([stderr, exitCode]).toEqual(['', 0]);
    const expected = lists.map((messages) => messages.map(normalizeMessage));
    expect(prompts.map(({ name }) => readPrompt(folder, `prompts/${name}.md`).messages)).toEqual(expected);
  });

  test('from-openai.mjs writes each prompt to a file inside its folder, whatever its name, and keeps the name as the id', async () => {
    const pathsByName = {
      'support/reply': 'prompts/support/reply.md',
      '../../outside': 'prompts/outside.md',
      'a/../b': 'prompts/a/b.md',
      'a\\..\\b: "c" #': 'prompts/a-..-b-c.md',
      '.hidden/-x': 'prompts/hidden/x.md',
      '..': 'prompts/prompt.md',
      'Größe 本番': 'prompts/Größe-本番.md',
      true: 'prompts/true.md',
    };
    const names = Object.keys(pathsByName);
    const json = names.map((name) => ({ id: 'pmpt_1', name, messages: [hello] }));
    const { folder, stdout, paths } = await runScript(json);
    expect(stdout).toBe(
      Object.values(pathsByName)
        .map((path) => `${path}\n`)
        .join(''),
    );
    expect(paths).toEqual(Object.values(pathsByName).toSorted());
    expect(Object.values(pathsByName).map((path) => readPrompt(folder, path).id)).toEqual(names);
  });

  test('from-openai.mjs uses the id as the name of a prompt that has no name', async () => {
    const { folder } = await runScript([{ id: 'pmpt_1', messages: [hello] }]);
    expect(readPrompt(folder, 'prompts/pmpt_1.md')).toMatchObject({ id: 'pmpt_1', metadata: undefined });
  });

  test('promptsync reads back exactly the model and the settings that from-openai.mjs wrote', async () => {
    const settings = {
      'a: b # c': 'x: "y"\n- z\u2028',
      on: 'yes',
      n: [1, 0.2, null, { '- d': true }],
      '1': {},
      '': '',
    };
    const { folder } = await runScript([{ name: 'a', model: 'gpt: 5', settings, messages: [hello] }]);
    expect(readPrompt(folder, 'prompts/a.md').metadata).toEqual({ model: 'gpt: 5', ...settings });
  });

  test('from-openai.mjs ignores the ids of messages that were copied from an API response', async () => {
    const message = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' };
    const content = [{ type: 'output_text', text: 'Hello.', annotations: [] }];
    const { folder } = await runScript([{ name: 'a', messages: [{ ...message, content }] }]);
    expect(readPrompt(folder, 'prompts/a.md').messages).toEqual([{ role: 'assistant', content: 'Hello.' }]);
  });

  test.each<[sentence: string, json: unknown, message: string]>([
    ['from-openai.mjs rejects JSON that is not a list', { a: 1 }, 'The JSON is not a list of prompts.'],
    [
      'from-openai.mjs rejects a prompt that has neither a name nor an id',
      [{ messages: [hello] }],
      'Prompt 1: The name is not a text.',
    ],
    ['from-openai.mjs rejects a prompt without messages', [{ name: 'a', messages: [] }], 'Prompt 1 has no messages.'],
    [
      'from-openai.mjs rejects two prompts that would be written to the same file',
      ['a b', 'a:b'].map((name) => ({ name, messages: [hello] })),
      'Two prompts have the path prompts/a-b.md.',
    ],
  ])('%s', async (_, json, message) => {
    const { exitCode, stderr, paths } = await runScript(json);
    expect([exitCode, stderr, paths]).toEqual([1, `error: ${message} The script wrote no files.\n`, []]);
  });

  test.each<[sentence: string, message: object, problem: string]>([
    ['from-openai.mjs rejects an image part', { content: [{ type: 'input_image' }] }, 'has the type "input_image"'],
    ['from-openai.mjs rejects a message without content', { content: null }, 'is neither a text nor a list'],
    ['from-openai.mjs rejects a message with tool calls', { tool_calls: [] }, 'cannot hold "tool_calls"'],
    ['from-openai.mjs rejects an item that is not a message', { type: 'reasoning' }, 'has the type "reasoning"'],
    ['from-openai.mjs rejects a role that is not a string', { role: 1 }, 'The role is not a text'],
    ['from-openai.mjs rejects content that contains a NUL character', { content: 'a\0b' }, 'that a file cannot hold'],
    [
      'from-openai.mjs rejects content that contains a lone surrogate',
      { content: '\ud800' },
      'that a file cannot hold',
    ],
  ])('%s', async (_, message, problem) => {
    const { exitCode, stderr, paths } = await runScript([{ name: 'a', messages: [hello, { ...hello, ...message }] }]);
    expect(stderr).toMatch(/^error: Prompt 1, message 2.* The script wrote no files\.\n$/);
    expect(stderr).toContain(problem);
    expect([exitCode, paths]).toEqual([1, []]);
  });

  test('from-openai.mjs does not write any files if one of the files already exists', async () => {
    const json = ['new', 'old'].map((name) => ({ name, messages: [hello] }));
    const { exitCode, stderr, paths } = await runScript(json, { 'prompts/old.md': 'Old.' });
    expect([exitCode, stderr]).toEqual([1, 'error: prompts/old.md already exists. The script wrote no files.\n']);
    expect(paths).toEqual(['prompts/old.md']);
  });
});

type RoleMessage = Extract<ChatMessage, { readonly role: string }>;

/** OpenAI's prompts have no placeholders. */
function omitPlaceholders(messages: readonly ChatMessage[]): readonly RoleMessage[] {
  return messages.filter((message) => 'role' in message);
}

/** Puts each line of the content into a part of its own, as in OpenAI's form of messages. */
function splitContent({ role, content }: RoleMessage) {
  return { role, content: content.split('\n').map((text) => ({ type: 'input_text', text })) };
}

/** Returns the message as promptsync reads it. The script converts all line breaks to LF. */
function normalizeMessage({ role, content }: RoleMessage): RoleMessage {
  return { role, content: normalizeText(content.replaceAll('\r', '\n')) };
}
