import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderChatText } from '../../src/domain/chat.ts';
import { messageLists } from '../domain/chat-messages.ts';
import { childEnvironment, startNode } from '../support/cli.ts';
import { makeWorkspace } from '../support/folder.ts';
import { runs, SEED } from '../support/seed.ts';
import { readPageFile } from './pages.ts';

const SCRIPT = readPageFile('docs/how-to/evals.md', 'evals/changed.cjs');

/** Prints a list of what the script returns for each case. */
const PRINT_PROMPTS = `const { cases, prompt } = require('./evals/changed.cjs');
console.log(JSON.stringify(cases().map((one) => prompt(one))));
`;

/** A prompt in a report whose environment `staging` changes. */
type ChangedPrompt = { readonly type: 'text' | 'chat' | null; readonly text: string | null };

/** Runs the script of the page on a report with these prompts. Returns what promptfoo gets for each prompt. */
async function runScript(changed: readonly ChangedPrompt[]): Promise<readonly string[]> {
  const prompts = changed.map(({ type, text }, index) => {
    const change = { kind: 'set-active', environment: 'staging', after_text: text };
    return { key: `${index}`, type, changes: [{ kind: 'create-version' }, change] };
  });
  const cases = Object.fromEntries(prompts.map(({ key }) => [key, [{ vars: {} }]]));
  const folder = makeWorkspace({
    'plan.json': JSON.stringify({ prompts }),
    'evals/cases.json': JSON.stringify(cases),
    'evals/changed.cjs': SCRIPT,
    'print.cjs': PRINT_PROMPTS,
  });
  const options = { cwd: folder, environment: childEnvironment() };
  const { stdout, stderr } = await startNode(join(folder, 'print.cjs'), [], options).ended;
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('the script on docs/how-to/evals.md', () => {
  test('evals/changed.cjs returns all messages of a chat prompt unchanged and leaves out its placeholders', async () => {
    const lists = fc.sample(messageLists, { numRuns: runs(2_000), seed: SEED });
    const prompts = await runScript(lists.map((messages) => ({ type: 'chat', text: renderChatText(messages) })));
    const expected = lists.map((messages) => messages.filter((message) => 'role' in message));
    expect(prompts.map((prompt) => JSON.parse(prompt))).toEqual(expected);
  });

  test('evals/changed.cjs returns the text of a text prompt unchanged, even if it contains markers', async () => {
    const text = '{{role "user"}}\n\\{{role "x"}}\n\n';
    expect(await runScript([{ type: 'text', text }])).toEqual([text]);
  });

  test('evals/changed.cjs skips prompts whose text the report omits', async () => {
    const omitted = { type: 'chat', text: null } as const;
    expect(await runScript([omitted, { type: 'text', text: 'Hello.' }])).toEqual(['Hello.']);
  });
});
