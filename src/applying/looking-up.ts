import { knownVersions } from '../domain/known-versions.ts';
import type { Observed } from '../domain/observed.ts';
import { headOf, mayFollow } from '../domain/ownership.ts';
import type { Version } from '../domain/version.ts';
import type { ApplyDependencies } from './deps.ts';
import { lookIfThere } from './looking.ts';
import { readBack } from './reading-back.ts';

/**
 * Looks at versions that planning could not do without. Those that are not this prompt's are noted as missing; any
 * other failure throws a `ProblemError`. The tracking environment moves to one that is newer of promptsync's own: it
 * would be forgotten otherwise.
 */
export async function lookUp(
  dependencies: ApplyDependencies,
  observed: Observed,
  versionIds: readonly string[],
): Promise<Observed> {
  let seen = await withHead(dependencies, observed);
  for (const versionId of versionIds) seen = await lookUpOne(dependencies, seen, versionId);
  return seen;
}

/** Whether a version may follow the head can only be told of a head that was read. */
async function withHead({ service, trackingEnvironment }: ApplyDependencies, observed: Observed): Promise<Observed> {
  if (observed.active.has(trackingEnvironment)) return observed;
  const { activeVersion } = await service.readPrompt(observed.prompt.id, trackingEnvironment);
  return withActive(observed, trackingEnvironment, activeVersion);
}

function withActive(observed: Observed, environment: string, version: Version | null): Observed {
  return { ...observed, active: new Map([...observed.active, [environment, version]]) };
}

async function lookUpOne(dependencies: ApplyDependencies, observed: Observed, versionId: string): Promise<Observed> {
  const version = await lookIfThere(dependencies, observed.prompt.id, versionId);
  if (version === null) return { ...observed, missing: [...observed.missing, versionId] };
  const seen = { ...observed, looked: [...observed.looked, version] };
  const newest = knownVersions(seen)[0]?.id === version.id;
  const leads = newest && mayFollow(version, headOf(seen, dependencies.trackingEnvironment));
  return leads ? moveHead(dependencies, seen, version) : seen;
}

async function moveHead(
  { service, trackingEnvironment }: ApplyDependencies,
  observed: Observed,
  version: Version,
): Promise<Observed> {
  const { id } = observed.prompt;
  await service.setActive(id, trackingEnvironment, version.id);
  const active = await readBack(service, id, trackingEnvironment, version);
  return withActive(observed, trackingEnvironment, active);
}
