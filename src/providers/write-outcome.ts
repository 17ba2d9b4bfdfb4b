import type { ChangeStatus } from '../domain/plan.ts';
import type { WriteOutcome } from './provider-interface.ts';
import { type KnownVersion, makeVersionRef, type VersionRef } from '../domain/versions.ts';
import { prefixProblem, makeProblem, type Problem, ProblemError, toProblem, wordProblem } from '../problem.ts';
import type { Words } from '../service-words.ts';
import { ServiceError } from '../http/service-error.ts';

/** Returns true if a failed call may have had an effect: its response was lost, invalid or a server error. */
export function isLostResponse(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.effect === 'unknown';
}

/** `step` begins the message with a description of the write, such as `Creating the version`. */
export function makeFailureHandler(step: string): (error: unknown) => WriteOutcome {
  return (error) => {
    return makeStoppedOutcome(isLostResponse(error) ? 'unknown' : 'not_made', prefixProblem(step, toProblem(error)));
  };
}

/** Creates the outcome of a write that did not succeed. */
export function makeStoppedOutcome(status: ChangeStatus, ...problems: WriteOutcome['problems']): WriteOutcome {
  return { status, problems };
}

/** The wait before each search, in milliseconds. The service may store a version several seconds late. */
const LOST_CREATE_WAITS_MS = [250, 1_000, 2_000, 4_000, 8_000];

/**
 * Searches five times within 15 seconds for the version of a create call whose response was lost. Returns null if no
 * version appears, the service fails, or the user interrupts promptsync.
 */
export async function findLostVersion<Version>(
  find: () => Promise<Version | null>,
  sleep: (milliseconds: number) => Promise<void>,
): Promise<Version | null> {
  try {
    for (const wait of LOST_CREATE_WAITS_MS) {
      await sleep(wait);
      const version = await find();
      if (version !== null) return version;
    }
  } catch {
    return null;
  }
  return null;
}

/** Creates the outcome of a create call whose response was lost and whose version was not found, but may exist. */
export function makeUnknownCreateOutcome({ problem }: ServiceError, words: Words): WriteOutcome {
  const reason = wordProblem(problem, words).message;
  return makeStoppedOutcome('unknown', makeProblem('apply/outcome-unknown', { reason }));
}

/**
 * Creates the outcome for a version that the service stored with different content than promptsync sent.
 * @param status `made` if this run created the version, `not_made` if an earlier run did, `unknown` if either is
 * possible
 * @param environments the environments in which the service activated the version when it created the version
 */
export function makeRewrittenOutcome(
  version: Pick<KnownVersion, 'id' | 'number'>,
  status: ChangeStatus,
  environments: readonly string[],
): WriteOutcome {
  const problems = [makeProblem('apply/rewritten', { version: `v${version.number}`, environments })];
  return status === 'unknown' ? { status, problems } : { status, version: makeVersionRef(version), problems };
}

/** Ignores white space and Unicode normalization, because some services change both. */
export function differsOnlyInForm(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.normalize('NFC').replaceAll(/\s+/g, ''));
  return a === b;
}

/** Creates the problem for an environment that does not serve the version that promptsync activated there. */
export function makeNotActiveProblem(environment: string, expected: VersionRef, found: VersionRef | null): Problem {
  const evidence = {
    environment,
    expected: nameVersion(expected),
    found: found === null ? 'nothing' : nameVersion(found),
  };
  return makeProblem('apply/not-active', evidence);
}

function nameVersion({ id }: VersionRef): string {
  return `version "${id}"`;
}

/** Creates the error for a write that promptsync would attempt only because of a bug. */
export function makeUnexpectedError(reason: string): ProblemError {
  return new ProblemError(makeProblem('internal/unexpected', { reason }));
}
