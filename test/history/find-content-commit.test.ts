import { expect, test } from 'vitest';
import { isSameFileContent } from '../../src/domain/compare-content.ts';
import { findContentCommit } from '../../src/history/find-content-commit.ts';
import { openPromptRepository } from '../support/prompt-repository.ts';
import { content } from '../planning/support.ts';
import { cloneOf, commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';

const PATH = 'prompts/a.md';
const small = { model: 'small' };
const large = { model: 'large' };

function commitPrompt(folder: string, parts: PromptParts): string {
  writeFiles(folder, { [PATH]: promptText('a', parts) });
  return commitAll(folder, 'Change the prompt');
}

/** Finds the commit of the text `One.`. Prefers the metadata `small`, and accepts files without metadata. */
async function findCommitOfOne(folder: string): Promise<string | null> {
  const repository = await openPromptRepository(folder, 'branch: main');
  const exact = content('One.', small);
  const found = await findContentCommit(
    { id: 'prm_a', type: 'text', path: PATH },
    {
      isWanted: (one) => isSameFileContent(one, exact) || isSameFileContent(one, content('One.')),
      isExact: (one) => isSameFileContent(one, exact),
    },
    { repository, branch: 'main' },
  );
  return found?.commit ?? null;
}

test.each<[title: string, states: readonly PromptParts[], expected: number | null]>([
  [
    'findContentCommit returns the oldest commit of the newest unbroken series of commits with the content',
    [{ text: 'One.' }, { text: 'Two.' }, { text: 'One.' }, { text: 'One.', name: 'Renamed' }, { text: 'Three.' }],
    2,
  ],
  [
    'findContentCommit distinguishes equal texts by their metadata',
    [
      { text: 'One.', metadata: small },
      { text: 'One.', metadata: large },
    ],
    0,
  ],
  [
    'findContentCommit prefers a commit with the exact metadata to a newer commit without metadata',
    [{ text: 'One.' }, { text: 'One.', metadata: small }, { text: 'One.' }],
    1,
  ],
  [
    'findContentCommit accepts a commit without metadata if no commit has the exact metadata',
    [{ text: 'One.', metadata: large }, { text: 'One.' }],
    1,
  ],
  ['findContentCommit returns null if no commit has the content', [{ text: 'Two.' }], null],
])('%s', async (_, states, expected) => {
  const folder = makeRepository({ 'README.md': 'Prompts.' });
  const commits = states.map((parts) => commitPrompt(folder, parts));
  expect(await findCommitOfOne(folder)).toBe(expected === null ? null : commits[expected]);
});

test('findContentCommit searches the live branch, not the checked-out branch', async () => {
  const folder = makeRepository({ 'README.md': 'Prompts.' });
  const first = commitPrompt(folder, { text: 'One.' });
  commitPrompt(folder, { text: 'Two.' });
  git(folder, 'switch', '--quiet', '--create', 'feature');
  commitPrompt(folder, { text: 'One.' });
  expect(await findCommitOfOne(folder)).toBe(first);
});

test('findContentCommit returns null in a shallow clone if older commits may have the content, too', async () => {
  const folder = makeRepository({ 'README.md': 'Prompts.' });
  commitPrompt(folder, { text: 'One.' });
  commitPrompt(folder, { text: 'One.', name: 'Renamed' });
  expect(await findCommitOfOne(cloneOf(folder))).toBeNull();
});
