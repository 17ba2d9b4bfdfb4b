import { z } from 'zod';
import { digested, digestOf, shortDigest } from '../domain/digest.ts';
import { canonicalJson, isJson, type JsonValue } from '../domain/json.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { makeProblem, type Problem, problemOf } from '../problem.ts';
import { type Call, conform, InvalidAnswer } from '../service/call.ts';
import { openConnection, type Connection, type ConnectionOptions } from '../service/connection.ts';
import { ServiceError } from '../service/prompt-service.ts';

/** A version as Langfuse has it, with composition tags as they were written. */
export type WrittenVersion = {
  readonly number: number;
  readonly text: string;
  readonly config: JsonValue;
  readonly labels: readonly string[];
  /** Its commit message. */
  readonly message: string | null;
};

/** The same as what is known of any version, digested once. */
export type RemoteVersion = KnownVersion &
  Pick<WrittenVersion, 'config' | 'labels'> & {
    /** The memory that it takes, roughly, in bytes. */
    readonly size: number;
  };

/** `{}` has two characters as JSON and takes more than 50 bytes as a value. */
const CONFIG_BYTES_PER_CHARACTER = 20;

/**
 * Any version is found again by its number, and nothing says who has made it: git knows the texts. A number may come again
 * with another text, once its version was deleted: plans and digests are bound to the text by the id.
 */
export function digestVersion({ number, text, config, labels, message }: WrittenVersion): RemoteVersion {
  const { text: compared, digest } = digested(text);
  const configJson = canonicalJson(config);
  return {
    id: `${number}-${shortDigest(digestOf(canonicalJson([text, config])))}`,
    ...{ number, digest, config, labels },
    size: text.length + configJson.length * CONFIG_BYTES_PER_CHARACTER,
    // All of the config is the user's: promptsync keeps nothing in it, not even below the key that it reserves.
    metadataDigest: digestOf(configJson),
    ...{ ours: null, lasting: true, source: null },
    content: { text: compared, metadata: config },
    ...(message !== null && { message }),
  };
}

/** The row of one prompt in Langfuse's listing. */
export type RemotePrompt = {
  readonly name: string;
  readonly versions: readonly number[];
  readonly labels: readonly string[];
};

/** The part of a row that is kept when all prompts are listed. */
export type ListedPrompt = {
  readonly name: string;
  readonly labels: readonly string[];
  /** The highest version number; 0 when there is no version. */
  readonly lastVersion: number;
  /** The limit that the prompt exceeds; null when it is within the limits. */
  readonly problem: Problem | null;
};

/** What a version is made of. Without a config it has the empty one. */
export type NewVersion = {
  readonly text: string;
  readonly config?: JsonValue | undefined;
  /** They move to it from whatever version has them. */
  readonly labels: readonly string[];
  readonly message?: string | undefined;
};

/** Which version: by its number, or by a label. */
export type Which = { readonly version: number } | { readonly label: string };

/** Langfuse's calls for prompts. Every call throws a `ServiceError` when it fails. */
export type LangfuseService = {
  /** Lists all prompts. A prompt that exceeds a limit is listed with its problem. */
  readonly list: () => Promise<readonly ListedPrompt[]>;
  /** Returns the row of one prompt, or null when the listing has none. Throws when the prompt exceeds a limit. */
  readonly find: (name: string) => Promise<RemotePrompt | null>;
  /** Null where there is no such prompt, or nothing of it that is meant: Langfuse does not tell these apart. */
  readonly read: (name: string, which: Which) => Promise<RemoteVersion | null>;
  /** Makes a version, and with the first one the prompt. Sent once: after the effect `unknown` it may exist. */
  readonly create: (name: string, version: NewVersion) => Promise<RemoteVersion>;
  /** Moves a label to a version. Labels can be added and moved, but not taken away. */
  readonly addLabel: (name: string, version: number, label: string) => Promise<void>;
};

type Keys = { readonly publicKey: string; readonly secretKey: string };

