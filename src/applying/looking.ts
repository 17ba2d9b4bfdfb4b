import { lookEnvironment } from '../domain/policy.ts';
import type { Version } from '../domain/version.ts';
import { makeProblem, problemOf, ProblemError } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { note, type Writing } from './writing.ts';

type Looking = Pick<ApplyDependencies, 'service' | 'trackingEnvironment'>;

/**
 * Reads a version that is active nowhere by making it active in the look environment, which nobody is served from:
 * however it fails, nothing that was planned has been done, so its error tells of no effect.
 */
export async function look(
  { service, trackingEnvironment }: Looking,
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

/** The same; null where the prompt has no such version. */
export async function lookIfThere(...asked: Parameters<typeof look>): Promise<Version | null> {
  try {
    return await look(...asked);
  } catch (error) {
    if (problemOf(error).code === 'service/version-not-found') return null;
    throw error;
  }
}

/**
 * Looks at the newest version of the service, where nobody has read it and no ledger names it; null otherwise. Throws
 * also where the service says that there is none: it has named it, and it may be the very one that is to be made.
 */
export async function lookAtNewest(writing: Writing): Promise<Version | null> {
  const { dependencies, observed, known } = writing;
  const { id: promptId, latestVersionId: id } = observed.prompt;
  if (id === null || known.has(id)) return null;
  const version = await lookIfThere(dependencies, promptId, id);
  if (version === null) throw new ProblemError(makeProblem('apply/newest-unreadable', { id }));
  note(writing, version);
  return version;
}
