import { toFileContent, makeVersionContent } from '../../src/domain/content.ts';
import { isJsonObject } from '../../src/domain/json.ts';
import { followsLatest } from '../../src/domain/prompt-file.ts';
import { makePromptUrl, type LangfuseService } from '../../src/providers/langfuse/client.ts';
import { makePromptBody } from '../../src/domain/served-prompt.ts';
import { digestVersion, type RemoteLangfuseVersion } from '../../src/providers/langfuse/version.ts';
import { makeLangfuseProvider } from '../../src/providers/langfuse/provider.ts';
import { interpretCreateRefusal } from '../../src/providers/langfuse/refusals.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { findText, makeEditedPrompt } from '../doubles/langfuse-messages.ts';
import { LangfuseRefusal } from '../doubles/langfuse-requests.ts';
import { langfuseStore, type LangfuseStore, type LangfuseVersion } from '../doubles/langfuse-store.ts';
import { typeOf, type OwnCommand, type Setup } from './commands.ts';
import { digestWritten, head } from './history.ts';
import { must } from './laws.ts';
import type { Calls } from './port.ts';
import { note } from './situations.ts';
import type { ServiceModel, World } from './world.ts';

/** The store and the knowledge of the model about it. */
type Kept = {
  readonly store: LangfuseStore;
  /** All versions by prompt and id, including deleted ones. */
  readonly ever: Map<string, LedgerVersion>;
  readonly byRow: Map<string, LedgerVersion>;
  /** The versions of each prompt at its last list call. */
  readonly listed: Map<string, readonly LangfuseVersion[]>;
  /** The versions that promptsync read in the current run, by prompt and number. */
  readonly shown: Map<string, LedgerVersion>;
  /** The number of logged changes of each prompt at the start of the current run. */
  readonly changesBefore: Map<string, number>;
};

