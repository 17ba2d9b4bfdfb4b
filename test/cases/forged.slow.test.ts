import { expect, test } from 'vitest';
import { computeContentDigest, EMPTY_METADATA_DIGEST } from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { PATH, startStory, summarizeRun, type Story } from './support.ts';

type Entry = { readonly number: number; readonly id: string; readonly text: string; readonly commit?: string };

/** Makes a version record for a version with this text and without metadata. */
function forgeRecord(text: string, ledger: readonly JsonObject[]): JsonObject {
  const digest = computeContentDigest(text);
  return { digest, metadata_digest: EMPTY_METADATA_DIGEST, operation: 'forged', ledger };
}

/** Activates a version with a forged ledger in the tracking environment. */
function forgeLedger(story: Story, entries: readonly Entry[]): void {
  const ledger = entries.map(({ number, id, text, commit }) => ({
    number,
    id,
    digest: computeContentDigest(text),
    metadata_digest: EMPTY_METADATA_DIGEST,
    ...(commit !== undefined && { commit, path: PATH }),
  }));
  story.activate('promptsync', story.draft('A', { promptsync: forgeRecord('A', ledger) }));
}

/** Syncs version 1 with the text A, and adds a foreign version 2. */
async function addForeignVersion() {
  const story = await startStory({ text: 'A' });
  await story.sync();
  return { story, theirs: story.draft('Theirs.') };
}

/** Syncs twice and returns for each run the exit code, the problem codes and the served version. */
async function syncTwice(story: Story, environment: string): Promise<readonly string[]> {
  const lines: string[] = [];
  while (lines.length < 2) {
    const { exitCode, report } = await story.sync();
    const codes = report.prompts[0]!.problems.map(({ code }) => code);
    lines.push(`exit ${exitCode}, ${codes.join(', ')}, serving ${story.serves(environment)}`);
  }
  return lines;
}

function refusedRuns(serving: string): readonly string[] {
  const line = `exit 4, apply/other-content, serving ${serving}`;
  return [line, line];
}

test('sync refuses a version if a forged ledger falsely claims that the version contains the text of the file', async () => {
  const { story, theirs } = await addForeignVersion();
  forgeLedger(story, [{ number: 2, id: theirs, text: 'B' }]);
  story.edit({ text: 'B' });
  expect(await syncTwice(story, 'staging')).toEqual(refusedRuns('v1 A'));
  expect(story.versions()).toBe(3);
});

test('sync does not activate a version with other text if a forged version record contains the digest of the file text', async () => {
  const { story } = await addForeignVersion();
  story.draft('Not B.', { promptsync: forgeRecord('B', []) });
  story.edit({ text: 'B' });
  expect(summarizeRun(await story.sync())).toBe('exit 0, applied, create made, staging made');
  expect([story.serves('staging'), story.versions()]).toEqual(['v4 B', 4]);
});
