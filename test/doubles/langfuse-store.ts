import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import type { ChatMessage, PromptType } from '../../src/domain/chat.ts';
import type { JsonValue } from '../../src/domain/json.ts';
import {
  checkPlaceholderNames,
  checkRequest,
  CreateShape,
  FilterShape,
  LabelsShape,
  LangfuseRefusal,
  LATEST,
  WhichShape,
} from './langfuse-requests.ts';

/** A row of Langfuse's prompt table with the fields that its API returns. */
export type LangfuseVersion = {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly type: PromptType;
  readonly prompt: string | readonly ChatMessage[];
  readonly config: JsonValue;
  readonly labels: readonly string[];
  readonly commitMessage: string | null;
  readonly createdAt: string;
  /** Changes whenever a label of the version changes, and after each PATCH. */
  readonly updatedAt: string;
  /** The id of the user who created the version, or `API`. */
  readonly createdBy: string;
  readonly projectId: string;
};

/** The input for a new version: a text or the messages of a chat prompt, and the other fields. */
export type LangfuseEdit = LangfuseEditedPrompt & {
  readonly config?: JsonValue;
  readonly labels?: readonly string[];
  readonly message?: string;
};

/** The text of a text prompt, or the messages of a chat prompt. */
export type LangfuseEditedPrompt = { readonly text: string } | { readonly messages: readonly ChatMessage[] };

export type LangfuseStoreOptions = {
  /**
   * Which version a read returns if several versions have its label. The real order is not defined, so tests must hold
   * for both. The default is `oldest`.
   */
  readonly ambiguousLabel?: 'oldest' | 'newest';
  /** Awaited by each write between reading and writing. Calls that arrive in the meantime overlap with the write. */
  readonly pause?: () => Promise<unknown>;
};

type State = Required<LangfuseStoreOptions> & {
  /** The rows in order of creation. They are replaced and never modified, so a reader keeps the old state. */
  rows: readonly LangfuseVersion[];
  /** The number of rows ever created. */
  made: number;
  /** The time of the next write, in milliseconds since 1970. */
  time: number;
  readonly writing: Set<{ readonly name: string; met: boolean }>;
  overlaps: number;
};

export type LangfuseStore = ReturnType<typeof langfuseStore>;

/** The time of the first write. Every commit in the tests is later, unless a test sets another time. */
const START_TIME = '2025-06-01T00:00:00Z';

/** Langfuse's prompts without a socket, so that tests can run thousands of histories. */
export function langfuseStore(options: LangfuseStoreOptions = {}) {
  const { pause = () => setImmediate(), ambiguousLabel = 'oldest' } = options;
  const state: State = {
    ...{ pause, ambiguousLabel, time: Date.parse(START_TIME) },
    ...{ rows: [], made: 0, writing: new Set(), overlaps: 0 },
  };
  return {
    list: async (filter?: z.input<typeof FilterShape>) => list(state, filter),
    read: async (name: string, which?: z.input<typeof WhichShape>) => read(state, name, which),
    create: async (body: unknown) => create(state, body),
    patchLabels: async (name: string, version: number, newLabels: unknown) => patch(state, name, version, newLabels),
    deletePrompt: async (name: string) => deletePrompt(state, name),
    /** Sets the time of the next write, in ISO 8601. Each further write is a minute later. */
    setTime: (time: string) => void (state.time = Date.parse(time)),
    /** Returns the time in seconds since 1970, and lets a minute pass. */
    readSeconds: () => {
      const seconds = Math.floor(state.time / 1_000);
      state.time += 60_000;
      return seconds;
    },
    ...ownInterface(state),
    versions: (name: string) => rowsOf(state, name),
    serves: (name: string, label: string) => {
      const row = rowsOf(state, name).find(({ labels }) => labels.includes(label));
      return row === undefined ? null : { version: row.version, text: row.prompt, config: row.config };
    },
    /** Returns how many writes started during another write to the same prompt. */
    overlaps: () => state.overlaps,
  };
}

/** Actions in Langfuse's user interface. They take effect at once, even while other calls are between read and write. */
function ownInterface(state: State) {
  const setLabels = (name: string, change: (row: LangfuseVersion) => readonly string[]) => {
    for (const row of rowsOf(state, name)) {
      const labels = change(row);
      if (labels.join() !== row.labels.join()) updateRow(state, row.id, { labels });
    }
  };
  const addVersion = (name: string, { config, labels, message: commitMessage, ...edited }: LangfuseEdit): number => {
    const [type, prompt] = 'text' in edited ? ['text', edited.text] : ['chat', edited.messages];
    const sent = checkRequest(CreateShape, { name, type, prompt, config, labels, commitMessage });
    return readForCreate(state, sent, USER_ID)().version;
  };
  return {
    addVersion,
    /** Adds a version without a check of its parts, as after a later change of the parts. */
    addComposedVersion: (name: string, text: string) => {
      const version = addVersion(name, { text: 'Any text.' });
      const row = rowsOf(state, name).find((one) => one.version === version);
      if (row !== undefined) updateRow(state, row.id, { prompt: text });
      return version;
    },
    moveLabel: (name: string, version: number, label: string) => void readForPatch(state, name, version, [label])(),
    /** Adds a label without removing it elsewhere, so that two versions have it, as after two concurrent writes. */
    addLabel: (name: string, version: number, label: string) =>
      setLabels(name, (row) => (row.version === version ? [...new Set([label, ...row.labels])] : row.labels)),
    removeLabel: (name: string, label: string) =>
      setLabels(name, ({ labels }) => labels.filter((one) => one !== label)),
    /** Deletes a version. The highest remaining version becomes the latest one. */
    deleteVersion: (name: string, version: number) => {
      state.rows = state.rows.filter((row) => row.name !== name || row.version !== version);
      const last = newestOf(state, name);
      if (last !== undefined && !last.labels.includes(LATEST)) {
        updateRow(state, last.id, { labels: [...last.labels, LATEST] });
      }
    },
  };
}

