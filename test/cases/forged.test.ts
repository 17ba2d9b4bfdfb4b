import { describe, expect, test } from 'vitest';
import { contentDigest, EMPTY_METADATA_DIGEST } from '../../src/domain/digest.ts';
import { git } from '../support/folder.ts';
import { PATH, begin, told, type Story } from './support.ts';

type Entry = { readonly number: number; readonly id: string; readonly text: string; readonly commit?: string };

/** Somebody puts a version with a ledger of their own where the tool reads its newest one. */
function forgeLedger(story: Story, entries: readonly Entry[]): void {
  const ledger = entries.map(({ number, id, text, commit }) => ({
    number,
    id,
    digest: contentDigest(text),
    metadata_digest: EMPTY_METADATA_DIGEST,
    ...(commit !== undefined && { commit, path: PATH }),
  }));
  const promptsync = { digest: contentDigest('A'), operation: 'forged', ledger };
  story.activate('promptsync', story.draft('A', { promptsync }));
}

/** Version 1 holds A and is ours; version 2 is theirs. */
async function withTheirs() {
  const story = await begin({ text: 'A' });
  await story.sync();
  return { story, theirs: story.draft('Theirs.') };
}

/** Two runs, each with its exit code, its problem, and what is served after it. */
async function twoRuns(story: Story, environment: string): Promise<readonly string[]> {
  const lines: string[] = [];
  while (lines.length < 2) {
    const { exitCode, report } = await story.sync();
    const codes = report.prompts[0]!.problems.map(({ code }) => code);
    lines.push(`exit ${exitCode}, ${codes.join(', ')}, serving ${story.serves(environment)}`);
  }
  return lines;
}

function refused(serving: string): readonly string[] {
  const line = `exit 4, apply/other-content, serving ${serving}`;
  return [line, line];
}

describe('a forged ledger never brings another text live', () => {
  test('it claims the file’s text for a version that holds another', async () => {
    const { story, theirs } = await withTheirs();
    forgeLedger(story, [{ number: 2, id: theirs, text: 'B' }]);
    story.edit({ text: 'B' });
    expect(await twoRuns(story, 'staging')).toEqual(refused('v1 A'));
    expect(story.versions()).toBe(3);
  });

  test.each<[string, (entry: Entry, head: string) => Entry, number]>([
    ['has the id of another version', (entry) => ({ ...entry, number: 7, text: 'B' }), 7],
    ['names a version with another number', (entry) => ({ ...entry, number: 7 }), 7],
    ['names a commit at which the file holds another text', (entry, commit) => ({ ...entry, commit }), 2],
  ])('its entry for a pinned number %s', async (_, forge, production) => {
    const { story, theirs } = await withTheirs();
    const head = git(story.folder, 'rev-parse', 'HEAD');
    forgeLedger(story, [forge({ number: 2, id: theirs, text: 'Theirs.' }, head)]);
    story.edit({ pins: { staging: 'latest', production } });
    expect(await twoRuns(story, 'production')).toEqual(refused('nothing'));
    expect(story.serves('staging')).toBe('v1 A');
  });

  test('an entry that is true, of a commit that git does not have, is believed', async () => {
    const { story, theirs } = await withTheirs();
    forgeLedger(story, [{ number: 2, id: theirs, text: 'Theirs.', commit: 'f'.repeat(40) }]);
    story.edit({ pins: { staging: 'latest', production: 2 } });
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect(story.serves('production')).toBe('v2 Theirs.');
  });
});

test('a version whose stamp claims the file’s text and that holds another never goes live', async () => {
  const { story } = await withTheirs();
  story.draft('Not B.', { promptsync: { digest: contentDigest('B'), operation: 'forged', ledger: [] } });
  story.edit({ text: 'B' });
  expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
  expect([story.serves('staging'), story.versions()]).toEqual(['v4 B', 4]);
});
