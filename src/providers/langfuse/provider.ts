import { makeCommitMessage } from '../../domain/commit-message.ts';
import { makeNewVersionContent } from '../../domain/content.ts';
import type { ObservedPrompt, ReadRequest } from '../../domain/observed-prompt.ts';
import type { CreateVersion } from '../../domain/plan.ts';
import type { CreateOutcome, Provider, PromptWriter, WriteOutcome } from '../provider-interface.ts';
import type { ServedPrompt } from '../../domain/served-prompt.ts';
import { makeVersionRef, type VersionRef } from '../../domain/versions.ts';
import { type EvidenceOf, isError, makeProblem, type Problem, toProblem } from '../../problem.ts';
import { ServiceError } from '../../http/service-error.ts';
import { readUntil } from '../../http/retry.ts';
import {
  makeFailureHandler,
  findLostVersion,
  isLostResponse,
  makeNotActiveProblem,
  makeUnexpectedError,
  makeRewrittenOutcome,
  makeUnknownCreateOutcome,
  makeStoppedOutcome,
} from '../write-outcome.ts';
import type { LangfuseService, NewLangfuseVersion } from './client.ts';
import type { RemoteLangfuseVersion } from './version.ts';
import { findRewrittenVersion, isStoredAsPlanned } from './find-rewritten-version.ts';
import { interpretLangfuseReading, type LangfuseReading, readLangfusePrompt, listLangfuseVersions } from './reading.ts';
import type { ProviderOpening } from '../provider-descriptor.ts';
import { LANGFUSE_WORDS, MAX_MESSAGE_LENGTH } from './file-rules.ts';

type LangfuseDependencies = Pick<ProviderOpening['connection'], 'sleep'> &
  Pick<ProviderOpening, 'findUnselectedFile'> & { readonly service: LangfuseService };

type PromptReading = {
  /** Reads a prompt. Uses texts again that were read a moment ago, if the prompt has not changed since then. */
  readonly read: (request: ReadRequest) => Promise<LangfuseReading>;
  /** Converts a reading to the format that all providers share. */
  readonly interpret: (reading: LangfuseReading, request: ReadRequest) => ObservedPrompt;
};

/** In Langfuse, environments are labels, and every version can be read by its number. */
export function makeLangfuseProvider(dependencies: LangfuseDependencies): Provider {
  /** The last reading of each prompt, by id. It needs little extra memory, because the plans keep the same versions. */
  const lastReadings = new Map<string, LangfuseReading>();
  const read: PromptReading['read'] = async (request) => {
    const reading = await readLangfusePrompt(dependencies.service, request, lastReadings.get(request.promptId));
    lastReadings.set(request.promptId, reading);
    return reading;
  };
  const interpret = (reading: LangfuseReading, request: ReadRequest): ObservedPrompt => {
    const observed = interpretLangfuseReading(reading, request);
    const projectId = listLangfuseVersions(reading).find((version) => version.projectId !== null)?.projectId;
    return projectId ? { ...observed, url: dependencies.service.makePromptUrl(request.promptId, projectId) } : observed;
  };
  return {
    observe: async (request) => interpret(await read(request), request),
    makeWriter: (request) => makeLangfuseWriter({ ...dependencies, read, interpret }, request),
    readServed: (promptId, label) => readLabeledPrompt(dependencies.service, promptId, label),
    list: dependencies.service.list,
  };
}

/** Returns null if no version has the label, or if the prompt has not been synced yet. */
async function readLabeledPrompt(
  service: LangfuseService,
  promptId: string,
  label: string,
): Promise<ServedPrompt | null> {
  const served = await service.readServed(promptId, { kind: 'label', label });
  // With a wrong address, every request answers 404. In that case, reading the list fails, too.
  if (served === null) await service.find(promptId);
  return served;
}

/** The writes must run one at a time, because concurrent moves of a label can leave it on two versions. */
type LangfuseWriteState = LangfuseDependencies & {
  readonly request: ReadRequest;
  /** The last reading. Its `others` also contain `createdVersions`. */
  readonly reading: LangfuseReading;
  /** The versions that this apply created. */
  readonly createdVersions: RemoteLangfuseVersion[];
};

function makeLangfuseWriter(
  { read, interpret, ...dependencies }: LangfuseDependencies & PromptReading,
  request: ReadRequest,
): PromptWriter {
  let reading: LangfuseReading | null = null;
  const createdVersions: RemoteLangfuseVersion[] = [];
  const getState = (): LangfuseWriteState => {
    if (reading === null) throw makeUnexpectedError('promptsync did not read the prompt before writing it');
    const others = [...reading.others, ...createdVersions];
    return { ...dependencies, request, reading: { ...reading, others }, createdVersions };
  };
  const observe = async () => {
    reading = await read(request);
    return interpret(reading, request);
  };
  return {
    observe,
    // `observe` already reads every version that is pinned by number, so there is nothing more to search for.
    find: observe,
    create: async (change, { environments }) =>
      createLangfuseVersion(getState(), change, environments).catch(makeFailureHandler('Creating the version')),
    // The planner never plans this, because prompts in Langfuse have no fields. A call would be a bug, so it may throw.
    update: () => Promise.reject(makeUnexpectedError('prompts in Langfuse have no fields to update')),
    activate: async (labels, version) => {
      const failWith = makeFailureHandler(`Setting ${labels.map((label) => `"${label}"`).join(' and ')}`);
      return setLabels(getState(), labels, version).catch((error: unknown) => stopAll(labels, failWith(error)));
    },
  };
}

