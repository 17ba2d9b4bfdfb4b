import { makeNewVersionContent } from '../domain/content.ts';
import type { ReadRequest } from '../domain/observed-prompt.ts';
import type { CreateVersion } from '../domain/plan.ts';
import type { CreateOutcome, Provider, PromptWriter, WriteOutcome } from '../domain/provider.ts';
import { makeVersionRef, type VersionRef } from '../domain/versions.ts';
import { readUntil } from '../service/retry.ts';
import {
  makeFailureHandler,
  findLostVersion,
  isLostResponse,
  makeNotActiveProblem,
  makeUnexpectedError,
  refuseRewritten,
  reportUnknownCreate,
  makeStoppedOutcome,
} from '../service/write-outcome.ts';
import type { LangfuseService, NewLangfuseVersion, RemoteLangfuseVersion } from './client.ts';
import {
  findRewrittenVersion,
  isStoredAsPlanned,
  makeCommitMessage,
  type ReadFormerContents,
} from './find-rewritten-version.ts';
import {
  interpretLangfuseReading,
  LATEST_LABEL,
  type LangfuseReading,
  readLangfusePrompt,
  listLangfuseVersions,
} from './reading.ts';

type LangfuseWorld = {
  readonly service: LangfuseService;
  readonly readFormerContents: ReadFormerContents;
  /** Waits so many milliseconds; rejects when the run is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** Langfuse as a provider: environments are labels, and any version can be read by its number. */
export function makeLangfuseProvider(world: LangfuseWorld): Provider {
  return {
    observe: async (wanted) => interpretLangfuseReading(await readLangfusePrompt(world.service, wanted), wanted),
    makeWriter: (wanted) => makeLangfuseWriter(world, wanted),
    list: async () =>
      (await world.service.list()).map(({ labels, ...listed }) => ({
        ...listed,
        environments: labels.filter((label) => label !== LATEST_LABEL).toSorted(),
      })),
  };
}

/** Writes of a prompt go one after the other: labels that move at the same time are left on two versions. */
type LangfuseWriteState = LangfuseWorld & {
  readonly request: ReadRequest;
  /** Includes the created versions. */
  readonly reading: LangfuseReading;
  /** The versions that this run has created or adopted. */
  readonly created: readonly RemoteLangfuseVersion[];
};

function makeLangfuseWriter(world: LangfuseWorld, wanted: ReadRequest): PromptWriter {
  let reading: LangfuseReading | null = null;
  const created: RemoteLangfuseVersion[] = [];
  const begun = (): LangfuseWriteState => {
    if (reading === null) throw makeUnexpectedError('nothing was observed');
    return { ...world, request: wanted, reading: { ...reading, others: [...reading.others, ...created] }, created };
  };
  const observe = async () => {
    reading = await readLangfusePrompt(world.service, wanted);
    return interpretLangfuseReading(reading, wanted);
  };
  return {
    observe,
    // What a pin may name was read by its number already.
    find: observe,
    create: async (change, { environments }) => {
      const note = (version: RemoteLangfuseVersion) => void created.push(version);
      return createLangfuseVersion(begun(), change, environments, note).catch(
        makeFailureHandler('Creating the version'),
      );
    },
    update: () => Promise.reject(makeUnexpectedError('a prompt has no fields here')),
    activate: async (label, version) =>
      setLabel(begun(), label, version).catch(makeFailureHandler(`Setting "${label}"`)),
  };
}

type NoteVersion = (version: RemoteLangfuseVersion) => void;

/** Makes a version together with its labels, once; where the answer is lost, finds out what became of it. */
async function createLangfuseVersion(
  writing: LangfuseWriteState,
  change: CreateVersion,
  labels: readonly string[],
  note: NoteVersion,
): Promise<CreateOutcome> {
  const { service, readFormerContents, request: wanted, reading, created } = writing;
  const { content, provenance, metadataFrom } = change;
  // The plan's value, because that is what the review has shown.
  const written = makeNewVersionContent(content, metadataFrom);
  const earlier = listLangfuseVersions(reading).filter((one) => !created.includes(one));
  const rewritten = await findRewrittenVersion(earlier, change, readFormerContents);
  if (rewritten !== null) return refuseRewritten(rewritten, 'not_made');
  const version = { content: written, labels, message: makeCommitMessage(provenance) };
  try {
    const made = await service.create(wanted.promptId, version);
    note(made);
    if (isStoredAsPlanned(made, change)) return { ...(await makeCreateOutcome(writing, made, labels)), status: 'made' };
    return { ...refuseRewritten(made, 'made'), movedEnvironments: labels };
  } catch (error) {
    if (!isLostResponse(error)) throw error;
    const found = await findLostLangfuseVersion(writing, version, change);
    if (found === null) return { ...reportUnknownCreate(error), movedEnvironments: labels };
    note(found);
    return { ...(await makeCreateOutcome(writing, found, labels)), status: 'adopted' };
  }
}

/**
 * A label that is not where it was sent to, because somebody else has moved it meanwhile, is left to `setLabel`. Where
 * it cannot be read any more, such as after an interruption, it is where the answer to the create has it.
 */
async function makeCreateOutcome(
  { service, request: wanted }: LangfuseWriteState,
  made: RemoteLangfuseVersion,
  labels: readonly string[],
): Promise<Omit<CreateOutcome, 'status'>> {
  const isThere = async (label: string): Promise<boolean> => {
    const answered = made.labels.includes(label) ? made : null;
    const shown = await service.read(wanted.promptId, { kind: 'label', label }).catch(() => answered);
    return shown?.id === made.id;
  };
  const there = await Promise.all(labels.map(isThere));
  return { version: makeVersionRef(made), movedEnvironments: labels.filter((_, at) => there[at]), problems: [] };
}

/** The version of this text, config and commit message that was not there before; null if none turns up in time. */
async function findLostLangfuseVersion(
  { service, sleep, request: { promptId }, reading }: LangfuseWriteState,
  { message }: NewLangfuseVersion,
  change: CreateVersion,
): Promise<RemoteLangfuseVersion | null> {
  const before = new Set([
    ...(reading.listed?.versions ?? []),
    ...listLangfuseVersions(reading).map(({ number }) => number),
  ]);
  const findNew = async () => {
    const row = await service.find(promptId);
    for (const version of (row?.versions ?? []).filter((number) => !before.has(number))) {
      const read = await service.read(promptId, { kind: 'version', version });
      if (read !== null && isStoredAsPlanned(read, change) && read.message === message) return read;
    }
    return null;
  };
  return findLostVersion(findNew, sleep);
}

/** Moves a label and reads it back; once more where that shows another version, which heals a label that is on two. */
async function setLabel(writing: LangfuseWriteState, label: string, { id }: VersionRef): Promise<WriteOutcome> {
  const { service, sleep, request: wanted } = writing;
  const version = listLangfuseVersions(writing.reading).find((one) => one.id === id);
  if (version === undefined) throw makeUnexpectedError('a version that nobody has read was to go live');
  const made: WriteOutcome = { status: 'made', version: makeVersionRef(version), problems: [] };
  const move = () => service.addLabel(wanted.promptId, version.number, label);
  const read = () => service.read(wanted.promptId, { kind: 'label', label });
  const isMeant = (shown: RemoteLangfuseVersion | null) => shown?.id === id;
  await move();
  try {
    const first = await read();
    if (isMeant(first)) return made;
    // A number may be another text's by now: that is not put there once more.
    if (first?.number !== version.number) await move();
    const shown = await readUntil(read, isMeant, sleep);
    if (isMeant(shown)) return made;
    return makeStoppedOutcome('unknown', makeNotActiveProblem(label, version, shown));
  } catch (error) {
    return { ...makeFailureHandler(`Setting "${label}"`)(error), status: 'unknown' };
  }
}
