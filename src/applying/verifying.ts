import type { LedgerEntry, Version } from '../domain/version.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { look } from './looking.ts';
import { note, type Writing } from './writing.ts';

/**
 * Looks at a version that a ledger names. Never an unverified version live: throws a `ProblemError` where it is not what
 * ledger and git know it as.
 */
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