/**
 * Creates a version and moves labels to it in the same request. If the response is lost, searches for the version, and
 * adopts it.
 */
async function createLangfuseVersion(
  state: LangfuseWriteState,
  change: CreateVersion,
  labels: readonly string[],
): Promise<CreateOutcome> {
  const { service, request, reading, createdVersions } = state;
  const { provenance, metadataFrom } = change;
  // Use the config from the plan rather than from the last read, because reviewers saw the plan.
  const content = makeNewVersionContent(change.content, metadataFrom);
  const rewritten = findRewrittenVersion(listLangfuseVersions(reading), change);
  if (rewritten !== null) {
    const servedBy = [...reading.active].flatMap(([label, version]) => (version?.id === rewritten.id ? [label] : []));
    return makeRewrittenOutcome(rewritten, 'not_made', servedBy);
  }
  const newVersion = { content, labels, message: makeCommitMessage(provenance, MAX_MESSAGE_LENGTH) };
  try {
    const created = await readBackIfDifferent(state, await service.create(request.promptId, newVersion), change);
    createdVersions.push(created);
    const outcome = await makeCreateOutcome(state, created, labels);
    if (isStoredAsPlanned(created, change)) return { ...outcome, status: 'made' };
    return { ...outcome, ...makeRewrittenOutcome(created, 'made', outcome.movedEnvironments) };
  } catch (error) {
    if (error instanceof ServiceError && error.problem.code === 'langfuse/concurrent-version') {
      return { ...makeStoppedOutcome('not_made', error.problem), hasConcurrentVersion: true };
    }
    if (!isLostResponse(error)) throw nameUnselectedFile(error, state);
    const recovered = await findLostLangfuseVersion(state, newVersion, change);
    if (recovered === null) return { ...makeUnknownCreateOutcome(error, LANGFUSE_WORDS), movedEnvironments: labels };
    createdVersions.push(recovered);
    return { ...(await makeCreateOutcome(state, recovered, labels)), status: 'adopted', isRecovered: true };
  }
}

/** Adds the path of the missing part to the error about it, if the part has a file that the user did not select. */
function nameUnselectedFile(error: unknown, { findUnselectedFile }: LangfuseDependencies): unknown {
  if (!(error instanceof ServiceError) || error.problem.code !== 'langfuse/missing-part') return error;
  const evidence = error.problem.evidence as EvidenceOf<'langfuse/missing-part'>;
  const problem = makeProblem('langfuse/missing-part', { ...evidence, path: findUnselectedFile(evidence.part) });
  return new ServiceError(problem, error.effect);
}

/**
 * If the response differs from the plan, for example in the digits of a number, reads the version, because only a read
 * shows what Langfuse has stored. If the read fails, uses the response.
 */
async function readBackIfDifferent(
  { service, request }: LangfuseWriteState,
  created: RemoteLangfuseVersion,
  change: CreateVersion,
): Promise<RemoteLangfuseVersion> {
  if (isStoredAsPlanned(created, change)) return created;
  const stored = service.read(request.promptId, { kind: 'version', version: created.number });
  return (await stored.catch(() => null)) ?? created;
}

/**
 * Reads each requested label, and reports it as moved only if it is still on the created version. Otherwise `setLabels`
 * moves it again. If a label cannot be read, for example after an interrupt, relies on the response.
 */
async function makeCreateOutcome(
  { service, request }: LangfuseWriteState,
  created: RemoteLangfuseVersion,
  labels: readonly string[],
): Promise<Omit<CreateOutcome, 'status'> & Required<Pick<CreateOutcome, 'movedEnvironments'>>> {
  const hasLabel = async (label: string): Promise<boolean> => {
    try {
      const labeled = await service.read(request.promptId, { kind: 'label', label });
      return labeled?.id === created.id;
    } catch {
      return created.labels.includes(label);
    }
  };
  const areMoved = await Promise.all(labels.map(hasLabel));
  const movedEnvironments = labels.filter((_, index) => areMoved[index]);
  return { version: makeVersionRef(created), movedEnvironments, problems: [] };
}

