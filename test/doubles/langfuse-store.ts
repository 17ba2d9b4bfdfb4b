import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { JsonValue } from '../../src/domain/json.ts';

/** A row of Langfuse's prompt table with the fields that its API returns. */
export type LangfuseVersion = {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly type: 'text' | 'chat';
  readonly prompt: string | readonly ChatMessage[];
  readonly config: JsonValue;
  readonly labels: readonly string[];
  readonly commitMessage: string | null;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
};

type ChatMessage = z.infer<typeof MessageShape>;

/** The input for a new version of a text prompt. */
export type LangfuseEdit = {
  readonly text: string;
  readonly config?: JsonValue;
  readonly labels?: readonly string[];
  readonly message?: string;
};

export type LangfuseStoreOptions = {
  /** Awaited by each write between reading and writing. Calls that arrive in the meantime overlap with the write. */
  readonly pause?: () => Promise<unknown>;
  /** Called for each write that overlaps with another write to the same prompt. If it returns true, the write fails. */
  readonly isDeadlock?: () => boolean;
};

type State = Required<LangfuseStoreOptions> & {
  /** The rows in order of creation. They are replaced and never modified, so a reader keeps the old state. */
  rows: readonly LangfuseVersion[];
  /** The number of rows ever created. It is also the clock, which advances by a minute per row. */
  made: number;
  readonly writing: Set<{ readonly name: string; met: boolean }>;
  overlaps: number;
  readonly requests: string[];
};

export type LangfuseStore = ReturnType<typeof langfuseStore>;

/** An error response of the server. */
export class LangfuseRefusal extends Error {
  readonly reply: { readonly status: number; readonly body: object };

  constructor(status: number, message: string, error: unknown = 'InvalidRequestError') {
    super(message);
    this.reply = { status, body: { message, error } };
  }
}

/** Langfuse's prompts without a socket, so that tests can run thousands of histories. */
export function langfuseStore(options: LangfuseStoreOptions = {}) {
  const { pause = () => setImmediate(), isDeadlock = () => false } = options;
  const state: State = { pause, isDeadlock, rows: [], made: 0, writing: new Set(), overlaps: 0, requests: [] };
  return {
    list: async (filter?: z.input<typeof FilterShape>) => list(state, filter),
    read: async (name: string, which?: z.input<typeof WhichShape>) => read(state, name, which),
    create: async (body: unknown) => create(state, body),
    patchLabels: async (name: string, version: number, newLabels: unknown) => patch(state, name, version, newLabels),
    ...ownInterface(state),
    versions: (name: string) => rowsOf(state, name),
    serves: (name: string, label: string) => {
      const row = rowsOf(state, name).find(({ labels }) => labels.includes(label));
      return row === undefined ? null : { version: row.version, text: row.prompt, config: row.config };
    },
    /** Returns how many writes started during another write to the same prompt. */
    overlaps: () => state.overlaps,
    /** All valid calls, such as `GET a/b staging`, `POST a/b [staging]` and `PATCH a/b v3 [production]`. */
    requests: state.requests,
  };
}

/** Actions in Langfuse's user interface. They take effect at once, even while other calls are between read and write. */
function ownInterface(state: State) {
  const setLabels = (name: string, change: (row: LangfuseVersion) => readonly string[]) => {
    for (const row of rowsOf(state, name)) updateRow(state, row.id, { labels: change(row) });
  };
  return {
    addVersion: (name: string, { text: prompt, message: commitMessage, ...rest }: LangfuseEdit) =>
      readForCreate(state, check(CreateShape, { ...rest, name, prompt, commitMessage }))().version,
    addChatPrompt: (name: string, labels: readonly string[] = []) => {
      const prompt = [{ role: 'system', content: 'You are helpful.' }];
      return readForCreate(state, check(CreateShape, { name, type: 'chat', prompt, labels }))().version;
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
      if (last !== undefined) updateRow(state, last.id, { labels: [...new Set([...last.labels, LATEST])] });
    },
    deletePrompt: (name: string) => void (state.rows = state.rows.filter((row) => row.name !== name)),
  };
}

const LATEST = 'latest';

