import { expect, test } from 'vitest';
import { isSameFileContent } from '../../src/domain/compare-content.ts';
import { findContentCommit } from '../../src/history/find-content-commit.ts';
import { openPromptRepository } from '../support/prompt-repository.ts';
import { content } from '../planning/support.ts';
import { cloneOf } from '../support/folder.ts';
import { type HistoryRepository, makeHistories, PATH, promptA } from './support.ts';

const small = { metadata: { model: 'small' } };
const large = { metadata: { model: 'large' } };

/** The states of the prompt, oldest first, by live branch. The branch main is checked out. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  main: [promptA('Two.'), promptA('One.')],
  live: [promptA('One.'), promptA('Two.')],
  series: [promptA('One.'), promptA('Two.'), promptA('One.'), promptA('One.', { name: 'Renamed' }), promptA('Three.')],
  metadata: [promptA('One.', small), promptA('One.', large)],
  mixed: [promptA('One.'), promptA('One.', small), promptA('One.')],
  loose: [promptA('One.', large), promptA('One.')],
  never: [promptA('Two.')],
  renamed: [promptA('One.'), promptA('One.', { name: 'Renamed' })],
};

let made: HistoryRepository | undefined;

function useStates(): HistoryRepository {
  const histories = Object.entries(STATES).map(([name, texts]) => [name, texts.map((text) => ({ [PATH]: text }))]);
  return (made ??= makeHistories(Object.fromEntries(histories)));
}

/** Finds the commit of the text `One.`. Prefers the metadata `small`, and accepts files without metadata. */
async function findCommitOfOne(folder: string, branch: string): Promise<string | null> {
  const repository = await openPromptRepository(folder, `branch: ${branch}`);
  const exact = content('One.', small.metadata);
  const found = await findContentCommit(
    { id: 'prm_a', type: 'text', path: PATH },
    {
      isWanted: (one) => isSameFileContent(one, exact) || isSameFileContent(one, content('One.')),
      isExact: (one) => isSameFileContent(one, exact),
    },
    repository,
  );
  return found?.commit ?? null;
}

test.each([
  [
    'findContentCommit returns the oldest commit of the newest unbroken series of commits with the content',
    'series',
    2,
  ],
  ['findContentCommit distinguishes equal texts by their metadata', 'metadata', 0],
  ['findContentCommit prefers a commit with the exact metadata to a newer commit without metadata', 'mixed', 1],
  ['findContentCommit accepts a commit without metadata if no commit has the exact metadata', 'loose', 1],
  ['findContentCommit returns null if no commit has the content', 'never', null],
  ['findContentCommit searches the live branch, not the checked-out branch', 'live', 0],
])('%s', async (_, branch, expected) => {
  const { folder, commits } = useStates();
  expect(await findCommitOfOne(folder, branch)).toBe(expected === null ? null : commits[branch]![expected]);
});

test('findContentCommit returns null in a shallow clone if older commits may have the content, too', async () => {
  const clone = cloneOf(useStates().folder, '--branch', 'renamed');
  expect(await findCommitOfOne(clone, 'renamed')).toBeNull();
});
