import { z } from 'zod';
import { computeDigest, shortDigest } from '../domain/digest.ts';
import { digestText, type StoredContent } from '../domain/content.ts';
import { canonicalJson, isJsonValue, type JsonValue } from '../domain/json.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { makeProblem, type Problem, toProblem } from '../problem.ts';
import { type ServiceCall, parseResponse, InvalidResponse } from '../service/service-call.ts';
import { openConnection, type Connection, type ConnectionOptions } from '../service/connection.ts';
import { ServiceError } from '../service/prompt-service.ts';

/** A version as Langfuse stores it. Composition tags in its text are not resolved. */
export type RawLangfuseVersion = {
  readonly number: number;
  /** The text and the config of the version. The config is the metadata. */
  readonly content: StoredContent<JsonValue>;
  readonly labels: readonly string[];
  /** The commit message of the version. Null if the version has none. */
  readonly message: string | null;
};

/** A version that was read from Langfuse, as a known version with its digests. */
export type RemoteLangfuseVersion = KnownVersion &
  Pick<RawLangfuseVersion, 'labels'> & {
    /** The text and the config of the version. The text is normalized for comparisons. */
    readonly content: StoredContent<JsonValue>;
    /** The approximate memory that the version takes, in bytes. */
    readonly size: number;
  };

/** The estimated memory of a parsed config per character of its JSON. For example, `{}` takes more than 50 bytes. */
const CONFIG_BYTES_PER_CHARACTER = 20;

/**
 * Converts a version from Langfuse to a known version. promptsync can read any version again by its number. Langfuse
 * does not show who created a version, so promptsync recognizes versions by the texts in git. The id contains a digest
 * of the text and the config, because Langfuse reuses the number of a deleted version. This binds plans and their
 * digests to the text.
 */
export function digestVersion({ number, content, labels, message }: RawLangfuseVersion): RemoteLangfuseVersion {
  const { text, metadata: config } = content;
  const { text: normalizedText, digest } = digestText(text);
  const configJson = canonicalJson(config);
  return {
    id: `${number}-${shortDigest(computeDigest(canonicalJson([text, config])))}`,
    number,
    digest,
    labels,
    size: text.length + configJson.length * CONFIG_BYTES_PER_CHARACTER,
    // The whole config belongs to the user. promptsync stores nothing in it, not even under the key `promptsync`.
    metadataDigest: computeDigest(configJson),
    isManaged: null,
    staysKnown: true,
    source: null,
    content: { ...content, text: normalizedText },
    ...(message !== null && { message }),
  };
}

/** The row of one prompt in Langfuse's listing. */
export type RemoteLangfusePrompt = {
  readonly name: string;
  readonly versions: readonly number[];
  readonly labels: readonly string[];
};

/** A summary of the row of one prompt. promptsync keeps only summaries when it lists all prompts. */
export type LangfuseListing = {
  readonly name: string;
  readonly labels: readonly string[];
  /** The highest version number. 0 if the prompt has no version or exceeds a limit. */
  readonly lastVersion: number;
  /** The problem of a prompt with too many versions or labels. Null if the prompt is within the limits. */
  readonly problem: Problem | null;
};

/** The input for a new version. */
export type NewLangfuseVersion = {
  /** The text and the config of the version. If the metadata is undefined, the version gets the empty config. */
  readonly content: StoredContent;
  /** The labels of the new version. Langfuse removes them from the versions that have them. */
  readonly labels: readonly string[];
  readonly message?: string | undefined;
};

/** Selects one version of a prompt, either by its number or by one of its labels. */
export type VersionSelector =
  { readonly kind: 'version'; readonly version: number } | { readonly kind: 'label'; readonly label: string };

/** Langfuse's calls for prompts. A call that fails throws a `ServiceError`. */
export type LangfuseService = {
  /** Lists all prompts. A prompt that exceeds a limit is listed with its problem. */
  readonly list: () => Promise<readonly LangfuseListing[]>;
  /** Returns the row of one prompt, or null if there is no such prompt. Throws if the prompt exceeds a limit. */
  readonly find: (name: string) => Promise<RemoteLangfusePrompt | null>;
  /**
   * Reads a version. Returns null for a missing prompt, version or label, because Langfuse answers all three with 404.
   */
  readonly read: (name: string, selector: VersionSelector) => Promise<RemoteLangfuseVersion | null>;
  /**
   * Creates a version. The first version also creates the prompt. promptsync repeats the request only if Langfuse
   * certainly did not carry it out. After a `ServiceError` with the effect `unknown`, the version may exist.
   */
  readonly create: (name: string, version: NewLangfuseVersion) => Promise<RemoteLangfuseVersion>;
  /** Moves a label to a version. No call removes a label from a prompt. */
  readonly addLabel: (name: string, version: number, label: string) => Promise<void>;
};

