import type { PromptPlan } from '../domain/plan.ts';
import type { EnvironmentPin } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';
import type { PlannedWorkspace } from './run-with-plan.ts';

/** An environment that somebody moved in the service after it had served what its pin wants. */
export type MovedEnvironment = {
  readonly pin: EnvironmentPin;
  readonly wanted: KnownVersion;
  readonly served: KnownVersion | null;
  readonly isNewVersion: boolean;
};

export async function findMovedEnvironments(_: PromptPlan, __: PlannedWorkspace): Promise<readonly MovedEnvironment[]> {
  return [];
}
