import { digested, metadataDigest } from '../../src/domain/digest.ts';
import { isJsonObject } from '../../src/domain/json.ts';
import { followsLatest } from '../../src/domain/prompt-file.ts';
import { digestVersion, type LangfuseService, type RemoteVersion } from '../../src/langfuse/client.ts';
import { langfuseProvider } from '../../src/langfuse/provider.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError } from '../../src/service/prompt-service.ts';
import { LangfuseRefusal, langfuseStore, type LangfuseStore, type LangfuseVersion } from '../doubles/langfuse-store.ts';
import type { OwnCommand } from './commands.ts';
import { head } from './history.ts';
import { must } from './laws.ts';
import type { Calls } from './port.ts';
import { note } from './situations.ts';
import type { ServiceModel, World } from './world.ts';

/** The store, and what the model keeps in mind of it. */
type Kept = {
  readonly store: LangfuseStore;
  /** By prompt and id, also those that were deleted. */
  readonly ever: Map<string, Version>;
  readonly byRow: Map<string, Version>;
  /** By prompt: all versions as they were when it was listed last. */
  readonly listed: Map<string, readonly LangfuseVersion[]>;
  /** By prompt and number: what the tool takes that version for, in the run that there is. */
  readonly told: Map<string, Version>;
};

/** Langfuse, of which labels are the environments. */
export function openLangfuse(): ServiceModel {
  // What somebody does once a write has begun is done before the write goes on.
  const store = langfuseStore({ pause: async () => {} });
  const kept: Kept = { store, ever: new Map(), byRow: new Map(), listed: new Map(), told: new Map() };
  const find = (promptId: string, is: (row: LangfuseVersion) => boolean): Version | undefined => {
    const row = store.versions(promptId).find(is);
    return row && toVersion(kept, row);
  };
  return {
    versions: (promptId) => store.versions(promptId).map((row) => toVersion(kept, row)),
    version: (promptId, id) => kept.ever.get(`${promptId} ${id}`),
    active: (promptId, environment) => find(promptId, ({ labels }) => labels.includes(environment)) ?? null,
    fields: async () => null,
    addVersion: (promptId, { text, metadata = {} }) => {
      const number = store.addVersion(promptId, { text, config: metadata });
      return find(promptId, ({ version }) => version === number)!.id;
    },
    activate: (promptId, environment, id) => store.moveLabel(promptId, Number.parseInt(id, 10), environment),
    act: (promptId, command) => act(store, promptId, command),
    connect: (world, calls) => {
      kept.told.clear();
      return langfuseProvider({ service: callsOf(kept, world, calls), sleep: calls.sleep });
    },
    ...{ pinsIds: false, movesInCreates: true, takesAny: true },
    checkOwnSet: () => false,
    checkRun: () => must(store.overlaps() === 0, () => 'two writes to one prompt overlap'),
    isKept: (promptId, id, more = 0) => foundByText(kept, store.versions(promptId), { more }).has(id),
    isFindable: (promptId, id) => find(promptId, (row) => toVersion(kept, row).id === id) !== undefined,
    mayBeUnknown: () => false,
    isRemembered: () => true,
    isRecognised: (_, version, text) => version.text === text,
    forgotten: (world, promptId, id) => forgotten(kept, world, promptId, id),
  };
}

function act(store: LangfuseStore, promptId: string, command: OwnCommand): void {
  const nth = 'nth' in command ? store.versions(promptId).at(-1 - command.nth) : undefined;
  if (command.kind === 'their-unlabel') store.removeLabel(promptId, command.environment);
  if (nth === undefined) return;
  if (command.kind === 'their-label') store.addLabel(promptId, nth.version, command.environment);
  if (command.kind === 'their-deletion') store.deleteVersion(promptId, nth.version);
}

function toVersion({ ever, byRow }: Kept, row: LangfuseVersion): Version {
  const known = byRow.get(row.id);
  if (known !== undefined) return known;
  const { id, number, config } = toRemote(row);
  const metadata = isJsonObject(config) ? config : {};
  const version = {
    id,
    number,
    ...digested(`${row.prompt}`),
    metadata,
    metadataDigest: metadataDigest(metadata),
    stamp: null,
  };
  byRow.set(row.id, version);
  ever.set(`${row.name} ${id}`, version);
  return version;
}