/** Opens the model of Langfuse, whose labels are the environments. */
export function openLangfuse(setup: Setup): ServiceModel {
  // Outside changes during a write happen before the write continues.
  const store = langfuseStore({ pause: async () => {} });
  const maps = { ever: new Map(), byRow: new Map(), listed: new Map(), shown: new Map(), changesBefore: new Map() };
  const kept: Kept = { store, ...maps };
  const find = (promptId: string, is: (row: LangfuseVersion) => boolean): LedgerVersion | undefined => {
    const row = store.versions(promptId).find(is);
    return row && toVersion(kept, row);
  };
  return {
    versions: (promptId) => store.versions(promptId).map((row) => toVersion(kept, row)),
    version: (promptId, id) => kept.ever.get(`${promptId} ${id}`),
    active: (promptId, environment) => find(promptId, ({ labels }) => labels.includes(environment)) ?? null,
    fields: () => null,
    addVersion: (promptId, { text, metadata = {} }) => {
      // A file with the wrong type may have created the prompt. The type of a prompt never changes.
      const type = store.versions(promptId)[0]?.type ?? typeOf(setup, promptId);
      const number = store.addVersion(promptId, { ...makeEditedPrompt(type, text), config: metadata });
      return find(promptId, ({ version }) => version === number)!.id;
    },
    activate: (promptId, environment, id) => store.moveLabel(promptId, Number.parseInt(id, 10), environment),
    act: (promptId, command) => act(store, promptId, command),
    connect: (world, calls) => {
      kept.shown.clear();
      for (const [id, { changes }] of world.logs) kept.changesBefore.set(id, changes.length);
      return makeLangfuseProvider({
        service: callsOf(kept, world, calls),
        sleep: calls.sleep,
        findUnselectedFile: () => null,
      });
    },
    ...{ pinsIds: false, hasChatPrompts: true, movesInCreates: true, takesAny: true },
    readClock: store.readSeconds,
    readTimes: (promptId) =>
      new Map(store.versions(promptId).map((row) => [toVersion(kept, row).id, Date.parse(row.updatedAt)])),
    checkOwnSet: () => false,
    checkRun: () => must(store.overlaps() === 0, () => 'two writes to one prompt overlap'),
    isKept: (promptId, id, more = 0) => foundByText(kept, store.versions(promptId), { more }).has(id),
    isFindable: (promptId, id) => find(promptId, (row) => toVersion(kept, row).id === id) !== undefined,
    mayBeUnknown: () => false,
    isRemembered: () => true,
    isRecognised: (_, { content }, text) => content.text === text,
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

function toVersion({ ever, byRow }: Kept, row: LangfuseVersion): LedgerVersion {
  const known = byRow.get(row.id);
  if (known !== undefined) return known;
  const { id, number, content } = toRemote(row);
  const { metadata } = toFileContent(content);
  // This text does not come from `digestVersion`, so that the model notices errors in its digest.
  const text = digestWritten(row.type, findText(row.prompt) ?? content.text);
  const version = { id, number, content: makeVersionContent(text, metadata ?? {}), record: null };
  byRow.set(row.id, version);
  ever.set(`${row.name} ${id}`, version);
  return version;
}

/** Converts a row. */
function toRemote({ version: number, commitMessage: message, ...row }: LangfuseVersion): RemoteLangfuseVersion {
  const times = { createdAt: Date.parse(row.createdAt), updatedAt: Date.parse(row.updatedAt) };
  return digestVersion({ ...row, number, message, times });
}

type Found = { readonly more?: number; readonly moving?: readonly string[] };

/** Returns the ids of the 20 newest versions, less `more`, and of versions with labels other than `moving`. */
function foundByText(kept: Kept, rows: readonly LangfuseVersion[], { more = 0, moving = [] }: Found = {}) {
  const isLabelled = ({ labels }: LangfuseVersion) => labels.some((one) => one !== 'latest' && !moving.includes(one));
  const found = rows.filter((row, at) => at >= rows.length - 20 + more || (more === 0 && isLabelled(row)));
  return new Set(found.map((row) => toVersion(kept, row).id));
}

/** Returns why promptsync may not find a version: it loses an unpinned version when its labels move on. */
function forgotten(kept: Kept, { madeByTool, history, logs }: World, promptId: string, id: string): string | null {
  const rows = kept.listed.get(promptId) ?? [];
  if (rows.every((row) => toVersion(kept, row).id !== id)) {
    return madeByTool.has(id) ? null : 'made by somebody else right before';
  }
  const taken = kept.shown.get(`${promptId} ${Number.parseInt(id, 10)}`);
  if (taken !== undefined && taken.id !== id) return 'a number used again between two reads of one look';
  const file = head(history).files.get(promptId)?.file;
  const moving = file === undefined || followsLatest(file) ? [] : file.pins.map(({ environment }) => environment);
  const isFound = [rows, kept.store.versions(promptId)].every((all) => foundByText(kept, all, { moving }).has(id));
  if (!isFound) return 'without a label that stays, and not among the 20 newest versions';
  const changes = logs.get(promptId)?.changes.slice(kept.changesBefore.get(promptId)) ?? [];
  const isLabelledLate = changes.some(({ moves }) => [...moves.values()].some(({ to }) => to === id));
  return isLabelledLate ? 'with a label that somebody moved there during the look' : null;
}

function callsOf(kept: Kept, world: World, { call, watched }: Calls): LangfuseService {
  const { store, shown } = kept;
  const tell = (row: LangfuseVersion | null): RemoteLangfuseVersion | null => {
    if (row !== null) shown.set(`${row.name} ${row.version}`, toVersion(kept, row));
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
        const row = (await store.list({ name, limit: 100 })).data[0];
        return row === undefined ? null : { ...row, type: row.type ?? null };
      }),
    read: async (name, { kind: _, ...selection }) =>
      tell(await reading(name, JSON.stringify(selection), () => store.read(name, { ...selection, resolve: false }))),
    readServed: () => Promise.reject(new Error('the model never bundles prompts')),
    create: async (name, { content, labels, message }) => {
      const { type, text, metadata: config } = content;
      const { prompt } = makePromptBody(content);
      const made = { text, metadata: isJsonObject(config) ? config : {}, isBaseline: false };
      const create = async () => {
        const row = await store.create({ name, type, prompt, config, labels, commitMessage: message }).catch(refused);
        watched.created(name, toVersion(kept, row).id, made);
        for (const label of labels) watched.set(name, label, toVersion(kept, row));
        return row;
      };
      // The laws are checked when the call is sent, because its effect may come much later.
      watched.creating(name, made);
      watched.check(() =>
        must(findText(prompt) !== null, () => `nobody wrote these messages: ${JSON.stringify(prompt)}`),
      );
      const what = `${JSON.stringify(text)} [${labels.join(', ')}]`;
      const row = await call({ kind: 'create', promptId: name, what, effect: create, ignore: create });
      tell(row);
      return toRemote(row);
    },
    addLabels: (name, version, labels) => {
      const taken = shown.get(`${name} ${version}`);
      const set = async () => {
        const row = await store.patchLabels(name, version, labels).catch(refused);
        const isTaken = taken === undefined || toVersion(kept, row).id === taken.id;
        // Langfuse has no conditional writes. promptsync notices the change when it reads the label back.
        if (!isTaken) note(world.statistics, 'accepted: a number used again between a look and a write');
        for (const label of labels) watched.set(name, label, toVersion(kept, row), isTaken);
      };
      const ignore = async () => labels.forEach((label) => watched.ignoredSet(name, label, taken?.id ?? ''));
      return call({ kind: 'set', promptId: name, what: `${labels.join(', ')} v${version}`, effect: set, ignore });
    },
    deletePrompt: () => Promise.reject(new Error('the model never deletes prompts')),
    makePromptUrl: (name, projectId) => makePromptUrl('https://langfuse.example', name, projectId),
  };
}

function refused(error: unknown): never {
  if (!(error instanceof LangfuseRefusal)) throw error;
  const { status, body } = error.reply;
  const said = JSON.stringify(body);
  const refusal = interpretCreateRefusal(status, said);
  if (refusal !== null) throw new ServiceError(refusal.problem, refusal.effect);
  throw new ServiceError(
    makeProblem('service/unexpected-status', { status, said }),
    status < 500 ? 'rejected' : 'unknown',
  );
}