/** The name is trimmed after validation. */
const NameShape = z
  .string()
  .regex(/^(?!\/)(?!.*\/\/).*[^/]$/, 'Name has a slash at its beginning or end, two in a row, or is empty')
  .regex(/^[^|]*$/, "Prompt name cannot contain '|' character")
  .regex(/^(?!.*<[^<>]*>)/s, 'Text cannot contain HTML tags')
  .transform((name) => name.trim())
  .refine((name) => !['', 'new', 'metrics', 'prompt-detail'].includes(name), 'Prompt name is empty or reserved');

const CommonShape = z.object({
  name: NameShape,
  labels: z.array(z.string().regex(/^[a-z0-9_.-]{1,36}$/, 'Label must be lowercase')).default([]),
  config: z.json().nullish(),
  tags: z.array(z.string()).nullish(),
  commitMessage: z.string().max(500).nullish(),
});
const MessageShape = z.union([
  z.object({ role: z.string(), content: z.string() }),
  z.object({ type: z.literal('placeholder'), name: z.string() }),
]);
const CreateShape = z.union([
  CommonShape.extend({ type: z.literal('text').default('text'), prompt: z.string() }),
  CommonShape.extend({ type: z.literal('chat'), prompt: z.array(MessageShape) }),
]);
/** A PATCH does not validate labels, except that it rejects `latest`. */
const LabelsShape = z.array(z.string()).refine((labels) => !labels.includes(LATEST), `'${LATEST}' is always assigned`);

/** Validates a request. The database rejects NUL and lone surrogates with an internal error. */
function check<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(value);
  if (!success) throw new LangfuseRefusal(400, 'Invalid request data', error.issues);
  JSON.stringify(data, (_, part: unknown) => {
    if (typeof part !== 'string' || (part.isWellFormed() && !part.includes('\0'))) return part;
    throw new LangfuseRefusal(500, 'Internal Server Error', 'An unknown error occurred');
  });
  return data;
}

async function create(state: State, body: unknown): Promise<LangfuseVersion> {
  const sent = check(CreateShape, body);
  state.requests.push(`POST ${sent.name} [${sent.labels.join(', ')}]`);
  return write(state, sent.name, () => readForCreate(state, sent));
}

async function patch(state: State, name: string, version: number, sent: unknown): Promise<LangfuseVersion> {
  const labels = check(LabelsShape, sent);
  state.requests.push(`PATCH ${name} v${version} [${labels.join(', ')}]`);
  return write(state, name, () => readForPatch(state, name, version, labels));
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
    if (thisWrite.met && state.isDeadlock())
      throw new LangfuseRefusal(500, 'Internal Server Error', 'deadlock detected');
    return commit();
  } finally {
    state.writing.delete(thisWrite);
  }
}

