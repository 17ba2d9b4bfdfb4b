import { makeProblem, type Problem } from '../../problem.ts';
import { findErrorMessage } from '../../http/find-error-message.ts';
import type { Refusal } from '../../http/service-call.ts';

/** After a 4xx response to a create request, Langfuse has created nothing. */
export function interpretCreateRefusal(status: number, body: string): Refusal | null {
  const message = findErrorMessage(body);
  if (status !== 400 || message === null) return interpretOtherRefusal(status, message);
  const isConcurrent = CONCURRENT_VERSION.some((part) => message.includes(part));
  if (isConcurrent) return reject(makeProblem('langfuse/concurrent-version'));
  const [, part, selector] = MISSING_PART.exec(message) ?? [];
  if (part !== undefined && selector !== undefined)
    return reject(makeProblem('langfuse/missing-part', { part, selector, path: null }));
  return interpretOtherRefusal(status, message);
}

/**
 * Parts of Langfuse's messages if somebody else has created a version since promptsync observed the prompt: either with
 * the same number, or as the first version of the prompt and with a different type.
 */
const CONCURRENT_VERSION = ['unique constraint', 'different prompt type'];

/**
 * Langfuse moves labels before it resolves the composition tags of this version and of those that the labels have left.
 * If that fails, it responds with 409, so the labels may have moved.
 */
export function interpretLabelRefusal(version: number, status: number, body: string): Refusal | null {
  const message = findErrorMessage(body);
  if (status !== 409) return interpretOtherRefusal(status, message);
  return { problem: makeCompositionProblem(version, message), effect: 'unknown' };
}

function makeCompositionProblem(version: number, message: string | null): Problem {
  return makeProblem('langfuse/composition-fails', { version, message: message ?? 'unknown' });
}

/** Matches Langfuse's error message for a composition tag that refers to a missing prompt, label or version. */
const MISSING_PART = /^Prompt dependency not found: (.*) - ((?:label|version) .*)$/;

/** The status 404 means the same as for every service: the prompt or the version does not exist. */
export function interpretReadRefusal(status: number, body: string): Refusal | null {
  return status === 404 ? null : interpretOtherRefusal(status, findErrorMessage(body));
}

/** Interprets a 4xx response to a read with resolved composition tags. `version` is null if a label selects it. */
export function interpretServedRefusal(version: number | null, status: number, body: string): Refusal | null {
  if (version === null || status !== 409) return interpretReadRefusal(status, body);
  return reject(makeCompositionProblem(version, findErrorMessage(body)));
}

/** The statuses that mean the same for every service. */
const COMMON_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);

function interpretOtherRefusal(status: number, message: string | null): Refusal | null {
  if (COMMON_STATUSES.has(status) || message === null) return null;
  return reject(makeProblem('langfuse/refused', { status, message }));
}

function reject(problem: Problem): Refusal {
  return { problem, effect: 'rejected' };
}