/** Searches up to 15 seconds for a new version with the planned text, config and commit message. */
async function findLostLangfuseVersion(
  { service, sleep, request: { promptId }, reading }: LangfuseWriteState,
  { message }: NewLangfuseVersion,
  change: CreateVersion,
): Promise<RemoteLangfuseVersion | null> {
  const earlierNumbers = new Set([
    ...(reading.listed?.versions ?? []),
    ...listLangfuseVersions(reading).map(({ number }) => number),
  ]);
  const findNewVersion = async () => {
    const row = await service.find(promptId);
    const newNumbers = (row?.versions ?? []).filter((number) => !earlierNumbers.has(number));
    for (const number of newNumbers) {
      const version = await service.read(promptId, { kind: 'version', version: number });
      if (version !== null && isStoredAsPlanned(version, change) && version.message === message) return version;
    }
    return null;
  };
  return findLostVersion(findNewVersion, sleep);
}

/** Moves labels in one request and reads each one back, because a response can be lost. */
async function setLabels(
  state: LangfuseWriteState,
  labels: readonly string[],
  { id, number }: VersionRef,
): Promise<readonly WriteOutcome[]> {
  // If this apply created a different version with this number, Langfuse has reused the number of a deleted version.
  // The labels must not move to the wrong content.
  if (state.createdVersions.some((created) => created.number === number && created.id !== id)) {
    const evidence = { version: `v${number}`, known: 'the version that promptsync read under this number' };
    return stopAll(labels, makeStoppedOutcome('not_made', makeProblem('apply/other-content', evidence)));
  }
  const expected = listLangfuseVersions(state.reading).find((version) => version.id === id);
  if (expected === undefined) throw makeUnexpectedError('the version to activate was not read');
  const lostResponse = await findLostResponse(state.service.addLabels(state.request.promptId, expected.number, labels));
  const outcomes: WriteOutcome[] = [];
  for (const label of labels) {
    const hasFailed = outcomes.some(({ problems }) => problems.some(isError));
    outcomes.push(await confirmLabel(state, label, expected, { lostResponse, mayMoveAgain: !hasFailed }));
  }
  const [first, ...others] = outcomes;
  if (first === undefined || lostResponse === null || isError(lostResponse.problem)) return outcomes;
  const problems = await findCompositionProblems(state, expected.number);
  return [{ ...first, problems: [...problems, ...first.problems] }, ...others];
}

/**
 * Returns a warning if Langfuse cannot resolve the composition tags of a version. The response to a move does not show
 * this, because Langfuse also resolves the versions that the labels leave.
 */
async function findCompositionProblems(
  { service, request }: LangfuseWriteState,
  version: number,
): Promise<readonly Problem[]> {
  try {
    await service.readServed(request.promptId, { kind: 'version', version });
    return [];
  } catch (error) {
    const problem = toProblem(error);
    return problem.code === 'langfuse/composition-fails' ? [problem] : [];
  }
}

/** Returns the error of a write that may have had an effect, and throws any other error. */
async function findLostResponse(write: Promise<void>): Promise<ServiceError | null> {
  try {
    await write;
    return null;
  } catch (error) {
    if (isLostResponse(error)) return error;
    throw error;
  }
}

type LabelMove = {
  /** The error of the request if its response was lost. Null if Langfuse confirmed the move. */
  readonly lostResponse: ServiceError | null;
  readonly mayMoveAgain: boolean;
};

/**
 * Reads a label back after a move. If Langfuse returns a different version, moves the label once more on its own,
 * because concurrent moves may have left the label on two versions.
 */
async function confirmLabel(
  { service, sleep, request: { promptId } }: LangfuseWriteState,
  label: string,
  expected: RemoteLangfuseVersion,
  { lostResponse, mayMoveAgain }: LabelMove,
): Promise<WriteOutcome> {
  const readLabeled = () => service.read(promptId, { kind: 'label', label });
  const isExpected = (version: RemoteLangfuseVersion | null) => version?.id === expected.id;
  const outcome: WriteOutcome = { status: 'made', version: makeVersionRef(expected), problems: [] };
  const failWith = makeFailureHandler(`Setting "${label}"`);
  try {
    const first = await readLabeled();
    if (isExpected(first)) return outcome;
    if (lostResponse !== null && isError(lostResponse.problem)) return failWith(lostResponse);
    // If only the id differs, Langfuse has reused the number for different content. Do not move the label there again.
    if (mayMoveAgain && first?.number !== expected.number) {
      await findLostResponse(service.addLabels(promptId, expected.number, [label]));
    }
    // Without another move, one read is enough: the caches expired while promptsync waited for an earlier label.
    const last = mayMoveAgain ? await readUntil(readLabeled, isExpected, sleep) : first;
    if (isExpected(last)) return outcome;
    return makeStoppedOutcome('unknown', makeNotActiveProblem(label, expected, last));
  } catch (error) {
    return { ...failWith(error), status: 'unknown' };
  }
}

/** Only the first outcome has the problem. */
function stopAll(labels: readonly string[], outcome: WriteOutcome): readonly WriteOutcome[] {
  return labels.map((_, index) => (index === 0 ? outcome : { ...outcome, problems: [] }));
}
