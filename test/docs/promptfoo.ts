// Stands in for `promptfoo eval --config FILE`. Its model answers with the prompt. It reads the configuration from the
// page on evals in the way that the documentation of promptfoo describes.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

type Variables = Readonly<Record<string, string>>;
type Case = { readonly vars: Variables; readonly assert: readonly { readonly type: string; readonly value: string }[] };

const [, , , , file = ''] = process.argv;
const config: { prompts: [string]; tests: string } = parse(readFileSync(file, 'utf8'));
const cases: readonly Case[] = load(config.tests)();
const makePrompt: (context: { vars: Variables }) => string = load(config.prompts[0]);
const failed = cases.filter(({ vars, assert }) => {
  const answer = readContents(makePrompt({ vars }))
    .join('\n')
    .replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => vars[name] ?? '');
  return !assert.every(({ type, value }) => type === 'contains' && answer.includes(value));
});
console.log(`Results:\n  ✓ ${cases.length - failed.length} passed\n  ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 100;

/** Returns the contents of the messages. A prompt that is not JSON is the content of a single message. */
function readContents(prompt: string): readonly string[] {
  if (!prompt.startsWith('[')) return [prompt];
  const messages: readonly { readonly content: string }[] = JSON.parse(prompt);
  return messages.map(({ content }) => content);
}

/** Loads the function that `file://script.cjs:name` names, relative to the configuration. */
function load(address: string) {
  const [, path = '', name = ''] = /^file:\/\/(.*):(\w+)$/.exec(address) ?? [];
  return createRequire(import.meta.url)(resolve(dirname(file), path))[name];
}