/** The id of the user who makes all changes in Langfuse's user interface. */
const USER_ID = 'cmf8a2b7d0001qz';
const PROJECT_ID = 'project-1';

async function create(state: State, body: unknown): Promise<LangfuseVersion> {
  const sent = checkRequest(CreateShape, body);
  return write(state, sent.name, () => readForCreate(state, sent));
}

/**
 * Moves labels, and resolves the compositions of all versions that it touched only after that: the version that the
 * labels join, and those that they leave. A 409 has therefore moved the labels.
 */
async function patch(state: State, name: string, version: number, sent: unknown): Promise<LangfuseVersion> {
  const labels = checkRequest(LabelsShape, sent);
  const left = rowsOf(state, name).filter(
    (row) => row.version !== version && row.labels.some((one) => labels.includes(one)),
  );
  const row = await write(state, name, () => readForPatch(state, name, version, labels));
  for (const touched of [...left, row]) resolveParts(state, touched, 409);
  return row;
}

/** Deletes a prompt. */
function deletePrompt(state: State, name: string): void {
  if (rowsOf(state, name).length === 0) throw new LangfuseRefusal(404, 'Prompt not found', 'LangfuseNotFoundError');
  state.rows = state.rows.filter((row) => row.name !== name);
}

type Commit = () => LangfuseVersion;

/** Runs a write. It reads first and later writes what follows from that state, even if the state has changed since. */
async function write(state: State, name: string, read: () => Commit): Promise<LangfuseVersion> {
  const thisWrite = { name, met: false };
  for (const other of state.writing) if (other.name === name) other.met = thisWrite.met = true;
  state.overlaps += Number(thisWrite.met);
  state.writing.add(thisWrite);
  try {
    const commit = read();
    await state.pause();
    return commit();
  } finally {
    state.writing.delete(thisWrite);
  }
}

function readForCreate(state: State, sent: z.output<typeof CreateShape>, createdBy = 'API'): Commit {
  const { name, type, prompt } = sent;
  const newest = newestOf(state, name);
  if (newest !== undefined && newest.type !== type) {
    const message = 'Previous versions have different prompt type. Create a new prompt with a different name.';
    throw new LangfuseRefusal(400, message);
  }
  checkPlaceholderNames(prompt);
  // The referenced prompts must exist, but the stored text keeps its tags.
  resolveParts(state, { name, prompt }, 400);
  const version = (newest?.version ?? 0) + 1;
  const labels = [...new Set([...sent.labels, LATEST])];
  const unlabel = readForUnlabel(state, name, labels);
  return () => {
    if (rowsOf(state, name).some((row) => row.version === version)) {
      throw new LangfuseRefusal(400, `Failed to create prompt '${name}' due to unique constraint failure.`);
    }
    return inOneTransaction(state, () => {
      unlabel();
      const { config, commitMessage = null } = sent;
      return add(state, { name, version, type, prompt, config: config ?? {}, labels, commitMessage, createdBy });
    });
  };
}

/** Prepares a PATCH. The server locks the version itself, so concurrent labels on one version all remain. */
function readForPatch(state: State, name: string, version: number, newLabels: readonly string[]): Commit {
  const locked = () => {
    const row = rowsOf(state, name).find((one) => one.version === version);
    if (row !== undefined) return row;
    throw new LangfuseRefusal(404, `Prompt '${name}' version ${version} not found`, 'LangfuseNotFoundError');
  };
  locked();
  const unlabel = readForUnlabel(state, name, newLabels);
  return () =>
    inOneTransaction(state, () => {
      unlabel();
      const { id, labels } = locked();
      updateRow(state, id, { labels: [...new Set([...newLabels, ...labels])] });
      return locked();
    });
}

/**
 * Prepares the removal of labels from all other versions. It writes the labels that it has read before, so concurrent
 * moves can undo each other.
 */
function readForUnlabel(state: State, name: string, taken: readonly string[]): () => void {
  const touched = rowsOf(state, name).filter(({ labels }) => labels.some((label) => taken.includes(label)));
  return () => {
    for (const row of touched)
      updateRow(state, row.id, { labels: row.labels.filter((label) => !taken.includes(label)) });
  };
}

