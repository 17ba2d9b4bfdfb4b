import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { JsonValue } from '../../src/domain/json.ts';

/** A row of Langfuse's table, with the fields that its API sends. */
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

/** What somebody gives for a new version of a text prompt. */
export type LangfuseEdit = {
  readonly text: string;
  readonly config?: JsonValue;
  readonly labels?: readonly string[];
  readonly message?: string;
};

export type LangfuseStoreOptions = {
  /** What a write awaits between reading and writing: what else is asked for meanwhile overlaps with it. */
  readonly pause?: () => Promise<unknown>;
  /** Asked for each write that overlaps with another one of its prompt: it fails, and changes nothing. */
  readonly isDeadlock?: () => boolean;
};

type State = Required<LangfuseStoreOptions> & {
  /** In order of creation. They are replaced, never changed: who has read one keeps what it was. */
  rows: readonly LangfuseVersion[];
  /** How many rows were ever made, and the clock: a minute for each. */
  made: number;
  readonly writing: Set<{ readonly name: string; met: boolean }>;
  overlaps: number;
  readonly requests: string[];
};

export type LangfuseStore = ReturnType<typeof langfuseStore>;

/** What the server answers where it refuses. */
export class LangfuseRefusal extends Error {
  readonly reply: { readonly status: number; readonly body: object };

  constructor(status: number, message: string, error: unknown = 'InvalidRequestError') {
    super(message);
    this.reply = { status, body: { message, error } };
  }
}

/** Langfuse's prompts without a socket, so that thousands of histories can be played on them. */
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
    /** How many writes began while another write to their prompt was under way. */
    overlaps: () => state.overlaps,
    /** Each call that was not refused at once, such as `GET a/b staging`, `POST a/b [staging]` and `PATCH a/b v3 [production]`. */
    requests: state.requests,
  };
}

/** What people do in Langfuse's own interface. It is done at once, also between the reading and the writing of others. */
function ownInterface(state: State) {
  const setLabels = (name: string, change: (row: LangfuseVersion) => readonly string[]) => {
    for (const row of rowsOf(state, name)) put(state, row.id, { labels: change(row) });
  };
  return {
    addVersion: (name: string, { text: prompt, message: commitMessage, ...rest }: LangfuseEdit) =>
      readForCreate(state, check(CreateShape, { ...rest, name, prompt, commitMessage }))().version,
    addChatPrompt: (name: string, labels: readonly string[] = []) => {
      const prompt = [{ role: 'system', content: 'You are helpful.' }];
      return readForCreate(state, check(CreateShape, { name, type: 'chat', prompt, labels }))().version;
    },
    moveLabel: (name: string, version: number, label: string) => void readForPatch(state, name, version, [label])(),
    /** No other version loses it: it is on two, as two writers at once leave it. */
    addLabel: (name: string, version: number, label: string) =>
      setLabels(name, (row) => (row.version === version ? [...new Set([label, ...row.labels])] : row.labels)),
    removeLabel: (name: string, label: string) =>
      setLabels(name, ({ labels }) => labels.filter((one) => one !== label)),
    /** The highest version that is left is the latest one then. */
    deleteVersion: (name: string, version: number) => {
      state.rows = state.rows.filter((row) => row.name !== name || row.version !== version);
      const last = newestOf(state, name);
      if (last !== undefined) put(state, last.id, { labels: [...new Set([...last.labels, LATEST])] });
    },
    deletePrompt: (name: string) => void (state.rows = state.rows.filter((row) => row.name !== name)),
  };
}

const LATEST = 'latest';

/** It is trimmed after it was checked. */
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
/** A label is not checked here, but for the server's own one. */
const LabelsShape = z.array(z.string()).refine((labels) => !labels.includes(LATEST), `'${LATEST}' is always assigned`);

/** What the server takes; its database takes neither NUL nor half of a character. */
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

/** Every write reads first, and later writes what follows from what it has read, whatever was written in between. */
async function write(state: State, name: string, read: () => Commit): Promise<LangfuseVersion> {
  const own = { name, met: false };
  for (const other of state.writing) if (other.name === name) other.met = own.met = true;
  state.overlaps += Number(own.met);
  state.writing.add(own);
  try {
    const commit = read();
    await state.pause();
    if (own.met && state.isDeadlock()) throw new LangfuseRefusal(500, 'Internal Server Error', 'deadlock detected');
    return commit();
  } finally {
    state.writing.delete(own);
  }
}

