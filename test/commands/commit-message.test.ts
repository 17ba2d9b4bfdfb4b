import { expect, test } from 'vitest';
import { commitMessage } from '../../src/commands/edit-files.ts';
import type { EditedPrompt } from '../../src/domain/edits.ts';

const edited = (key: string): EditedPrompt => ({
  ...{ path: 'prompts/a.md', id: 'prm_a', key, status: 'applied', problems: [] },
  edits: [{ kind: 'set-pin', environment: 'production', before: '1', after: '2' }],
});

const messageFor = (...keys: readonly string[]): string =>
  commitMessage(keys.map(edited), (names) => `Promote ${names} to production`);

test.each([
  ['support/greeting', 'support/greeting'],
  ['mail@example [draft] (v1)', 'mail@example [draft] (v1)'],
  ['a [skip ci]', String.raw`a \u{5b}skip ci]`],
  ['a [CI skip]', String.raw`a \u{5b}CI skip]`],
  ['[no ci]', String.raw`\u{5b}no ci]`],
  ['[actions skip]', String.raw`\u{5b}actions skip]`],
  ['@octocat', String.raw`\u{40}octocat`],
  ['(@octocat)', String.raw`(\u{40}octocat)`],
  ['\u202edesrever', String.raw`\u{202e}desrever`],
])('a message names the key %s and says nothing else', (key, named) => {
  expect(messageFor(key)).toBe(`Promote ${named} to production (v1 → v2)`);
  expect(messageFor(key, 'b')).toBe(`Promote 2 prompts to production\n\n- ${named} (v1 → v2)\n- b (v1 → v2)`);
});