/** Langfuse over HTTP, with Basic authentication. */
export function connectLangfuse(options: ConnectionOptions, { publicKey, secretKey }: Keys) {
  const basic = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  const credentials = { header: { authorization: `Basic ${basic}` }, secrets: [basic, secretKey] };
  const { perform, close } = openConnection(options, credentials);
  return { ...langfuseService(perform), close };
}

function langfuseService(perform: Connection['perform']): LangfuseService {
  return {
    list: async () => {
      const all: ListedPrompt[] = [];
      for await (const rows of readPages(perform, null)) {
        for (const row of rows) all.push(summarizeRow(row));
      }
      return all;
    },
    find: async (name) => {
      for await (const [row] of readPages(perform, name)) {
        if (row?.problem) throw new ServiceError(row.problem, 'rejected');
        if (row !== undefined) return { name, versions: row.versions, labels: row.labels };
      }
      return null;
    },
    read: (name, which) =>
      perform(readCall(name, which)).catch((error: unknown) => {
        if (problemOf(error).code === 'service/prompt-not-found') return null;
        throw error;
      }),
    create: async (name, version) => perform(createCall(name, version)),
    addLabel: async (name, version, label) => perform(addLabelCall(name, version, label)),
  };
}

const PROMPTS = '/api/public/v2/prompts';
/** Rows on one page of the listing, which is the most that Langfuse returns. */
const PAGE = 100;

/** Pages of one listing. */
const MAX_LISTING_PAGES = 1_000;
/** Size of all pages of one listing together. One answer may have up to 32 MiB. */
const MAX_LISTING_MIB = 64;
/** Size of one version. Langfuse takes no request of more than 1 MB, so no version of its own comes near this. */
const MAX_VERSION_BYTES = 4 * 1024 * 1024;
/** A prompt with more than these is refused, because each version and each label may cost a request. */
const MAX_PER_PROMPT = { versions: 10_000, labels: 200 } as const;

function pathOf(name: string): string {
  return `${PROMPTS}/${encodeURIComponent(name.toWellFormed())}`;
}

const get = { method: 'GET', body: null, once: false } as const;

/**
 * Reads the listing page by page, and keeps no page.
 * @param name the only prompt whose row is returned; null: all prompts
 */
async function* readPages(perform: Connection['perform'], name: string | null): AsyncGenerator<readonly ListingRow[]> {
  let bytes = 0;
  for (let number = 1; number <= MAX_LISTING_PAGES; number += 1) {
    const page = await perform(listCall(number, name));
    bytes += page.bytes;
    if (bytes > MAX_LISTING_MIB * 1024 * 1024) throw listingTooLarge(`${MAX_LISTING_MIB} MiB`);
    yield page.rows;
    if (page.isLast) return;
  }
  throw listingTooLarge(`${MAX_LISTING_PAGES} pages`);
}

function listingTooLarge(limit: string): ServiceError {
  return new ServiceError(makeProblem('langfuse/listing-too-large', { limit }), 'rejected');
}

/** A row of the listing. It has no versions and no labels when it exceeds a limit, which is the problem then. */
type ListingRow = RemotePrompt & { readonly problem: Problem | null };

type ListingPage = { readonly rows: readonly ListingRow[]; readonly isLast: boolean; readonly bytes: number };

function listCall(page: number, name: string | null): Call<ListingPage> {
  const query = new URLSearchParams({ page: String(page), limit: String(PAGE), ...(name !== null && { name }) });
  const parse = (value: unknown, bytes: number): ListingPage => {
    const rows = conform(ListingShape, value).data;
    const wanted = name === null ? rows : rows.filter((row) => row.name === name);
    return { rows: wanted.map(toRow), isLast: rows.length < PAGE, bytes };
  };
  return { ...get, path: `${PROMPTS}?${query}`, promptId: name ?? '*', parse };
}

