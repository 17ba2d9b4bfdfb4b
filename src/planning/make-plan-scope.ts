import type { EnvironmentSelection } from '../domain/desired-state.ts';
import { type Change, type CreateVersion, findCreateFor, isNewVersionRef, type SetActive } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { DriftResult } from './find-drift.ts';

/**
 * The parts of a prompt's plan that a run includes. promptsync always plans all pins and then drops parts, because a
 * plan made from only some pins would lose ledger entries and misjudge the promotion order.
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
 * Includes the fields if the run includes the last environment that the file pins or, without pins, the last known one.
 * Includes baselines, and versions of the file's own text that no pin uses, if the run includes the first known
 * environment. If the run only activates versions, includes neither.
 * @param file the file with its pins in promotion order
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

/** A version without an activation, such as a baseline, counts only if the scope includes such versions. */
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

export function selectDrift({ drift, annotations }: DriftResult, scope: PlanScope): DriftResult {
  return {
    drift: drift.filter((one) => isSubjectInScope(one, scope)),
    annotations: annotations.filter((one) => isSubjectInScope(one, scope)),
  };
}

type DriftSubject = { readonly subject: 'environment'; readonly environment: string } | { readonly subject: 'field' };

function isSubjectInScope(one: DriftSubject, scope: PlanScope): boolean {
  return one.subject === 'field' ? scope.includesFields : scope.includesEnvironment(one.environment);
}