function readForCreate(state: State, sent: z.output<typeof CreateShape>): Commit {
  const { name, type, prompt } = sent;
  const newest = newestOf(state, name);
  if (newest !== undefined && newest.type !== type) {
    throw new LangfuseRefusal(400, 'Previous versions have different prompt type.');
  }
  // Its parts have to be there; what is kept is the text with its tags.
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
    if (sent.tags) for (const row of rowsOf(state, name)) put(state, row.id, { tags });
    const { config, commitMessage = null } = sent;
    return add(state, { name, version, type, prompt, config: config ?? {}, labels, commitMessage, tags });
  };
}

/** The server locks the version itself, so that labels that are put on one version at once are all on it. */
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
    put(state, id, { labels: [...new Set([...newLabels, ...labels])] });
    return locked();
  };
}

/** Each version that has one of the labels gets what is left of those that were read: so moves at once undo each other. */
function readForUnlabel(state: State, name: string, taken: readonly string[]): () => void {
  const touched = rowsOf(state, name).filter(({ labels }) => labels.some((label) => taken.includes(label)));
  return () => {
    for (const row of touched) put(state, row.id, { labels: row.labels.filter((label) => !taken.includes(label)) });
  };
}

function add(state: State, given: Omit<LangfuseVersion, 'id' | 'createdAt' | 'updatedAt'>): LangfuseVersion {
  state.made += 1;
  const row = { id: `row-${state.made}`, createdAt: clock(state), updatedAt: clock(state), ...given };
  state.rows = [...state.rows, row];
  return row;
}

/** Nothing happens to a row that was deleted. */
function put(state: State, id: string, fields: Partial<LangfuseVersion>): void {
  state.rows = state.rows.map((row) => (row.id === id ? { ...row, ...fields, updatedAt: clock(state) } : row));
}

function clock({ made }: State): string {
  return new Date(Date.UTC(2026, 0, 2, 0, made)).toISOString();
}

/** In order of creation, which after a deletion is not that of their numbers. */
function rowsOf({ rows }: State, name: string): readonly LangfuseVersion[] {
  return rows.filter((row) => row.name === name);
}

function newestOf(state: State, name: string): LangfuseVersion | undefined {
  return rowsOf(state, name).toSorted((a, b) => b.version - a.version)[0];
}

/** Numbers may be sent as text, as in a query. */
const WhichShape = z.object({
  version: z.coerce.number().int().optional(),
  label: z.string().optional(),
  resolve: z.literal([true, false, 'true', 'false']).default(true),
});

/** Null: no such prompt, or nothing of it so called. Without a version and a label it is the label `production`. */
function read(state: State, name: string, which: z.input<typeof WhichShape> = {}): LangfuseVersion | null {
  const { version, label, resolve } = check(WhichShape, which);
  state.requests.push(`GET ${name} ${version ?? label ?? 'production'}`);
  if (version && label) throw new LangfuseRefusal(400, 'Cannot specify both version and label');
  const row = findRow(state, name, version, label);
  if (row === undefined) return null;
  return { ...row, prompt: `${resolve}` === 'true' ? resolveParts(state, row, 409) : row.prompt };
}

/** Two versions with one label: the one that was made first. */
function findRow(state: State, name: string, version = 0, label = ''): LangfuseVersion | undefined {
  return rowsOf(state, name).find((row) =>
    version === 0 ? row.labels.includes(label || 'production') : row.version === version,
  );
}

/** Tags `@@@langfusePrompt:name=x|label=y@@@` and `…|version=1@@@` replaced by the prompts that they name. */
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

/** A filter is one of versions: what it leaves out is not in the rows of the listing either. */
function list(state: State, filter: z.input<typeof FilterShape> = {}) {
  const { name, label, tag, page, limit } = check(FilterShape, filter);
  state.requests.push(`GET ${name ?? '*'} page ${page}`);
  const kept = state.rows.filter(
    (row) => (!name || row.name === name) && (!label || row.labels.includes(label)) && (!tag || row.tags.includes(tag)),
  );
  const names = [...new Set(kept.map((row) => row.name))].toSorted();
  const shown = names.slice((page - 1) * limit, page * limit);
  const data = shown.map((one) => metaOf(kept.filter((row) => row.name === one)));
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
