import { z } from 'zod';
import { computeDigest, shortDigest } from '../domain/digest.ts';
import { digestText, type StoredContent } from '../domain/content.ts';
import { canonicalJson, isJsonValue, type JsonValue } from '../domain/json.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { makeProblem, type Problem, toProblem } from '../problem.ts';
import { type ServiceCall, parseResponse, InvalidResponse } from '../service/service-call.ts';
import { openConnection, type Connection, type ConnectionOptions } from '../service/connection.ts';
import { ServiceError } from '../service/prompt-service.ts';

/** A version as Langfuse has it, with composition tags as they were written. */
export type RawLangfuseVersion = {
  readonly number: number;
  /** The metadata is the config. */
  readonly content: StoredContent<JsonValue>;
  readonly labels: readonly string[];
  /** Its commit message. */
  readonly message: string | null;
};

/** The same as what is known of any version, digested once. */
export type RemoteLangfuseVersion = KnownVersion &
  Pick<RawLangfuseVersion, 'labels'> & {
    /** The text is as promptsync compares it. */
    readonly content: StoredContent<JsonValue>;
    /** The memory that it takes, roughly, in bytes. */
    readonly size: number;
  };

/** `{}` has two characters as JSON and takes more than 50 bytes as a value. */
const CONFIG_BYTES_PER_CHARACTER = 20;

/**
 * Any version is found again by its number, and nothing says who has made it: git knows the texts. A number may come again
 * with another text, once its version was deleted: plans and digests are bound to the text by the id.
 */
export function digestVersion({ number, content, labels, message }: RawLangfuseVersion): RemoteLangfuseVersion {
  const { text, metadata: config } = content;
  const { text: compared, digest } = digestText(text);
  const configJson = canonicalJson(config);
  return {
    id: `${number}-${shortDigest(computeDigest(canonicalJson([text, config])))}`,
    number,
    digest,
    labels,
    size: text.length + configJson.length * CONFIG_BYTES_PER_CHARACTER,
    // All of the config is the user's: promptsync keeps nothing in it, not even below the key that it reserves.
    metadataDigest: computeDigest(configJson),
    isManaged: null,
    staysKnown: true,
    source: null,
    content: { ...content, text: compared },
    ...(message !== null && { message }),
  };
}

/** The row of one prompt in Langfuse's listing. */
export type RemoteLangfusePrompt = {
  readonly name: string;
  readonly versions: readonly number[];
  readonly labels: readonly string[];
};

/** The part of a row that is kept when all prompts are listed. */
export type LangfuseListing = {
  readonly name: string;
  readonly labels: readonly string[];
  /** The highest version number; 0 when there is no version. */
  readonly lastVersion: number;
  /** The limit that the prompt exceeds; null when it is within the limits. */
  readonly problem: Problem | null;
};

/** What a version is made of. */
export type NewLangfuseVersion = {
  /** The metadata is the config. Without one, the version gets the empty config. */
  readonly content: StoredContent;
  /** They move to it from whatever version has them. */
  readonly labels: readonly string[];
  readonly message?: string | undefined;
};

/** The version of a prompt with this number, or the one that has this label. */
export type VersionSelector =
  { readonly kind: 'version'; readonly version: number } | { readonly kind: 'label'; readonly label: string };

/** Langfuse's calls for prompts. Every call throws a `ServiceError` when it fails. */
export type LangfuseService = {
  /** Lists all prompts. A prompt that exceeds a limit is listed with its problem. */
  readonly list: () => Promise<readonly LangfuseListing[]>;
  /** Returns the row of one prompt, or null when the listing has none. Throws when the prompt exceeds a limit. */
  readonly find: (name: string) => Promise<RemoteLangfusePrompt | null>;
  /** Null where there is no such prompt, or nothing of it that is meant: Langfuse does not tell these apart. */
  readonly read: (name: string, selector: VersionSelector) => Promise<RemoteLangfuseVersion | null>;
  /** Makes a version, and with the first one the prompt. Sent once: after the effect `unknown` it may exist. */
  readonly create: (name: string, version: NewLangfuseVersion) => Promise<RemoteLangfuseVersion>;
  /** Moves a label to a version. Labels can be added and moved, but not taken away. */
  readonly addLabel: (name: string, version: number, label: string) => Promise<void>;
};

