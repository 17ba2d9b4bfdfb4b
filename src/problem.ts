import { LANGFUSE_PROBLEMS } from './providers/langfuse/langfuse-problems.ts';
import { COMMAND_PROBLEMS } from './problems/command-problems.ts';
import type { CatalogEntry, Severity } from './problems/catalog-entry.ts';
import { FILE_PROBLEMS } from './problems/file-problems.ts';
import { FORGE_PROBLEMS } from './problems/forge-problems.ts';
import { PLANNING_PROBLEMS } from './problems/planning-problems.ts';
import { SERVICE_PROBLEMS } from './problems/service-problems.ts';
import { USAGE_PROBLEMS } from './problems/usage-problems.ts';
import { DEFAULT_WORDS, type Words } from './service-words.ts';

/** The path is relative to the folder of the configuration file. Line and column numbers start at 1. */
export type Place = { readonly path?: string; readonly line?: number; readonly column?: number };

/** A problem to report. Renderers must escape the texts, which can contain text from files and from the service. */
export type Problem = Place & {
  readonly code: ProblemCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint: string;
  /** The values from which `wordProblem` can create the message and the hint again. Reports do not contain them. */
  readonly evidence?: unknown;
  /** The step that failed. The message begins with it. */
  readonly step?: string;
};

/** The catalog of all problems, by code. Each entry defines the severity and the wording of one problem. */
const catalog = {
  ...FILE_PROBLEMS,
  ...USAGE_PROBLEMS,
  ...FORGE_PROBLEMS,
  ...SERVICE_PROBLEMS,
  ...LANGFUSE_PROBLEMS,
  ...PLANNING_PROBLEMS,
  ...COMMAND_PROBLEMS,
};

/** The code of a problem. Codes are stable. They do not change when the wording changes. */
export type ProblemCode = keyof typeof catalog;

export const WARNING_CODES = Object.entries(catalog).flatMap(([code, entry]) => (isError(entry) ? [] : [code]));

export type EvidenceOf<Code extends ProblemCode> =
  (typeof catalog)[Code] extends CatalogEntry<infer Evidence> ? Evidence : never;

type Arguments<Code extends ProblemCode> =
  Record<string, never> extends EvidenceOf<Code>
    ? [code: Code, evidence?: Record<string, never>, place?: Place]
    : [code: Code, evidence: EvidenceOf<Code>, place?: Place];

/** Uses the words for a service that has no names of its own. */
export function makeProblem<Code extends ProblemCode>(...[code, evidence, place]: Arguments<Code>): Problem {
  const { severity } = catalog[code];
  return wordProblem({ code, severity, message: '', hint: '', evidence: evidence ?? {}, ...place }, DEFAULT_WORDS);
}

/** Rewords a problem for a provider. Keeps one without evidence, because `makeProblem` did not create it. */
export function wordProblem(problem: Problem, words: Words): Problem {
  if (problem.evidence === undefined) return problem;
  const entry: CatalogEntry<never> = catalog[problem.code];
  const evidence = problem.evidence as never;
  const step = problem.step === undefined ? '' : `${problem.step}: `;
  return { ...problem, message: `${step}${entry.message(evidence, words)}`, hint: entry.hint(evidence, words) };
}

/** An error that contains the problem to report. It stops the work on one prompt, file or command. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

/** Returns the problem of a `ProblemError`. Converts any other error to the problem `internal/unexpected`. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return makeProblem('internal/unexpected', { reason: getErrorMessage(error) });
}

/** Puts the step that failed, such as `Creating the version`, at the beginning of the message. */
export function prefixProblem(step: string, problem: Problem): Problem {
  return { ...problem, message: `${step}: ${problem.message}`, step };
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function findSystemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Returns a code such as `EACCES`, or else `unknown reason`, for a message. */
export function getSystemCode(error: unknown): string {
  return findSystemCode(error) ?? 'unknown reason';
}

const SYSTEM_ERRORS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EADDRINUSE', 'it is already in use'],
  ['EISDIR', 'it is a folder'],
  ['ENAMETOOLONG', 'the name is too long'],
  ['ENOENT', 'there is no such file'],
  ['ENOSPC', 'the disk is full'],
  ['ENOTDIR', 'part of its path is a file, not a folder'],
  ['EPERM', 'operation not permitted'],
  ['EROFS', 'the file system is read-only'],
]);

/** Describes the error of a failed file operation for a message, such as `permission denied, EACCES`. */
export function describeSystemError(error: unknown): string {
  const code = getSystemCode(error);
  const words = SYSTEM_ERRORS.get(code);
  return words === undefined ? code : `${words}, ${code}`;
}

/** Sorts by path, line and column. Problems without a location come first. Otherwise, the order stays the same. */
export function sortByPlace<Placed extends { readonly [Part in keyof Place]: Place[Part] | undefined }>(
  problems: readonly Placed[],
): readonly Placed[] {
  return problems.toSorted(
    (a, b) =>
      compareTexts(a.path ?? '', b.path ?? '') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Returns true if the problem is an error rather than a warning. */
export function isError({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error';
}
