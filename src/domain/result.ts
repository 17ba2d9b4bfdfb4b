import { type Problem, ProblemError } from '../problem.ts';

/** The outcome of an operation that can fail: its value, or the problems that prevented it. */
export type Result<Value> = Success<Value> | Failure;

export type Success<Value> = { readonly isSuccess: true; readonly value: Value };

export type Failure = {
  readonly isSuccess: false;
  /** At least one of the problems is an error. */
  readonly problems: readonly Problem[];
};

/** Wraps the value of a successful operation. */
export function makeSuccess<Value>(value: Value): Success<Value> {
  return { isSuccess: true, value };
}

/** Wraps the problems of a failed operation. */
export function makeFailure(...problems: readonly Problem[]): Failure {
  return { isSuccess: false, problems };
}

/** Converts a thrown `ProblemError` to a failure. Throws every other error again, because it is a bug. */
export function failWithProblem(error: unknown): Failure {
  if (error instanceof ProblemError) return makeFailure(error.problem);
  throw error;
}