function toRow({ name, ...lists }: z.output<typeof RowShape>): ListingRow {
  const problem = excessOf(name, 'versions', lists.versions) ?? excessOf(name, 'labels', lists.labels);
  if (problem !== null) return { name, versions: [], labels: [], problem };
  return { name, ...conform(ListsShape, lists), problem };
}

/** Returns a problem when a list of a prompt is longer than its limit. */
function excessOf(name: string, what: keyof typeof MAX_PER_PROMPT, all: readonly unknown[]): Problem | null {
  const evidence = { name, what, count: all.length, limit: MAX_PER_PROMPT[what] };
  return evidence.count > evidence.limit ? makeProblem('langfuse/too-many', evidence) : null;
}

function summarizeRow({ name, versions, labels, problem }: ListingRow): ListedPrompt {
  const lastVersion = versions.reduce((last, number) => Math.max(last, number), 0);
  return { name, labels, lastVersion, problem };
}

/** `resolve=false`: a text is compared as it was written, not with the prompts that it is composed of. */
function readCall(name: string, which: Which): Call<RemoteVersion> {
  const [by = ['', '']] = Object.entries(which);
  const query = new URLSearchParams({ [by[0]]: String(by[1]), resolve: 'false' });
  const parse = (value: unknown) => toVersion(value, name, which);
  return { ...get, path: `${pathOf(name)}?${query}`, promptId: name, maxBytes: MAX_VERSION_BYTES, parse };
}

function createCall(name: string, { text, config, labels, message }: NewVersion): Call<RemoteVersion> {
  const body = { name, type: 'text', prompt: text, config, labels, commitMessage: message };
  const parse = (value: unknown) => toVersion(value, name);
  return { method: 'POST', path: PROMPTS, body, once: true, promptId: name, maxBytes: MAX_VERSION_BYTES, parse };
}

function addLabelCall(name: string, version: number, label: string): Call<void> {
  const path = `${pathOf(name)}/versions/${version}`;
  const parse = (value: unknown) => void toVersion(value, name, { version });
  return {
    method: 'PATCH',
    path,
    body: { newLabels: [label] },
    once: false,
    promptId: name,
    maxBytes: MAX_VERSION_BYTES,
    parse,
  };
}

/** A list whose length is checked before its items: zod keeps an issue for each item that is not valid. */
const list = z.custom<readonly unknown[]>(Array.isArray, 'Invalid input: expected array');

const RowShape = z.object({ name: z.string(), versions: list, labels: list });
const LabelsShape = z.object({ labels: z.array(z.string()) });
const ListsShape = LabelsShape.extend({ versions: z.array(z.int()) });
const ListingShape = z.object({
  data: list
    .refine((rows) => rows.length <= PAGE, { error: `expected at most ${PAGE} rows`, abort: true })
    .pipe(z.array(RowShape)),
});

const VersionShape = z.object({
  name: z.string(),
  version: z.int(),
  type: z.string(),
  prompt: z.unknown(),
  config: z.custom<JsonValue>(isJson, 'Invalid input: expected JSON').nullish(),
  labels: list,
  commitMessage: z.string().nullish(),
});

/** Another prompt or version than the one asked for is refused. */
function toVersion(value: unknown, name: string, which: Which = { label: '' }): RemoteVersion {
  const wire = conform(VersionShape, value);
  if (wire.name !== name) throw new InvalidAnswer('"name" names another prompt');
  if ('version' in which && wire.version !== which.version) throw new InvalidAnswer('"version" names another one');
  const excess = excessOf(name, 'labels', wire.labels);
  // After a create or a label move, the version is there all the same.
  if (excess !== null) throw new ServiceError(excess, 'unknown');
  const { labels } = conform(LabelsShape, wire);
  const { version: number, prompt, config, commitMessage: message = null } = wire;
  if (wire.type !== 'text')
    throw new ServiceError(makeProblem('langfuse/not-text', { name, type: wire.type }), 'rejected');
  if (typeof prompt !== 'string') throw new InvalidAnswer('"prompt" is not valid: expected string');
  return digestVersion({ number, text: prompt, config: config ?? {}, labels, message });
}
