import { knownVersions, versionsRead } from '../domain/known-versions.ts';
import type { Observed } from '../domain/observed.ts';
import { lookEnvironment } from '../domain/policy.ts';
import type { Version, VersionRef } from '../domain/version.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';

/**
 * Reads a version that is active nowhere by making it active in the look environment, which nobody is served from.
 * Throws a `ProblemError` when it is not this prompt's, or when another one is found there.
 */
export async function look(
  { service }: ApplyDependencies,
  trackingEnvironment: string,
  promptId: string,
  versionId: string,
): Promise<Version> {
  const environment = lookEnvironment(trackingEnvironment);
  await service.setActive(promptId, environment, versionId);
  const { activeVersion } = await service.readPrompt(promptId, environment);
  if (activeVersion?.id === versionId) return activeVersion;
  throw new ProblemError(makeProblem('apply/changed-meanwhile', { environment }));
}

/** Looks at versions that planning could not do without. Those that are not this prompt's stay unknown. */
export async function lookUp(
  dependencies: ApplyDependencies,
  observed: Observed,
  versionIds: readonly string[],
): Promise<Observed> {
  const { trackingEnvironment } = dependencies;
  if (trackingEnvironment === null) return observed;
  const looked = [...observed.looked];
  for (const versionId of versionIds) {
    if (dependencies.stop.aborted) break;
    looked.push(await look(dependencies, trackingEnvironment, observed.prompt.id, versionId));
  }
  return { ...observed, looked };
}

/**
 * Never an unverified version live: a version that was not read in this run is looked at, and must hold the text that
 * the ledger knows it by. Without a tracking environment nothing is looked at, and reading back has the last word.
 */
export async function verifyBeforeLive(
  dependencies: ApplyDependencies,
  observed: Observed,
  target: VersionRef,
): Promise<void> {
  const { trackingEnvironment } = dependencies;
  if (trackingEnvironment === null || versionsRead(observed).some((version) => version.id === target.id)) return;
  const version = await look(dependencies, trackingEnvironment, observed.prompt.id, target.id);
  const known = knownVersions(observed).find((one) => one.id === target.id);
  if (known === undefined || known.digest === version.digest) return;
  throw new ProblemError(makeProblem('apply/other-content', { version: `v${version.number}` }));
}
