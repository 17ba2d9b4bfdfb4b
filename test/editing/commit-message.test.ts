import { expect, test } from 'vitest';
import { renderCommitMessage } from '../../src/editing/edit-files.ts';
import type { EditedPrompt } from '../../src/domain/edits.ts';

const edited = (key: string): EditedPrompt => ({
  ...{ path: 'prompts/a.md', id: 'prm_a', key, type: 'text', status: 'applied', problems: [] },
  edits: [{ kind: 'set-pin', environment: 'production', before: '1', after: '2' }],
});

const messageFor = (...keys: readonly string[]): string =>
  renderCommitMessage(keys.map(edited), (names) => `Promote ${names} to production`);

test('renderCommitMessage names a version by its number if the new pin names it by its id', () => {
  const edits = [
    { kind: 'set-pin', environment: 'staging', before: '6', after: 'version:ver_5a1f', versionNumber: 7 },
  ] as const;
  const message = renderCommitMessage([{ ...edited('a'), edits }], (names) => `Pull ${names}`);
  expect(message).toBe('Pull a (v6 → v7)');
});

test.each([
  ['support/greeting', 'support/greeting'],
  ['mail@example [draft] (v1)', 'mail@example [draft] (v1)'],
  ['a [CI skip]', String.raw`a \u{5b}CI skip]`],
  ['[no ci]', String.raw`\u{5b}no ci]`],
  ['[actions skip]', String.raw`\u{5b}actions skip]`],
  ['(@octocat)', String.raw`(\u{40}octocat)`],
  ['\u202edesrever', String.raw`\u{202e}desrever`],
])('renderCommitMessage renders the key %s without a CI skip marker or a user mention', (key, named) => {
  expect(messageFor(key)).toBe(`Promote ${named} to production (v1 → v2)`);
  expect(messageFor(key, 'b')).toBe(`Promote 2 prompts to production\n\n- ${named} (v1 → v2)\n- b (v1 → v2)`);
});