function readForCreate(state: State, sent: z.output<typeof CreateShape>): Commit {
  const { name, type, prompt } = sent;
  const newest = newestOf(state, name);
  if (newest !== undefined && newest.type !== type) {
    throw new LangfuseRefusal(400, 'Previous versions have different prompt type.');
  }
  // The referenced prompts must exist, but the stored text keeps its tags.
  resolveParts(state, { name, prompt }, 400);
  const version = (newest?.version ?? 0) + 1;
  const labels = [...new Set([...sent.labels, LATEST])];
  const unlabel = readForUnlabel(state, name, labels);
  return () => {
    if (rowsOf(state, name).some((row) => row.version === version)) {
      throw new LangfuseRefusal(400, `Failed to create prompt '${name}' due to unique constraint failure.`);
    }
    unlabel();
    const tags = [...new Set(sent.tags ?? newest?.tags ?? [])];
    if (sent.tags) for (const row of rowsOf(state, name)) updateRow(state, row.id, { tags });
    const { config, commitMessage = null } = sent;
    return add(state, { name, version, type, prompt, config: config ?? {}, labels, commitMessage, tags });
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
  return () => {
    unlabel();
    const { id, labels } = locked();
    updateRow(state, id, { labels: [...new Set([...newLabels, ...labels])] });
    return locked();
  };
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

function add(state: State, given: Omit<LangfuseVersion, 'id' | 'createdAt' | 'updatedAt'>): LangfuseVersion {
  state.made += 1;
  const row = { id: `row-${state.made}`, createdAt: clock(state), updatedAt: clock(state), ...given };
  state.rows = [...state.rows, row];
  return row;
}

/** Updates a row. Does nothing if the row was deleted. */
function updateRow(state: State, id: string, fields: Partial<LangfuseVersion>): void {
  state.rows = state.rows.map((row) => (row.id === id ? { ...row, ...fields, updatedAt: clock(state) } : row));
}

function clock({ made }: State): string {
  return new Date(Date.UTC(2026, 0, 2, 0, made)).toISOString();
}

/** Returns the rows in order of creation. After a deletion, this differs from the order of version numbers. */
function rowsOf({ rows }: State, name: string): readonly LangfuseVersion[] {
  return rows.filter((row) => row.name === name);
}

function newestOf(state: State, name: string): LangfuseVersion | undefined {
  return rowsOf(state, name).toSorted((a, b) => b.version - a.version)[0];
}

/** Numbers may be strings because queries contain strings. */
const WhichShape = z.object({
  version: z.coerce.number().int().optional(),
  label: z.string().optional(),
  resolve: z.literal([true, false, 'true', 'false']).default(true),
});

/** Returns a version, or null if there is none. The default label is `production`. */
function read(state: State, name: string, which: z.input<typeof WhichShape> = {}): LangfuseVersion | null {
  const { version, label, resolve } = check(WhichShape, which);
  state.requests.push(`GET ${name} ${version ?? label ?? 'production'}`);
  if (version && label) throw new LangfuseRefusal(400, 'Cannot specify both version and label');
  const row = findRow(state, name, version, label);
  if (row === undefined) return null;
  return { ...row, prompt: `${resolve}` === 'true' ? resolveParts(state, row, 409) : row.prompt };
}

/** Finds a version by number or label. If two versions have the label, it returns the older one. */
function findRow(state: State, name: string, version = 0, label = ''): LangfuseVersion | undefined {
  return rowsOf(state, name).find((row) =>
    version === 0 ? row.labels.includes(label || 'production') : row.version === version,
  );
}

/** Replaces the tags `@@@langfusePrompt:name=x|label=y@@@` and `…|version=1@@@` by the prompts that they name. */
function resolveParts(
  state: State,
  { name, prompt }: Pick<LangfuseVersion, 'name' | 'prompt'>,
  status: number,
  above: readonly string[] = [],
) {
  const tags = /@@@langfusePrompt:name=([^|=]+)\|(version|label)=([^|=]+?)@@@/g;
  const resolved = JSON.stringify(prompt).replaceAll(tags, (_, part: string, kind: string, value: string): string => {
    const row = kind === 'version' ? findRow(state, part, Number(value)) : findRow(state, part, 0, value);
    const path = [...above, name];
    if (row?.type === 'text' && !path.includes(part)) {
      return JSON.stringify(resolveParts(state, row, status, path)).slice(1, -1);
    }
    const fault = row === undefined ? 'not found' : 'is circular or not a text prompt';
    throw new LangfuseRefusal(status, `Prompt dependency ${fault}: ${part} - ${kind} ${value}`);
  });
  return JSON.parse(resolved) as LangfuseVersion['prompt'];
}

const text = z.string().optional();
const FilterShape = z.object({
  ...{ name: text, label: text, tag: text },
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(10),
});

/** Lists prompts. The filter applies to versions, so the listing omits filtered versions of each prompt, too. */
function list(state: State, filter: z.input<typeof FilterShape> = {}) {
  const { name, label, tag, page, limit } = check(FilterShape, filter);
  state.requests.push(`GET ${name ?? '*'} page ${page}`);
  const matchingRows = state.rows.filter(
    (row) => (!name || row.name === name) && (!label || row.labels.includes(label)) && (!tag || row.tags.includes(tag)),
  );
  const names = [...new Set(matchingRows.map((row) => row.name))].toSorted();
  const pageNames = names.slice((page - 1) * limit, page * limit);
  const data = pageNames.map((one) => metaOf(matchingRows.filter((row) => row.name === one)));
  return { data, meta: { page, limit, totalItems: names.length, totalPages: Math.ceil(names.length / limit) } };
}

function metaOf(rows: readonly LangfuseVersion[]) {
  const [newest] = rows.toSorted((a, b) => b.version - a.version);
  return {
    ...{ name: newest?.name ?? '', type: newest?.type, tags: newest?.tags, lastConfig: newest?.config },
    versions: rows.map(({ version }) => version).toSorted((a, b) => a - b),
    labels: [...new Set(rows.flatMap(({ labels }) => labels))].toSorted(),
    lastUpdatedAt: newest?.updatedAt,
  };
}
