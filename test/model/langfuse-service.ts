import { digested, metadataDigest } from '../../src/domain/digest.ts';
import { isJsonObject } from '../../src/domain/json.ts';
import type { LangfuseService, RemoteVersion } from '../../src/langfuse/client.ts';
import { langfuseProvider } from '../../src/langfuse/provider.ts';
import { idOf } from '../../src/langfuse/reading.ts';
import type { Version } from '../../src/ledger/stamp.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError } from '../../src/service/prompt-service.ts';
import { LangfuseRefusal, langfuseStore, type LangfuseStore, type LangfuseVersion } from '../doubles/langfuse-store.ts';
import type { OwnCommand } from './commands.ts';
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
  /** By prompt: the ids of all versions as it was listed last, and which of them the tool finds again by their text. */
  readonly listed: Map<string, { readonly all: ReadonlySet<string>; readonly found: ReadonlySet<string> }>;
};

/** Langfuse, of which labels are the environments. */
export function openLangfuse(): ServiceModel {
  // What somebody does once a write has begun is done before the write goes on.
  const store = langfuseStore({ pause: async () => {} });
  const kept: Kept = { store, ever: new Map(), byRow: new Map(), listed: new Map() };
  const find = (promptId: string, is: (row: LangfuseVersion) => boolean): Version | undefined => {
    const row = store.versions(promptId).find(is);
    return row && toVersion(kept, row);
  };
  const isFound = (promptId: string, id: string, more = 0) => foundByText(kept, promptId, more).has(id);
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
    connect: (world, calls) => langfuseProvider({ service: callsOf(kept, world, calls), sleep: calls.sleep }),
    ...{ pinsIds: false, movesInCreates: true, takesAny: true },
    checkOwnSet: () => false,
    checkRun: () => must(store.overlaps() === 0, () => 'two writes to one prompt overlap'),
    isKept: isFound,
    isFindable: (promptId, id) => find(promptId, (row) => toVersion(kept, row).id === id) !== undefined,
    mayBeUnknown: () => false,
    isRemembered: () => true,
    isRecognised: (_, version, text) => version.text === text,
    forgotten: ({ madeByTool }, promptId, id) => {
      const { all = new Set(), found = new Set() } = kept.listed.get(promptId) ?? {};
      if (!all.has(id)) return madeByTool.has(id) ? null : 'made by somebody else right before';
      return found.has(id) && isFound(promptId, id) ? null : 'without a label, and not among the 20 newest versions';
    },
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
  const { number, text, config } = toRemote(row);
  const id = idOf(toRemote(row));
  const metadata = isJsonObject(config) ? config : {};
  const version = { id, number, ...digested(text), metadata, metadataDigest: metadataDigest(metadata), stamp: null };
  byRow.set(row.id, version);
  ever.set(`${row.name} ${id}`, version);
  return version;
}

function toRemote({ version: number, prompt: text, config, labels, commitMessage: message }: LangfuseVersion) {
  must(typeof text === 'string', () => 'nobody makes chat prompts here');
  return { number, text, config, labels, message } satisfies RemoteVersion;
}

/** The ids of the versions with labels, and of the 20 newest. */
function foundByText(kept: Kept, promptId: string, more = 0): ReadonlySet<string> {
  const rows = kept.store.versions(promptId);
  const isLabelled = ({ labels }: LangfuseVersion) => more === 0 && labels.some((label) => label !== 'latest');
  const found = rows.filter((row, at) => at >= rows.length - 20 + more || isLabelled(row));
  return new Set(found.map((row) => toVersion(kept, row).id));
}

function callsOf(kept: Kept, world: World, { call, watched }: Calls): LangfuseService {
  const { store } = kept;
  /** By prompt and number: what the tool takes that version for. */
  const told = new Map<string, Version>();
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
    list: (name = '') =>
      reading(name, 'list', async () => {
        const all = new Set(store.versions(name).map((row) => toVersion(kept, row).id));
        kept.listed.set(name, { all, found: foundByText(kept, name) });
        return (await store.list({ name, limit: 100 })).data;
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
