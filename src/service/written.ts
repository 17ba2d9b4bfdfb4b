import type { ChangeStatus } from '../domain/plan.ts';
import type { Written } from '../domain/provider.ts';
import { during, problemOf } from '../problem.ts';
import { ServiceError } from './prompt-service.ts';

/** Whether a call may have had its effect although it failed. */
export function isLost(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.effect === 'unknown';
}

/** What a write that threw has become. */
export function failed(step: string) {
  return (error: unknown): Written => {
    return stopped(isLost(error) ? 'unknown' : 'not_made', during(step, problemOf(error)));
  };
}

export function stopped(status: ChangeStatus, ...problems: Written['problems']): Written {
  return { status, problems };
}

/** In milliseconds: a version may be stored well after its answer was given up. */
export const LOST_CREATE_WAITS = [250, 1_000, 2_000, 4_000, 8_000];
