import type { Problem } from '../problem.ts';

/** The outcome of an operation that may fail: its value, or the problems that prevented it. */
export type Result<Value> = Success<Value> | Failure;

/** The outcome of an operation that succeeded. */
export type Success<Value> = { readonly isSuccess: true; readonly value: Value };

/** The outcome of an operation that failed. */
export type Failure = {
  readonly isSuccess: false;
  /** The problems that prevented the operation. At least one of them is an error. */
  readonly problems: readonly Problem[];
};

/** Wraps the value of an operation that succeeded. */
export function makeSuccess<Value>(value: Value): Success<Value> {
  return { isSuccess: true, value };
}

/** Wraps the problems of an operation that failed. */
export function makeFailure(...problems: readonly Problem[]): Failure {
  return { isSuccess: false, problems };
}
