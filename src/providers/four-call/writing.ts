import type { ReadRequest } from '../../domain/observed-prompt.ts';
import { TRACKING_ENVIRONMENT } from '../../domain/policy.ts';
import type { WriteOutcome } from '../provider-interface.ts';
import { makeVersionRef } from '../../domain/versions.ts';
import type { PromptService } from './prompt-service.ts';
import { makeNotActiveProblem, makeStoppedOutcome } from '../write-outcome.ts';
import { prefixProblem, makeProblem, type Problem, toProblem, ProblemError } from '../../problem.ts';
import { findNextHead, type LedgerHead } from './ownership.ts';
import { readActiveBack, type LedgerReading, listVersionsRead } from './reading.ts';
import type { LedgerVersion } from './version-record.ts';
import type { ProviderOpening } from '../provider-descriptor.ts';

export type FourCallDependencies = Pick<ProviderOpening, 'newOperation' | 'textAt'> &
  Pick<ProviderOpening['connection'], 'sleep'> & { readonly service: PromptService };

/** The state that all writes to one prompt share. */
export type LedgerWriteState = {
  readonly dependencies: FourCallDependencies;
  readonly request: ReadRequest;
  /** Everything read so far. Replaced whenever promptsync creates, probes or activates a version. */
  reading: LedgerReading;
};

/** Returns the version that is active in the tracking environment. */
export function getLedgerHead({ reading }: LedgerWriteState): LedgerHead {
  return reading.active.get(TRACKING_ENVIRONMENT);
}

/** Adds versions to the reading, so that promptsync also knows the versions in their ledgers. */
export function rememberVersions(state: LedgerWriteState, ...versions: readonly LedgerVersion[]): void {
  const { reading } = state;
  state.reading = { ...reading, others: [...reading.others, ...versions] };
}

/**
 * Activates a version and reads the environment back. Throws if the activation fails. If the environment does not serve
 * the version afterward, the outcome contains the problem.
 */
export async function activateVersion(
  state: LedgerWriteState,
  environment: string,
  expected: LedgerVersion,
): Promise<WriteOutcome> {
  const { prompt, active } = state.reading;
  await state.dependencies.service.setActive(prompt.id, environment, expected.id);
  try {
    const version = await verifyActive(state, environment, expected);
    const before = active.get(environment) ?? null;
    rememberVersions(state, ...(before === null ? [] : [before]));
    state.reading = { ...state.reading, active: new Map([...active, [environment, version]]) };
    return { status: 'made', version: makeVersionRef(version), problems: [] };
  } catch (error) {
    return makeStoppedOutcome('unknown', toProblem(error));
  }
}

/**
 * Moves the tracking environment to the newest version read that may follow (see `mayFollowHead`). promptsync does this
 * before it moves any other environment, so that the next run finds the newest ledger even after an interruption.
 */
export async function trackNewestVersion(state: LedgerWriteState): Promise<readonly Problem[]> {
  const newest = findNextHead(listVersionsRead(state.reading), getLedgerHead(state));
  return newest === undefined ? [] : trackVersion(state, newest);
}

/** Returns problems instead of throwing them, with the name of the tracking environment in their messages. */
export async function trackVersion(state: LedgerWriteState, version: LedgerVersion): Promise<readonly Problem[]> {
  const activation = activateVersion(state, TRACKING_ENVIRONMENT, version);
  const { problems } = await activation.catch((error: unknown) => makeStoppedOutcome('unknown', toProblem(error)));
  return problems.map((problem) => prefixProblem(`Setting "${TRACKING_ENVIRONMENT}" to v${version.number}`, problem));
}

/** Throws a `ProblemError` if the environment does not serve the expected version, or if its text differs. */
async function verifyActive(
  { dependencies, reading }: LedgerWriteState,
  environment: string,
  expected: LedgerVersion,
): Promise<LedgerVersion> {
  const isExpected = ({ id, content }: LedgerVersion) =>
    id === expected.id && content.digest === expected.content.digest;
  const active = await readActiveBack(dependencies, reading.prompt.id, environment, isExpected);
  if (active === null || active.id !== expected.id) {
    throw new ProblemError(makeNotActiveProblem(environment, expected, active));
  }
  if (active.content.digest === expected.content.digest) return active;
  const evidence = { environment, expected: 'the planned text', found: `different text (v${active.number})` };
  throw new ProblemError(makeProblem('apply/not-active', evidence));
}
