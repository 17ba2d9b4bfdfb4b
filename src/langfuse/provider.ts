import { isDigestOf } from '../domain/digest.ts';
import type { Wanted } from '../domain/observed.ts';
import { type CreateVersion, digestsOfCreated } from '../domain/plan.ts';
import type { Created, Provider, Writer, Written } from '../domain/provider.ts';
import { refOf, type VersionRef } from '../domain/versions.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { ServiceError } from '../service/prompt-service.ts';
import { readUntil } from '../service/retry.ts';
import { failed, isLost, LOST_CREATE_WAITS, stopped } from '../service/written.ts';
import type { LangfuseService, NewVersion, RemoteVersion } from './client.ts';
import { interpret, LATEST, type Reading, readPrompt, versionsIn } from './reading.ts';

type LangfuseWorld = {
  readonly service: LangfuseService;
  /** Waits so many milliseconds; rejects when the run is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** Langfuse as a provider: environments are labels, and any version can be read by its number. */
export function langfuseProvider(world: LangfuseWorld): Provider {
  return {
    observe: async (wanted) => interpret(await readPrompt(world.service, wanted), wanted),
    begin: (wanted) => beginWriter(world, wanted),
    list: async () =>
      (await world.service.list()).map(({ labels, ...listed }) => ({
        ...listed,
        environments: labels.filter((label) => label !== LATEST).toSorted(),
      })),
  };
}

/** Writes of a prompt go one after the other: labels that move at the same time are left on two versions. */
type Writing = LangfuseWorld & { readonly wanted: Wanted; readonly reading: Reading };

function beginWriter(world: LangfuseWorld, wanted: Wanted): Writer {
  let reading: Reading | null = null;
  const made: RemoteVersion[] = [];
  const begun = (): Writing => {
    if (reading === null) throw unexpected('nothing was observed');
    return { ...world, wanted, reading: { ...reading, others: [...reading.others, ...made] } };
  };
  const observe = async () => {
    reading = await readPrompt(world.service, wanted);
    return interpret(reading, wanted);
  };
  return {
    observe,
    // What a pin may name was read by its number already.
    find: observe,
    create: async (change, { into }) => {
      const note = (version: RemoteVersion) => void made.push(version);
      return createVersion(begun(), change, into, note).catch(failed('Creating the version'));
    },
    update: () => Promise.reject(unexpected('a prompt has no fields here')),
    activate: async (label, version) => setLabel(begun(), label, version).catch(failed(`Setting "${label}"`)),
  };
}

function unexpected(reason: string): ProblemError {
  return new ProblemError(makeProblem('internal/unexpected', { reason }));
}

type Note = (version: RemoteVersion) => void;

/** Makes a version together with its labels, once; where the answer is lost, finds out what became of it. */
async function createVersion(
  writing: Writing,
  change: CreateVersion,
  labels: readonly string[],
  note: Note,
): Promise<Created> {
  const { service, wanted } = writing;
  const { content, provenance, metadataFrom } = change;
  // The plan's value, because that is what the review has shown.
  const config = content.metadata ?? metadataFrom?.metadata;
  const version = { text: content.text, config, labels, message: shortened(provenance.changeSummary) };
  try {
    const made = await service.create(wanted.promptId, version);
    note(made);
    if (isAsPlanned(made, change)) return { ...(await settled(writing, made, labels)), status: 'made' };
    const problems = [makeProblem('apply/rewritten', { version: `v${made.number}` })];
    return { status: 'made', version: refOf(made), problems, set: labels };
  } catch (error) {
    if (!isLost(error)) throw error;
    const found = await findLost(writing, version, change).catch(() => null);
    if (found === null) return { ...outcomeUnknown(error), set: labels };
    note(found);
    return { ...(await settled(writing, found, labels)), status: 'adopted' };
  }
}

/** Whether a version has the text and the config that the plan says. */
function isAsPlanned({ digest, metadataDigest }: RemoteVersion, change: CreateVersion): boolean {
  return isDigestOf(digest, change.content) && metadataDigest === digestsOfCreated(change).metadata;
}

function outcomeUnknown({ problem }: ServiceError): Written {
  return stopped('unknown', makeProblem('apply/outcome-unknown', { reason: problem.message }));
}

/** In characters, the most that Langfuse takes. */
const LONGEST_MESSAGE = 500;

function shortened(message: string | undefined): string | undefined {
  return message?.slice(0, LONGEST_MESSAGE).toWellFormed();
}

/**
 * A label that is not where it was sent to, because somebody else has moved it meanwhile, is left to `setLabel`. Where
 * it cannot be read any more, such as after an interruption, it is where the answer to the create has it.
 */
async function settled({ service, wanted }: Writing, made: RemoteVersion, labels: readonly string[]) {
  const isThere = async (label: string): Promise<boolean> => {
    const answered = made.labels.includes(label) ? made : null;
    const shown = await service.read(wanted.promptId, { label }).catch(() => answered);
    return shown?.id === made.id;
  };
  const there = await Promise.all(labels.map(isThere));
  return { version: refOf(made), set: labels.filter((_, at) => there[at]), problems: [] };
}

/** The version of this text, config and commit message that was not there before; null if none turns up in time. */
async function findLost(
  { service, sleep, wanted: { promptId }, reading }: Writing,
  { message }: NewVersion,
  change: CreateVersion,
): Promise<RemoteVersion | null> {
  const before = new Set([...(reading.listed?.versions ?? []), ...versionsIn(reading).map(({ number }) => number)]);
  for (const wait of LOST_CREATE_WAITS) {
    await sleep(wait);
    const row = await service.find(promptId);
    for (const version of (row?.versions ?? []).filter((number) => !before.has(number))) {
      const read = await service.read(promptId, { version });
      if (read !== null && isAsPlanned(read, change) && read.message === message) return read;
    }
  }
  return null;
}

/** Moves a label and reads it back; once more where that shows another version, which heals a label that is on two. */
async function setLabel(writing: Writing, label: string, { id }: VersionRef): Promise<Written> {
  const { service, sleep, wanted } = writing;
  const version = versionsIn(writing.reading).find((one) => one.id === id);
  if (version === undefined) throw unexpected('a version that nobody has read was to go live');
  const made: Written = { status: 'made', version: refOf(version), problems: [] };
  const move = () => service.addLabel(wanted.promptId, version.number, label);
  const read = () => service.read(wanted.promptId, { label });
  const isMeant = (shown: RemoteVersion | null) => shown?.id === id;
  await move();
  try {
    const first = await read();
    if (isMeant(first)) return made;
    // A number may be another text's by now: that is not put there once more.
    if (first?.number !== version.number) await move();
    const shown = await readUntil(read, isMeant, sleep);
    if (isMeant(shown)) return made;
    const found = shown === null ? 'nothing' : `version "${shown.id}"`;
    const evidence = { environment: label, expected: `version "${id}"`, found };
    return stopped('unknown', makeProblem('apply/not-active', evidence));
  } catch (error) {
    return { ...failed(`Setting "${label}"`)(error), status: 'unknown' };
  }
}
