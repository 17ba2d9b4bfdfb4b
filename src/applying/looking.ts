import { knownVersions } from '../domain/known-versions.ts';
import type { Observed } from '../domain/observed.ts';
import { headOf, mayFollow } from '../domain/ownership.ts';
import { lookEnvironment } from '../domain/policy.ts';
import type { LedgerEntry, Version } from '../domain/version.ts';
import { makeProblem, problemOf, ProblemError } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { readBack } from './reading-back.ts';
import { note, type Writing } from './writing.ts';

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
  const { trackingEnvironment } = dependencies;
  if (trackingEnvironment === null) return observed;
  let seen = observed;
  for (const versionId of versionIds) seen = await lookUpOne(dependencies, trackingEnvironment, seen, versionId);
  return seen;
}

async function lookUpOne(
  dependencies: ApplyDependencies,
  trackingEnvironment: string,
  observed: Observed,
  versionId: string,
): Promise<Observed> {
  const version = await findOwn(dependencies, trackingEnvironment, observed.prompt.id, versionId);
  if (version === null) return { ...observed, missing: [...observed.missing, versionId] };
  const seen = { ...observed, looked: [...observed.looked, version] };
  const newest = knownVersions(seen)[0]?.id === version.id;
  const leads = newest && mayFollow(version, headOf(seen, trackingEnvironment));
  return leads ? moveHead(dependencies, trackingEnvironment, seen, version) : seen;
}

async function moveHead(
  { service }: ApplyDependencies,
  trackingEnvironment: string,
  observed: Observed,
  version: Version,
): Promise<Observed> {
  const { id } = observed.prompt;
  await service.setActive(id, trackingEnvironment, version.id);
  const active = await readBack(service, id, trackingEnvironment, version);
  return { ...observed, active: new Map([...observed.active, [trackingEnvironment, active]]) };
}

/** The newest version of the service, where nobody has read it and no ledger names it; null otherwise. */
export async function lookAtNewest(writing: Writing): Promise<Version | null> {
  const { dependencies, observed, known } = writing;
  const { trackingEnvironment } = dependencies;
  const id = observed.prompt.latestVersionId;
  if (trackingEnvironment === null || id === null || known.has(id) || observed.missing.includes(id)) return null;
  const version = await findOwn(dependencies, trackingEnvironment, observed.prompt.id, id);
  if (version !== null) note(writing, version);
  return version;
}

/**
 * Never an unverified version live: one that was not read in this run must be what the ledger and git know it as. It
 * is looked at for that; without a tracking environment nothing is looked at, and reading back has the last word.
 */
export async function verifyBeforeLive(writing: Writing, entry: LedgerEntry): Promise<void> {
  const { dependencies, observed } = writing;
  const { trackingEnvironment } = dependencies;
  await verifyByGit(dependencies, entry);
  if (trackingEnvironment === null) return;
  const version = await look(dependencies, trackingEnvironment, observed.prompt.id, entry.id);
  if (version.digest === entry.digest && version.number === entry.number) return;
  throw otherContent(`v${version.number}`, 'the ledger knows it as');
}

async function verifyByGit({ digestAt }: ApplyDependencies, entry: LedgerEntry): Promise<void> {
  const { commit, path, digest, number } = entry;
  if (commit === undefined || path === undefined) return;
  const held = await digestAt(commit, path);
  if (held !== null && held !== digest) throw otherContent(`v${number}`, `git has at ${commit}:${path}`);
}

function otherContent(version: string, known: string): ProblemError {
  return new ProblemError(makeProblem('apply/other-content', { version, known }));
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
export async function look(
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
