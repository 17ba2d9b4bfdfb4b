import { type Problem, ProblemError, toProblem } from '../problem.ts';

/** The effect that a failed request had on the service. Only `unknown` means that there may be one. */
export type Effect = 'not-sent' | 'rejected' | 'unknown';

/** The error of a failed call to a service. */
export class ServiceError extends ProblemError {
  readonly effect: Effect;
  /** The HTTP status with which the service refused the request. Null if the error has a different cause. */
  readonly status: number | null;

  constructor(problem: Problem, effect: Effect, options: ErrorOptions & { readonly status?: number } = {}) {
    super(problem, options);
    this.name = 'ServiceError';
    this.effect = effect;
    this.status = options.status ?? null;
  }
}

/** Returns null if the service answered that the prompt or the version does not exist. Throws any other error. */
export async function returnNullIfMissing<Value>(
  call: Promise<Value>,
  code: 'service/prompt-not-found' | 'service/version-not-found',
): Promise<Value | null> {
  try {
    return await call;
  } catch (error) {
    if (toProblem(error).code === code) return null;
    throw error;
  }
}