/** Everything that one transaction writes gets times within the same minute. The next transaction is a minute later. */
function inOneTransaction<Value>(state: State, commit: () => Value): Value {
  const value = commit();
  state.time += 60_000;
  return value;
}

type GivenFields = Omit<LangfuseVersion, 'id' | 'createdAt' | 'updatedAt' | 'projectId'>;

function add(state: State, given: GivenFields): LangfuseVersion {
  state.made += 1;
  const now = readClock(state);
  const row = { id: `row-${state.made}`, createdAt: now, updatedAt: now, projectId: PROJECT_ID, ...given };
  state.rows = [...state.rows, row];
  return row;
}

/** Updates a row. Does nothing if the row was deleted. */
function updateRow(state: State, id: string, fields: Partial<LangfuseVersion>): void {
  const now = readClock(state);
  state.rows = state.rows.map((row) => (row.id === id ? { ...row, ...fields, updatedAt: now } : row));
}

/** Reads the clock and advances it by a millisecond, so that the two versions of a move have different times. */
function readClock(state: State): string {
  state.time += 1;
  return new Date(state.time).toISOString();
}

/** Returns the rows in order of creation. After a deletion, this differs from the order of version numbers. */
function rowsOf({ rows }: State, name: string): readonly LangfuseVersion[] {
  return rows.filter((row) => row.name === name);
}

function newestOf(state: State, name: string): LangfuseVersion | undefined {
  return rowsOf(state, name).toSorted((a, b) => b.version - a.version)[0];
}

/** Returns a version, or null if there is none. The default label is `production`. */
function read(state: State, name: string, which: z.input<typeof WhichShape> = {}): LangfuseVersion | null {
  const { version, label, resolve } = checkRequest(WhichShape, which);
  if (version && label) throw new LangfuseRefusal(400, 'Cannot specify both version and label');
  const row = findRow(state, name, version, label);
  if (row === undefined) return null;
  return { ...row, prompt: `${resolve}` === 'true' ? resolveParts(state, row, 409) : row.prompt };
}

/** Finds a version by number or label. */
function findRow(state: State, name: string, version = 0, label = ''): LangfuseVersion | undefined {
  if (version !== 0) return rowsOf(state, name).find((row) => row.version === version);
  const labeled = rowsOf(state, name).filter((row) => row.labels.includes(label || 'production'));
  return labeled.at(state.ambiguousLabel === 'oldest' ? 0 : -1);
}

/** Matches the composition tags `@@@langfusePrompt:name=x|label=y@@@` and `@@@langfusePrompt:name=x|version=1@@@`. */
const TAG = /@@@langfusePrompt:name=([^|=]+)\|(version|label)=([^|=]+?)@@@/g;

/** Replaces composition tags by the prompts that they name. */
function resolveParts(
  state: State,
  { name, prompt }: Pick<LangfuseVersion, 'name' | 'prompt'>,
  status: number,
  above: readonly string[] = [],
) {
  const resolved = JSON.stringify(prompt).replaceAll(TAG, (_, part: string, kind: string, value: string): string => {
    const row = kind === 'version' ? findRow(state, part, Number(value)) : findRow(state, part, 0, value);
    if (row === undefined) {
      throw new LangfuseRefusal(status, `Prompt dependency not found: ${part} - ${kind} ${value}`);
    }
    if (row.type !== 'text') {
      throw new LangfuseRefusal(status, `Prompt dependency is not a text prompt: ${part} - ${kind} ${value}`);
    }
    const path = [...above, name];
    if (path.includes(part)) {
      const version = `'${part}' version ${row.version}`;
      throw new LangfuseRefusal(status, `Circular dependency detected involving prompt ${version}`);
    }
    return JSON.stringify(resolveParts(state, row, status, path)).slice(1, -1);
  });
  return JSON.parse(resolved) as LangfuseVersion['prompt'];
}

/** Lists prompts. The filter applies to versions, so the listing omits filtered versions of each prompt, too. */
function list(state: State, filter: z.input<typeof FilterShape> = {}) {
  const { name, label, page, limit } = checkRequest(FilterShape, filter);
  const matchingRows = state.rows.filter(
    (row) => (!name || row.name === name) && (!label || row.labels.includes(label)),
  );
  const rowsByName = Map.groupBy(matchingRows, (row) => row.name);
  const names = [...rowsByName.keys()].toSorted();
  const pageRows = names.slice((page - 1) * limit, page * limit).map((one) => rowsByName.get(one) ?? []);
  const data = pageRows.map(metaOf);
  return { data, meta: { page, limit, totalItems: names.length, totalPages: Math.ceil(names.length / limit) } };
}

function metaOf(rows: readonly LangfuseVersion[]) {
  const [newest] = rows.toSorted((a, b) => b.version - a.version);
  return {
    ...{ name: newest?.name ?? '', type: newest?.type },
    versions: rows.map(({ version }) => version).toSorted((a, b) => a - b),
    labels: [...new Set(rows.flatMap(({ labels }) => labels))].toSorted(),
    lastUpdatedAt:
      rows
        .map(({ updatedAt }) => updatedAt)
        .toSorted()
        .at(-1) ?? null,
  };
}
