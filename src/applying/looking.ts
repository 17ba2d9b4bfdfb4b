import type { Observed } from '../domain/observed.ts';
import { lookEnvironment } from '../domain/policy.ts';
import type { Version } from '../domain/version.ts';
import { makeProblem, problemOf, ProblemError } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import type { Expected } from './reading-back.ts';

/**
 * Looks at versions that planning could not do without. Those that are not this prompt's are noted as missing; any
 * other failure throws a `ProblemError`.
 */
export async function lookUp(
  dependencies: ApplyDependencies,
  observed: Observed,
  versionIds: readonly string[],
): Promise<Observed> {
  const { trackingEnvironment } = dependencies;
  if (trackingEnvironment === null) return observed;
  const looked = [...observed.looked];
  const missing = [...observed.missing];
  for (const versionId of versionIds) {
    const version = await findOwn(dependencies, trackingEnvironment, observed.prompt.id, versionId);
    if (version === null) missing.push(versionId);
    else looked.push(version);
  }
  return { ...observed, looked, missing };
}

/**
 * Never an unverified version live: a version that was not read in this run is looked at, and must hold the text that
 * the ledger knows it by. Without a tracking environment nothing is looked at, and reading back has the last word.
 */
export async function verifyBeforeLive(
  dependencies: ApplyDependencies,
  promptId: string,
  { id, digest }: Expected,
): Promise<void> {
  const { trackingEnvironment } = dependencies;
  if (trackingEnvironment === null) return;
  const version = await look(dependencies, trackingEnvironment, promptId, id);
  if (digest === undefined || digest === version.digest) return;
  throw new ProblemError(makeProblem('apply/other-content', { version: `v${version.number}` }));
}

async function findOwn(...asked: Parameters<typeof look>): Promise<Version | null> {
  try {
    return await look(...asked);
  } catch (error) {
    if (problemOf(error).code === 'service/version-not-found') return null;
    throw error;
  }
}

/**
 * Reads a version that is active nowhere by making it active in the look environment, which nobody is served from:
 * however it fails, nothing that was planned has been done, so its error tells of no effect.
 */
async function look(
  { service }: ApplyDependencies,
  trackingEnvironment: string,
  promptId: string,
  versionId: string,
): Promise<Version> {
  const environment = lookEnvironment(trackingEnvironment);
  try {
    await service.setActive(promptId, environment, versionId);
    const { activeVersion } = await service.readPrompt(promptId, environment);
    if (activeVersion?.id === versionId) return activeVersion;
  } catch (error) {
    throw new ProblemError(problemOf(error), { cause: error });
  }
  throw new ProblemError(makeProblem('apply/changed-meanwhile', { environment }));
}
