import type { EnvironmentSelection } from '../domain/desired-state.ts';
import { type Change, type CreateVersion, findCreateFor, isNewVersionRef, type SetActive } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { DriftResult } from './find-drift.ts';

/**
 * The parts of a prompt's plan that a run includes. promptsync always plans a prompt with all its pins, because a plan
 * made from only some of the pins would lose ledger entries and misjudge the promotion order. Then it drops the parts
 * that the run does not include.
 */
export type PlanScope = {
  /** Returns true if the run includes this environment's activations, drift and pin problems. */
  readonly includesEnvironment: (environment: string) => boolean;
  /** Whether the run covers changes to the key, the name and the description, and drift in these fields. */
  readonly includesFields: boolean;
  /** Whether the run includes versions that the plan does not activate in any environment. */
  readonly includesUnusedVersions: boolean;
};

/**
 * Returns the scope of a prompt:
 * - The scope includes the fields if the run includes the last environment that the file pins. If the file has no pins,
 *   the last known environment decides.
 * - The scope includes versions without an activation if the run includes the first known environment. These are
 *   baselines, and versions of the file's own text if no pin uses it.
 * - If the run only activates versions, the scope includes neither.
 * @param file the file with its pins in promotion order
 * @param selection the environments of the run; null if the run covers all environments
 */
export function makePlanScope({ pins }: PromptFile, selection: EnvironmentSelection | null): PlanScope {
  if (selection === null) {
    return { includesEnvironment: () => true, includesFields: true, includesUnusedVersions: true };
  }
  const { selected, known, activationsOnly = false } = selection;
  const includesEnvironment = (environment: string | undefined): boolean =>
    environment !== undefined && selected.includes(environment);
  return {
    includesEnvironment,
    includesFields: !activationsOnly && includesEnvironment(pins.at(-1)?.environment ?? known.at(-1)),
    includesUnusedVersions: !activationsOnly && includesEnvironment(known.at(0)),
  };
}

/** Returns the changes that are in the scope, in their original order. */
export function selectChanges(changes: readonly Change[], scope: PlanScope): readonly Change[] {
  return changes.filter((change) => {
    switch (change.kind) {
      case 'create-version':
        return isVersionInScope(change, changes, scope);
      case 'update-prompt':
        return scope.includesFields;
      case 'set-active':
        return scope.includesEnvironment(change.environment);
    }
  });
}

/**
 * Returns true if any activation in the scope uses the new version. A version without an activation, such as a
 * baseline, counts only if the scope includes such versions.
 */
function isVersionInScope(create: CreateVersion, changes: readonly Change[], scope: PlanScope): boolean {
  const users = listUsers(create, changes);
  if (users.length === 0) return scope.includesUnusedVersions;
  return users.some(({ environment }) => scope.includesEnvironment(environment));
}

/** Lists the activations that use the version that a change creates. */
export function listUsers(create: CreateVersion, changes: readonly Change[]): readonly SetActive[] {
  return changes
    .filter((change) => change.kind === 'set-active')
    .filter(({ after }) => isNewVersionRef(after) && findCreateFor(after, changes) === create);
}

/** Returns the drift and the annotations that the scope includes. */
export function selectDrift({ drift, annotations }: DriftResult, scope: PlanScope): DriftResult {
  return {
    drift: drift.filter((one) => isSubjectInScope(one, scope)),
    annotations: annotations.filter((one) => isSubjectInScope(one, scope)),
  };
}

/** The subject of a drift or of an annotation: either one environment or a field of the prompt. */
type DriftSubject = { readonly subject: 'environment'; readonly environment: string } | { readonly subject: 'field' };

function isSubjectInScope(one: DriftSubject, scope: PlanScope): boolean {
  return one.subject === 'field' ? scope.includesFields : scope.includesEnvironment(one.environment);
}
