import { expect, test } from 'vitest';
import { promptText, type PromptParts } from '../../support/prompts.ts';
import { makeScene } from './scene.ts';

const CONFIG = 'service: { provider: langfuse }\nenvironments: { staging: {}, production: {} }\n';
const BOTH = { staging: 'latest', production: 'latest' };

/**
 * The changes of the first prompt, and the lists, reads and writes of a plan and of the sync after it. At the start,
 * both labels are on the only version of every prompt. A sync plans first, and observes a prompt again right before it
 * writes the prompt.
 */
const STEPS: readonly (readonly [step: string, parts: PromptParts, counts: string])[] = [
  ['No prompt file has changed', {}, '0 6 0, 0 6 0'],
  ['A new text gets only staging', { text: 'Two.', pins: { staging: 'latest', production: 1 } }, '1 6 0, 2 9 1'],
  ['The new text gets production', { text: 'Two.', pins: { staging: 'latest', production: 2 } }, '1 6 0, 2 9 1'],
  ['The text in staging is reverted', { pins: { staging: 'latest', production: 2 } }, '1 7 0, 2 10 1'],
];

/** Makes the files of three prompts, of which the first has these parts. */
function makeFiles(first: PromptParts) {
  const files = ['a', 'b', 'c'].map((name) => {
    const parts = { key: `prm_${name}`, name: `prm_${name}`, pins: BOTH, text: 'One.', ...(name === 'a' && first) };
    return [`prompts/${name}.md`, promptText(name, parts)];
  });
  return Object.fromEntries(files);
}

test('plan and sync send the expected number of requests to Langfuse', async () => {
  const { langfuse, run, commit } = await makeScene({ 'promptsync.yaml': CONFIG, ...makeFiles({}) });
  const count = async (...words: readonly string[]): Promise<string> => {
    langfuse.requests.length = 0;
    expect((await run(...words)).exitCode).toBe(0);
    const lists = langfuse.requests.filter(({ path }) => path.includes('page=')).length;
    const writes = langfuse.requests.filter(({ method }) => method !== 'GET').length;
    return `${lists} ${langfuse.requests.length - lists - writes} ${writes}`;
  };
  await count('sync', '--yes');
  for (const [step, parts, expected] of STEPS) {
    commit(makeFiles(parts));
    const counts = `${await count('sync', '--dry-run')}, ${await count('sync', '--yes')}`;
    expect([step, counts]).toEqual([step, expected]);
  }
});
