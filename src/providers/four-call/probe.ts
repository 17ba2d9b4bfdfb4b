import type { Pin } from '../../domain/prompt-file.ts';
import { PROBE_ENVIRONMENT } from '../../domain/policy.ts';
import { makeProblem, toProblem, ProblemError } from '../../problem.ts';
import { returnNullIfMissing } from '../../http/service-error.ts';
import { findKnownEntry, readActiveBack, findUnreadNewestId, listVersionsRead } from './reading.ts';
import type { LedgerEntry, LedgerVersion } from './version-record.ts';
import { trackNewestVersion, rememberVersions, type FourCallDependencies, type LedgerWriteState } from './writing.ts';

/**
 * Reads a version by activating it in the probe environment, which no application uses. Throws a `ProblemError` rather
 * than a `ServiceError`, because a failed probe is not a failed change of the plan.
 */
export async function probeVersion(
  dependencies: FourCallDependencies,
  promptId: string,
  versionId: string,
): Promise<LedgerVersion> {
  try {
    await dependencies.service.setActive(promptId, PROBE_ENVIRONMENT, versionId);
    const version = await readActiveBack(dependencies, promptId, PROBE_ENVIRONMENT, ({ id }) => id === versionId);
    if (version?.id === versionId) return version;
  } catch (error) {
    throw new ProblemError(toProblem(error), { cause: error });
  }
  throw new ProblemError(makeProblem('apply/changed-meanwhile', { environment: PROBE_ENVIRONMENT }));
}

/** Returns null if the prompt has no version with this id. */
async function probeVersionIfPresent(
  dependencies: FourCallDependencies,
  promptId: string,
  versionId: string,
): Promise<LedgerVersion | null> {
  return returnNullIfMissing(probeVersion(dependencies, promptId, versionId), 'service/version-not-found');
}

/**
 * Probes the newest version if it is unknown, because it may have the content that promptsync is about to create.
 * Throws a `ProblemError` if it cannot be read.
 */
export async function probeNewestVersion(state: LedgerWriteState): Promise<void> {
  const { id: promptId, latestVersionId: id } = state.reading.prompt;
  if (id === null || findKnownEntry(state.reading, id) !== undefined) return;
  const version = await probeVersionIfPresent(state.dependencies, promptId, id);
  if (version === null) throw new ProblemError(makeProblem('apply/newest-unreadable', { id }));
  rememberVersions(state, version);
}

/**
 * Returns the version of a ledger entry, and probes it if necessary. Throws a `ProblemError` if the version or the text
 * in git does not match the entry.
 */
export async function probeVerifiedVersion(state: LedgerWriteState, entry: LedgerEntry): Promise<LedgerVersion> {
  const read = listVersionsRead(state.reading).find(({ id }) => id === entry.id);
  const version = read ?? (await probeAfterGitCheck(state, entry));
  if (version.content.digest !== entry.digest || version.number !== entry.number) {
    throw makeOtherContentError(version.number, 'its entry in the ledger');
  }
  if (read === undefined) rememberVersions(state, version);
  return version;
}

/** If git has the prompt file of the entry, first checks that its text matches the digest in the entry. */
async function probeAfterGitCheck(
  { dependencies, reading }: LedgerWriteState,
  entry: LedgerEntry,
): Promise<LedgerVersion> {
  const { id, commit, path, digest, number } = entry;
  if (commit !== undefined && path !== undefined) {
    const committed = await dependencies.textAt(commit, path);
    if (committed !== null && committed.digest !== digest) {
      throw makeOtherContentError(number, `the prompt file in git (${commit}:${path})`);
    }
  }
  return probeVersion(dependencies, reading.prompt.id, id);
}

/** `known` is the source of the expected content, such as `its entry in the ledger`. */
function makeOtherContentError(number: number, known: string): ProblemError {
  return new ProblemError(makeProblem('apply/other-content', { version: `v${number}`, known }));
}

/**
 * Probes the versions that pins specify by id, and remembers missing ids. If a pin specifies a number, also probes the
 * newest version, which may have it. Then moves the tracking environment to the newest version that may follow, so that
 * later runs find its ledger. Throws a `ProblemError` if anything else fails.
 */
export async function probePinnedVersions(state: LedgerWriteState, pins: readonly Pin[]): Promise<void> {
  const { reading } = state;
  const newest = pins.some(({ kind }) => kind === 'number') ? findUnreadNewestId(reading) : null;
  const ids = pins.flatMap((pin) => (pin.kind === 'version' ? [pin.id] : []));
  for (const id of new Set([...(newest === null ? [] : [newest]), ...ids])) {
    const version = await probeVersionIfPresent(state.dependencies, reading.prompt.id, id);
    if (version !== null) rememberVersions(state, version);
    else state.reading = { ...state.reading, missingIds: [...state.reading.missingIds, id] };
  }
  const [problem] = await trackNewestVersion(state);
  if (problem !== undefined) throw new ProblemError(problem);
}
