import { isDigestOf } from '../domain/digest.ts';
import type { Pin } from '../domain/prompt-file.ts';
import { lookEnvironment } from '../domain/policy.ts';
import { makeProblem, problemOf, ProblemError } from '../problem.ts';
import { findEntry, readBack, unseenNewest, versionsRead } from './reading.ts';
import type { LedgerEntry, Version } from './stamp.ts';
import { followNewest, note, type LedgerWorld, type Writing } from './writing.ts';

/**
 * Reads a version that is active nowhere by making it active in the look environment, which nobody is served from:
 * however it fails, nothing that was planned has been done, so its error says nothing of an effect.
 */
export async function look(world: LedgerWorld, promptId: string, versionId: string): Promise<Version> {
  const environment = lookEnvironment(world.trackingEnvironment);
  try {
    await world.service.setActive(promptId, environment, versionId);
    const version = await readBack(world, promptId, environment, ({ id }) => id === versionId);
    if (version?.id === versionId) return version;
  } catch (error) {
    throw new ProblemError(problemOf(error), { cause: error });
  }
  throw new ProblemError(makeProblem('apply/changed-meanwhile', { environment }));
}

/** The same; null where the prompt has no such version. */
async function lookIfThere(...asked: Parameters<typeof look>): Promise<Version | null> {
  try {
    return await look(...asked);
  } catch (error) {
    if (problemOf(error).code === 'service/version-not-found') return null;
    throw error;
  }
}

/**
 * Looks at the newest version of the service, where nobody has read it and no ledger names it. Throws also where the
 * service says that there is none: it has named it, and it may be the very one that is to be made.
 */
export async function lookAtNewest(writing: Writing): Promise<void> {
  const { id: promptId, latestVersionId: id } = writing.reading.prompt;
  if (id === null || findEntry(writing.reading, id) !== undefined) return;
  const version = await lookIfThere(writing.world, promptId, id);
  if (version === null) throw new ProblemError(makeProblem('apply/newest-unreadable', { id }));
  note(writing, version);
}

/**
 * A version that a ledger names: it is looked at where it was not read in this run. Throws a `ProblemError` where it is
 * not what ledger and git know.
 */
export async function lookVerified(writing: Writing, entry: LedgerEntry): Promise<Version> {
  const read = versionsRead(writing.reading).find(({ id }) => id === entry.id);
  const version = read ?? (await lookAfterGit(writing, entry));
  if (!isDigestOf(entry.digest, version) || version.number !== entry.number) {
    throw otherContent(version.number, 'the ledger knows it as');
  }
  if (read === undefined) note(writing, version);
  return version;
}

async function lookAfterGit({ world, reading }: Writing, entry: LedgerEntry): Promise<Version> {
  const { id, commit, path, digest, number } = entry;
  if (commit !== undefined && path !== undefined) {
    const held = await world.textAt(commit, path);
    if (held !== null && !isDigestOf(digest, held)) throw otherContent(number, `git has at ${commit}:${path}`);
  }
  return look(world, reading.prompt.id, id);
}

function otherContent(number: number, known: string): ProblemError {
  return new ProblemError(makeProblem('apply/other-content', { version: `v${number}`, known }));
}

/**
 * Looks at the versions that pins name and nobody has read; a number may be that of the newest one. Those that are not
 * this prompt's are noted as missing; any other failure throws a `ProblemError`. The tracking environment moves to one
 * that is newer of promptsync's own: it would be forgotten otherwise.
 */
export async function lookUp(writing: Writing, pins: readonly Pin[]): Promise<void> {
  const { reading } = writing;
  const newest = pins.some(({ kind }) => kind === 'number') ? unseenNewest(reading) : null;
  const ids = pins.flatMap((pin) => (pin.kind === 'version' ? [pin.id] : []));
  for (const id of new Set([...(newest === null ? [] : [newest]), ...ids])) {
    const version = await lookIfThere(writing.world, reading.prompt.id, id);
    if (version !== null) note(writing, version);
    else writing.reading = { ...writing.reading, missing: [...writing.reading.missing, id] };
  }
  const [problem] = await followNewest(writing);
  if (problem !== undefined) throw new ProblemError(problem);
}