/** Nobody makes chat prompts here. */
function toRemote({ version: number, prompt, config, labels, commitMessage: message }: LangfuseVersion): RemoteVersion {
  return digestVersion({ number, text: `${prompt}`, config, labels, message });
}

type Found = { readonly more?: number; readonly moving?: readonly string[] };

/** The ids of the 20 newest versions, less so many, and of those with other labels than these. */
function foundByText(kept: Kept, rows: readonly LangfuseVersion[], { more = 0, moving = [] }: Found = {}) {
  const isLabelled = ({ labels }: LangfuseVersion) => labels.some((one) => one !== 'latest' && !moving.includes(one));
  const found = rows.filter((row, at) => at >= rows.length - 20 + more || (more === 0 && isLabelled(row)));
  return new Set(found.map((row) => toVersion(kept, row).id));
}

/** What no pin follows is lost with the labels that move on. */
function forgotten(kept: Kept, { madeByTool, history }: World, promptId: string, id: string): string | null {
  const rows = kept.listed.get(promptId) ?? [];
  if (rows.every((row) => toVersion(kept, row).id !== id)) {
    return madeByTool.has(id) ? null : 'made by somebody else right before';
  }
  const taken = kept.told.get(`${promptId} ${Number.parseInt(id, 10)}`);
  if (taken !== undefined && taken.id !== id) return 'a number used again between two reads of one look';
  const file = head(history).files.get(promptId)?.file;
  const moving = file === undefined || followsLatest(file) ? [] : file.pins.map(({ environment }) => environment);
  const isFound = [rows, kept.store.versions(promptId)].every((all) => foundByText(kept, all, { moving }).has(id));
  return isFound ? null : 'without a label that stays, and not among the 20 newest versions';
}

function callsOf(kept: Kept, world: World, { call, watched }: Calls): LangfuseService {
  const { store, told } = kept;
  const tell = (row: LangfuseVersion | null): RemoteVersion | null => {
    if (row !== null) told.set(`${row.name} ${row.version}`, toVersion(kept, row));
    return row && toRemote(row);
  };
  const reading = <Answer>(promptId: string, what: string, read: () => Promise<Answer>) => {
    const effect = () => {
      watched.beforeRead(promptId);
      return read();
    };
    return call({ kind: 'read', promptId, what, effect, ignore: effect });
  };
  return {
    list: () => Promise.reject(new Error('the model never lists all prompts')),
    find: (name) =>
      reading(name, 'list', async () => {
        kept.listed.set(name, store.versions(name));
        return (await store.list({ name, limit: 100 })).data[0] ?? null;
      }),
    read: async (name, which) =>
      tell(await reading(name, JSON.stringify(which), () => store.read(name, { ...which, resolve: false }))),
    create: async (name, { text, config, labels, message }) => {
      const made = { text, metadata: isJsonObject(config) ? config : {}, isBaseline: false };
      const create = async () => {
        const row = await store.create({ name, prompt: text, config, labels, commitMessage: message }).catch(refused);
        watched.created(name, toVersion(kept, row).id, made);
        for (const label of labels) watched.set(name, label, toVersion(kept, row));
        return row;
      };
      // It is judged by what was known when it was sent: it may come about much later.
      watched.creating(name, made);
      const what = `${JSON.stringify(text)} [${labels.join(', ')}]`;
      const row = await call({ kind: 'create', promptId: name, what, effect: create, ignore: create });
      tell(row);
      return toRemote(row);
    },
    addLabel: (name, version, label) => {
      const taken = told.get(`${name} ${version}`);
      const set = async () => {
        const row = await store.patchLabels(name, version, [label]).catch(refused);
        const isTaken = taken === undefined || toVersion(kept, row).id === taken.id;
        // No write can be bound to a text: it shows when the label is read back.
        if (!isTaken) note(world.statistics, 'accepted: a number used again between a look and a write');
        watched.set(name, label, toVersion(kept, row), isTaken);
      };
      const ignore = async () => watched.ignoredSet(name, label, taken?.id ?? '');
      return call({ kind: 'set', promptId: name, what: `${label} v${version}`, effect: set, ignore });
    },
  };
}

function refused(error: unknown): never {
  if (!(error instanceof LangfuseRefusal)) throw error;
  const { status, body } = error.reply;
  const said = JSON.stringify(body);
  throw new ServiceError(
    makeProblem('service/unexpected-status', { status, said }),
    status < 500 ? 'rejected' : 'unknown',
  );
}