type LangfuseKeys = { readonly publicKey: string; readonly secretKey: string };

/** Langfuse's calls with their open connections. The caller must close the connections. */
export type ConnectedLangfuse = LangfuseService & Pick<Connection, 'close'>;

/** Connects to Langfuse over HTTP with Basic authentication. Sends nothing. */
export function connectLangfuse(options: ConnectionOptions, { publicKey, secretKey }: LangfuseKeys): ConnectedLangfuse {
  const basic = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  const credentials = { header: { authorization: `Basic ${basic}` }, secrets: [basic, secretKey] };
  const { perform, close } = openConnection(options, credentials);
  return { ...makeLangfuseService(perform), close };
}

function makeLangfuseService(perform: Connection['perform']): LangfuseService {
  return {
    list: async () => {
      const prompts: LangfuseListing[] = [];
      for await (const rows of readPages(perform, null)) {
        for (const row of rows) prompts.push(summarizeRow(row));
      }
      return prompts;
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
/** The number of rows on one page of the listing. Langfuse returns at most 100. */
const PAGE_SIZE = 100;

/** The maximum number of pages of one listing. */
const MAX_LISTING_PAGES = 1_000;
/** The maximum size of all pages of one listing together. A single response may have up to 32 MiB. */
const MAX_LISTING_MIB = 64;
/**
 * The maximum size of a response with one version. Langfuse rejects requests over 1 MB, so its versions are smaller.
 */
const MAX_VERSION_BYTES = 4 * 1024 * 1024;
/**
 * The limits of one prompt. promptsync refuses larger prompts, because each version and each label may cost a request.
 */
const MAX_PER_PROMPT = { versions: 10_000, labels: 200 } as const;

function makePromptPath(name: string): string {
  return `${PROMPTS}/${encodeURIComponent(name.toWellFormed())}`;
}

const GET_CALL = { method: 'GET', body: null, isSentOnce: false } as const;

/**
 * Yields the rows of the listing page by page, so that only one page is in memory.
 * @param name the prompt whose row to read; null for all prompts
 */
async function* readPages(perform: Connection['perform'], name: string | null): AsyncGenerator<readonly ListingRow[]> {
  let bytes = 0;
  for (let pageNumber = 1; pageNumber <= MAX_LISTING_PAGES; pageNumber += 1) {
    const page = await perform(makeListCall(pageNumber, name));
    bytes += page.bytes;
    if (bytes > MAX_LISTING_MIB * 1024 * 1024) throw makeListingTooLargeError(`${MAX_LISTING_MIB} MiB`);
    yield page.rows;
    if (page.isLast) return;
  }
  throw makeListingTooLargeError(`${MAX_LISTING_PAGES} pages`);
}

function makeListingTooLargeError(limit: string): ServiceError {
  return new ServiceError(makeProblem('langfuse/listing-too-large', { limit }), 'rejected');
}

/** A row of the listing. If the prompt exceeds a limit, the row has a problem but no versions and no labels. */
type ListingRow = RemoteLangfusePrompt & { readonly problem: Problem | null };

type ListingPage = { readonly rows: readonly ListingRow[]; readonly isLast: boolean; readonly bytes: number };

function makeListCall(page: number, name: string | null): ServiceCall<ListingPage> {
  const query = new URLSearchParams({ page: String(page), limit: String(PAGE_SIZE), ...(name !== null && { name }) });
  const parse = (value: unknown, bytes: number): ListingPage => {
    const rows = parseResponse(ListingShape, value).data;
    const requestedRows = name === null ? rows : rows.filter((row) => row.name === name);
    return { rows: requestedRows.map(parseRow), isLast: rows.length < PAGE_SIZE, bytes };
  };
  return { ...GET_CALL, path: `${PROMPTS}?${query}`, promptId: name ?? '*', parse };
}

function parseRow({ name, ...lists }: z.output<typeof RowShape>): ListingRow {
  const problem =
    findExcessProblem(name, 'versions', lists.versions) ?? findExcessProblem(name, 'labels', lists.labels);
  if (problem !== null) return { name, versions: [], labels: [], problem };
  return { name, ...parseResponse(ListsShape, lists), problem };
}

/**
 * Returns the problem of a prompt that has too many versions or labels. Returns null if the prompt is within the limit.
 */
function findExcessProblem(
  name: string,
  listName: keyof typeof MAX_PER_PROMPT,
  list: readonly unknown[],
): Problem | null {
  const count = list.length;
  const limit = MAX_PER_PROMPT[listName];
  return count > limit ? makeProblem('langfuse/too-many', { name, what: listName, count, limit }) : null;
}

function summarizeRow({ name, versions, labels, problem }: ListingRow): LangfuseListing {
  const lastVersion = versions.reduce((highest, number) => Math.max(highest, number), 0);
  return { name, labels, lastVersion, problem };
}

/**
 * Makes the call that reads one version. With `resolve=false`, Langfuse does not replace composition tags by the texts
 * of other prompts. promptsync compares the text as it was written.
 */
function makeReadCall(name: string, selector: VersionSelector): ServiceCall<RemoteLangfuseVersion> {
  const selection = selector.kind === 'version' ? String(selector.version) : selector.label;
  const query = new URLSearchParams({ [selector.kind]: selection, resolve: 'false' });
  const parse = (value: unknown) =>
    parseLangfuseVersion(value, name, selector.kind === 'version' ? selector.version : null);
  return { ...GET_CALL, path: `${makePromptPath(name)}?${query}`, promptId: name, maxBytes: MAX_VERSION_BYTES, parse };
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

/**
 * An array with unchecked items. promptsync checks the length first, because zod keeps an issue for each invalid item.
 */
const uncheckedArray = z.custom<readonly unknown[]>(Array.isArray, 'Invalid input: expected array');

/** A version number. Langfuse numbers the versions of a prompt from 1, and the number becomes part of a path. */
const versionNumber = z.int().min(1);

const RowShape = z.object({ name: z.string(), versions: uncheckedArray, labels: uncheckedArray });
const LabelsShape = z.object({ labels: z.array(z.string()) });
const ListsShape = LabelsShape.extend({ versions: z.array(versionNumber) });
const ListingShape = z.object({
  data: uncheckedArray
    .refine((rows) => rows.length <= PAGE_SIZE, { error: `expected at most ${PAGE_SIZE} rows`, abort: true })
    .pipe(z.array(RowShape)),
});

const VersionShape = z.object({
  name: z.string(),
  version: versionNumber,
  type: z.string(),
  prompt: z.unknown(),
  config: z.custom<JsonValue>(isJsonValue, 'Invalid input: expected JSON').nullish(),
  labels: uncheckedArray,
  commitMessage: z.string().nullish(),
});

/**
 * Parses a response that contains a version. Throws `InvalidResponse` if the version is not the requested one. Throws a
 * `ServiceError` if it is not a text version, or if it has too many labels.
 * @param requestedNumber null if the request names no version number
 */
function parseLangfuseVersion(value: unknown, name: string, requestedNumber: number | null): RemoteLangfuseVersion {
  const wire = parseResponse(VersionShape, value);
  if (wire.name !== name) throw new InvalidResponse('"name" names another prompt');
  if (requestedNumber !== null && wire.version !== requestedNumber) {
    throw new InvalidResponse('"version" is not the requested number');
  }
  const excess = findExcessProblem(name, 'labels', wire.labels);
  // If the request was a create or a label move, Langfuse has already carried it out. Therefore the effect is
  // `unknown`.
  if (excess !== null) throw new ServiceError(excess, 'unknown');
  const { labels } = parseResponse(LabelsShape, wire);
  const { version: number, prompt, config, commitMessage: message = null } = wire;
  if (wire.type !== 'text') {
    throw new ServiceError(makeProblem('langfuse/not-text', { name, type: wire.type }), 'rejected');
  }
  if (typeof prompt !== 'string') throw new InvalidResponse('"prompt" is not valid: expected string');
  return digestVersion({ number, content: { text: prompt, metadata: config ?? {} }, labels, message });
}
