import { readWantedSince } from '../desired/read-wanted-since.ts';
import { type PromptPlan } from '../domain/plan.ts';
import type { EnvironmentPin } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { listActiveAsWanted } from '../planning/find-drift.ts';
import { isAfterCommit, makeMoveEvidence, wasMovedAfterSync } from '../planning/was-moved-after-sync.ts';
import type { PlannedWorkspace } from './run-with-plan.ts';
import { showsTimes } from '../domain/observed-prompt.ts';

/** An environment that somebody moved in the service after it had served what its pin wants. */
export type MovedEnvironment = {
  readonly pin: EnvironmentPin;
  /** The version that the pin wants. */
  readonly wanted: KnownVersion;
  /** The version that the environment serves. Null if no version is active. */
  readonly served: KnownVersion | null;
  /**
   * Whether somebody created the served version after the commit that introduced the pin. Such a version is an edit,
   * even if an earlier commit wanted the same text.
   */
  readonly isNewVersion: boolean;
};

/**
 * Finds the environments that somebody moved after a sync of HEAD, according to the times of the versions. Returns an
 * empty list if the service does not show these times.
 */
export async function findMovedEnvironments(
  { file, observed, changes }: PromptPlan,
  { repository, config, contentsAtRefs }: PlannedWorkspace,
): Promise<readonly MovedEnvironment[]> {
  const commit = repository?.head ?? null;
  if (observed === null || repository === null || commit === null || !showsTimes(observed)) return [];
  const atRefs = contentsAtRefs.get(file.id) ?? new Map();
  const wantedSince = await readWantedSince(file, observed, atRefs, { repository, branch: config.branch, commit });
  const activeAsWanted = listActiveAsWanted(file, changes, observed);
  return changes.flatMap((change): readonly MovedEnvironment[] => {
    if (change.kind !== 'set-active') return [];
    const evidence = makeMoveEvidence(change, { file, observed, wantedSince, activeAsWanted });
    if (evidence === null || !wasMovedAfterSync(evidence)) return [];
    const { pin, wanted, served } = evidence;
    const since = wantedSince.get(change.environment);
    const createdAt = served?.times?.createdAt;
    const isNewVersion = since !== undefined && createdAt !== undefined && isAfterCommit(createdAt, since);
    return [{ pin, wanted, served, isNewVersion }];
  });
}
