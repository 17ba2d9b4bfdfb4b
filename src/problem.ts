import { LANGFUSE_PROBLEMS } from './langfuse/problems.ts';
import { COMMAND_PROBLEMS } from './problems/commands.ts';
import type { CatalogEntry } from './problems/catalog-entry.ts';
import { FILE_PROBLEMS } from './problems/files.ts';
import { PLANNING_PROBLEMS } from './problems/planning.ts';
import { SERVICE_PROBLEMS } from './problems/service.ts';
import { USAGE_PROBLEMS } from './problems/usage.ts';

/**
 * The catalogue of everything that can go wrong for a user. Each entry says what happened (`message`) and what to do
 * (`hint`). Text in here may hold anything that a file or the service said: renderers escape it.
 */

/** An error stops what it is about, a warning does not. */
type Severity = 'error' | 'warning';

/** Where a problem is: a path relative to the configuration file's folder, line and column from 1. */
export type Place = { readonly path?: string; readonly line?: number; readonly column?: number };

/** One thing that is wrong, worded for the person who has to do something about it. */
export type Problem = Place & {
  readonly code: ProblemCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint: string;
};

const catalog = {
  ...FILE_PROBLEMS,
  ...USAGE_PROBLEMS,
  ...SERVICE_PROBLEMS,
  ...LANGFUSE_PROBLEMS,
  ...PLANNING_PROBLEMS,
  ...COMMAND_PROBLEMS,
};

/** Names of problems, which stay the same whatever their wording becomes. */
export type ProblemCode = keyof typeof catalog;

/** The codes of all warnings. */
export const WARNING_CODES = Object.entries(catalog).flatMap(([code, one]) => (isError(one) ? [] : [code]));

/** What the wording of a problem needs to know. */
export type EvidenceOf<Code extends ProblemCode> =
  (typeof catalog)[Code] extends CatalogEntry<infer Evidence> ? Evidence : never;

type Arguments<Code extends ProblemCode> =
  Record<string, never> extends EvidenceOf<Code>
    ? [code: Code, evidence?: Record<string, never>, place?: Place]
    : [code: Code, evidence: EvidenceOf<Code>, place?: Place];

/** A problem as plain data, worded by the catalogue. */
export function makeProblem<Code extends ProblemCode>(...[code, evidence, place]: Arguments<Code>): Problem {
  const entry: CatalogEntry<never> = catalog[code];
  const known = (evidence ?? {}) as never;
  return { code, severity: entry.severity, message: entry.message(known), hint: entry.hint(known), ...place };
}

/** An error that stops one piece of work, with the problem to show for it. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

export function toProblem(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return makeProblem('internal/unexpected', { reason: getErrorMessage(error) });
}

/** The problem with what was being done when it came up. */
export function prefixProblem(step: string, problem: Problem): Problem {
  return { ...problem, message: `${step}: ${problem.message}` };
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system's short name for why a file cannot be read or written, such as `EACCES`. */
export function getSystemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}

/** By path, line and column; those without a place come first, and equals keep their order. */
export function sortByPlace<Placed extends { readonly [Part in keyof Place]: Place[Part] | undefined }>(
  problems: readonly Placed[],
): readonly Placed[] {
  return problems.toSorted(
    (a, b) =>
      Number((a.path ?? '') > (b.path ?? '')) - Number((a.path ?? '') < (b.path ?? '')) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  );
}

/** Whether the problem stops what it is about; a warning stops nothing. */
export function isError({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error';
}