type LangfuseKeys = { readonly publicKey: string; readonly secretKey: string };

/** Langfuse with connections of its own, which have to be closed. */
export type ConnectedLangfuse = LangfuseService & Pick<Connection, 'close'>;

/** Connects to Langfuse over HTTP, with Basic authentication. */
export function connectLangfuse(options: ConnectionOptions, { publicKey, secretKey }: LangfuseKeys): ConnectedLangfuse {
  const basic = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  const credentials = { header: { authorization: `Basic ${basic}` }, secrets: [basic, secretKey] };
  const { perform, close } = openConnection(options, credentials);
  return { ...makeLangfuseService(perform), close };
}

function makeLangfuseService(perform: Connection['perform']): LangfuseService {
  return {
    list: async () => {
      const all: LangfuseListing[] = [];
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
    read: (name, selector) =>
      perform(makeReadCall(name, selector)).catch((error: unknown) => {
        if (toProblem(error).code === 'service/prompt-not-found') return null;
        throw error;
      }),
    create: async (name, version) => perform(makeCreateCall(name, version)),
    addLabel: async (name, version, label) => perform(makeAddLabelCall(name, version, label)),
  };
}

const PROMPTS = '/api/public/v2/prompts';
/** Rows on one page of the listing, which is the most that Langfuse returns. */
const PAGE_SIZE = 100;

/** Pages of one listing. */
const MAX_LISTING_PAGES = 1_000;
/** Size of all pages of one listing together. One answer may have up to 32 MiB. */
const MAX_LISTING_MIB = 64;
/** Size of one version. Langfuse takes no request of more than 1 MB, so no version of its own comes near this. */
const MAX_VERSION_BYTES = 4 * 1024 * 1024;
/** A prompt with more than these is refused, because each version and each label may cost a request. */
const MAX_PER_PROMPT = { versions: 10_000, labels: 200 } as const;

function makePromptPath(name: string): string {
  return `${PROMPTS}/${encodeURIComponent(name.toWellFormed())}`;
}

const get = { method: 'GET', body: null, isSentOnce: false } as const;

/**
 * Reads the listing page by page, and keeps no page.
 * @param name the only prompt whose row is returned; null: all prompts
 */
async function* readPages(perform: Connection['perform'], name: string | null): AsyncGenerator<readonly ListingRow[]> {
  let bytes = 0;
  for (let number = 1; number <= MAX_LISTING_PAGES; number += 1) {
    const page = await perform(makeListCall(number, name));
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
type ListingRow = RemoteLangfusePrompt & { readonly problem: Problem | null };

type ListingPage = { readonly rows: readonly ListingRow[]; readonly isLast: boolean; readonly bytes: number };

function makeListCall(page: number, name: string | null): ServiceCall<ListingPage> {
  const query = new URLSearchParams({ page: String(page), limit: String(PAGE_SIZE), ...(name !== null && { name }) });
  const parse = (value: unknown, bytes: number): ListingPage => {
    const rows = parseResponse(ListingShape, value).data;
    const wanted = name === null ? rows : rows.filter((row) => row.name === name);
    return { rows: wanted.map(toRow), isLast: rows.length < PAGE_SIZE, bytes };
  };
  return { ...get, path: `${PROMPTS}?${query}`, promptId: name ?? '*', parse };
}

function toRow({ name, ...lists }: z.output<typeof RowShape>): ListingRow {
  const problem = findExcess(name, 'versions', lists.versions) ?? findExcess(name, 'labels', lists.labels);
  if (problem !== null) return { name, versions: [], labels: [], problem };
  return { name, ...parseResponse(ListsShape, lists), problem };
}

/** Returns a problem when a list of a prompt is longer than its limit. */
function findExcess(name: string, what: keyof typeof MAX_PER_PROMPT, all: readonly unknown[]): Problem | null {
  const evidence = { name, what, count: all.length, limit: MAX_PER_PROMPT[what] };
  return evidence.count > evidence.limit ? makeProblem('langfuse/too-many', evidence) : null;
}

function summarizeRow({ name, versions, labels, problem }: ListingRow): LangfuseListing {
  const lastVersion = versions.reduce((last, number) => Math.max(last, number), 0);
  return { name, labels, lastVersion, problem };
}

/** `resolve=false`: a text is compared as it was written, not with the prompts that it is composed of. */
function makeReadCall(name: string, selector: VersionSelector): ServiceCall<RemoteLangfuseVersion> {
  const selection = selector.kind === 'version' ? String(selector.version) : selector.label;
  const query = new URLSearchParams({ [selector.kind]: selection, resolve: 'false' });
  const parse = (value: unknown) =>
    parseLangfuseVersion(value, name, selector.kind === 'version' ? selector.version : null);
  return { ...get, path: `${makePromptPath(name)}?${query}`, promptId: name, maxBytes: MAX_VERSION_BYTES, parse };
}

function makeCreateCall(
  name: string,
  { content, labels, message }: NewLangfuseVersion,
): ServiceCall<RemoteLangfuseVersion> {
  const { text, metadata: config } = content;
  const body = { name, type: 'text', prompt: text, config, labels, commitMessage: message };
  const parse = (value: unknown) => parseLangfuseVersion(value, name, null);
  return { method: 'POST', path: PROMPTS, body, isSentOnce: true, promptId: name, maxBytes: MAX_VERSION_BYTES, parse };
}

function makeAddLabelCall(name: string, version: number, label: string): ServiceCall<void> {
  const path = `${makePromptPath(name)}/versions/${version}`;
  const parse = (value: unknown) => void parseLangfuseVersion(value, name, version);
  return {
    method: 'PATCH',
    path,
    body: { newLabels: [label] },
    isSentOnce: false,
    promptId: name,
    maxBytes: MAX_VERSION_BYTES,
    parse,
  };
}

/** A list whose length is checked before its items: zod keeps an issue for each item that is not valid. */
const list = z.custom<readonly unknown[]>(Array.isArray, 'Invalid input: expected array');

/** Langfuse counts the versions of a prompt from 1. The number becomes part of a path. */
const versionNumber = z.int().min(1);

const RowShape = z.object({ name: z.string(), versions: list, labels: list });
const LabelsShape = z.object({ labels: z.array(z.string()) });
const ListsShape = LabelsShape.extend({ versions: z.array(versionNumber) });
const ListingShape = z.object({
  data: list
    .refine((rows) => rows.length <= PAGE_SIZE, { error: `expected at most ${PAGE_SIZE} rows`, abort: true })
    .pipe(z.array(RowShape)),
});

const VersionShape = z.object({
  name: z.string(),
  version: versionNumber,
  type: z.string(),
  prompt: z.unknown(),
  config: z.custom<JsonValue>(isJsonValue, 'Invalid input: expected JSON').nullish(),
  labels: list,
  commitMessage: z.string().nullish(),
});

/** Refuses another prompt or version than the requested one. `requested` is null if the request names no number. */
function parseLangfuseVersion(value: unknown, name: string, requested: number | null): RemoteLangfuseVersion {
  const wire = parseResponse(VersionShape, value);
  if (wire.name !== name) throw new InvalidResponse('"name" names another prompt');
  if (requested !== null && wire.version !== requested) throw new InvalidResponse('"version" names another one');
  const excess = findExcess(name, 'labels', wire.labels);
  // After a create or a label move, the version is there all the same.
  if (excess !== null) throw new ServiceError(excess, 'unknown');
  const { labels } = parseResponse(LabelsShape, wire);
  const { version: number, prompt, config, commitMessage: message = null } = wire;
  if (wire.type !== 'text')
    throw new ServiceError(makeProblem('langfuse/not-text', { name, type: wire.type }), 'rejected');
  if (typeof prompt !== 'string') throw new InvalidResponse('"prompt" is not valid: expected string');
  return digestVersion({ number, content: { text: prompt, metadata: config ?? {} }, labels, message });
}
