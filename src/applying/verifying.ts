import type { LedgerEntry, Version } from '../domain/version.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { look } from './looking.ts';
import { note, type Writing } from './writing.ts';

/**
 * Never an unverified version live: one that was not read in this run must be what the ledger and git know it as. It
 * is looked at for that; without a tracking environment nothing is looked at, and reading back has the last word.
 */
export async function verifyBeforeLive(writing: Writing, entry: LedgerEntry): Promise<void> {
  if (writing.dependencies.trackingEnvironment === null) await verifyByGit(writing.dependencies, entry);
  else await lookVerified(writing, entry);
}

/** Looks at a version that a ledger tells of. Throws a `ProblemError` where it is not what ledger and git know. */
export async function lookVerified(writing: Writing, entry: LedgerEntry): Promise<Version> {
  const { dependencies, observed } = writing;
  await verifyByGit(dependencies, entry);
  const version = await look(dependencies, observed.prompt.id, entry.id);
  if (version.digest !== entry.digest || version.number !== entry.number) {
    throw otherContent(`v${version.number}`, 'the ledger knows it as');
  }
  note(writing, version);
  return version;
}

async function verifyByGit({ digestAt }: ApplyDependencies, entry: LedgerEntry): Promise<void> {
  const { commit, path, digest, number } = entry;
  if (commit === undefined || path === undefined) return;
  const held = await digestAt(commit, path);
  if (held !== null && held !== digest) throw otherContent(`v${number}`, `git has at ${commit}:${path}`);
}

function otherContent(version: string, known: string): ProblemError {
  return new ProblemError(makeProblem('apply/other-content', { version, known }));
}
