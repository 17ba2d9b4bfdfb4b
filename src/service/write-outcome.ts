import type { ChangeStatus } from '../domain/plan.ts';
import type { WriteOutcome } from '../domain/provider.ts';
import { type KnownVersion, makeVersionRef, type VersionRef } from '../domain/versions.ts';
import { prefixProblem, makeProblem, type Problem, ProblemError, toProblem } from '../problem.ts';
import { ServiceError } from './prompt-service.ts';

/** Whether a failed call may have taken effect, because its response was lost or invalid. */
export function isLostResponse(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.effect === 'unknown';
}

/**
 * Returns a function that converts the error of a write to its outcome.
 * @param step names the write at the beginning of the message, such as `Creating the version`
 */
export function makeFailureHandler(step: string): (error: unknown) => WriteOutcome {
  return (error) => {
    return makeStoppedOutcome(isLostResponse(error) ? 'unknown' : 'not_made', prefixProblem(step, toProblem(error)));
  };
}

/** Makes the outcome of a write that did not succeed. If a problem is an error, promptsync stops writing the prompt. */
export function makeStoppedOutcome(status: ChangeStatus, ...problems: WriteOutcome['problems']): WriteOutcome {
  return { status, problems };
}

/** The wait before each search, in milliseconds. The service may store a version seconds after promptsync gave up. */
const LOST_CREATE_WAITS_MS = [250, 1_000, 2_000, 4_000, 8_000];

/**
 * Searches five times within 15 seconds for the version of a create call whose response was lost. Returns null if there
 * is no such version in time, if the service fails, or if the user interrupts the run.
 * @param find searches once, and returns null if there is no such version yet
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

/** Makes the outcome of a create call whose response was lost and whose version was not found. It may still exist. */
export function reportUnknownCreate({ problem }: ServiceError): WriteOutcome {
  return makeStoppedOutcome('unknown', makeProblem('apply/outcome-unknown', { reason: problem.message }));
}

/**
 * Makes the outcome of a create whose version holds a different content than promptsync sent. The error in this outcome
 * stops all later writes of the prompt.
 * @param status `made` if this run created the version, `not_made` if an earlier run did, `unknown` if either is
 * possible
 */
export function refuseRewritten(version: Pick<KnownVersion, 'id' | 'number'>, status: ChangeStatus): WriteOutcome {
  const problems = [makeProblem('apply/rewritten', { version: `v${version.number}` })];
  return status === 'unknown' ? { status, problems } : { status, version: makeVersionRef(version), problems };
}

/** Whether two texts are equal except for white space and Unicode normalization. Some services tidy both. */
export function differsOnlyInForm(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.normalize('NFC').replaceAll(/\s+/g, ''));
  return a === b;
}

/**
 * Makes the problem of an environment that serves another version than promptsync activated.
 * @param found the served version; null if the environment serves none
 */
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

/** Makes the error for a write that only a bug of promptsync can attempt. */
export function makeUnexpectedError(reason: string): ProblemError {
  return new ProblemError(makeProblem('internal/unexpected', { reason }));
}
