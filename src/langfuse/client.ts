import { z } from 'zod';
import { PROMPT_TYPES, type PromptType } from '../domain/chat.ts';
import { type StoredContent } from '../domain/content.ts';
import { isJsonValue, type JsonValue } from '../domain/json.ts';
import type { PromptBody, ServedPrompt } from '../domain/served-prompt.ts';
import type { VersionTimes } from '../domain/versions.ts';
import { makeProblem, type Problem, toProblem } from '../problem.ts';
import { type ServiceCall, parseResponse, InvalidResponse } from '../service/service-call.ts';
import { openConnection, type Connection, type ConnectionOptions } from '../service/connection.ts';
import { ServiceError } from '../service/prompt-service.ts';
import type { ProviderOpening } from '../providers/descriptor.ts';
import type { ListedPrompt } from '../domain/provider.ts';
import {
  digestVersion,
  type LangfusePrompt,
  makeLangfusePrompt,
  type RawLangfuseVersion,
  type RemoteLangfuseVersion,
} from './version.ts';
import { interpretCreateRefusal, interpretLabelRefusal, interpretReadRefusal } from './refusals.ts';

/** One row of Langfuse's prompt list: a prompt with its version numbers and labels. */
export type RemoteLangfusePrompt = {
  readonly name: string;
  readonly versions: readonly number[];
  readonly labels: readonly string[];
  /** The type of the prompt. Null if Langfuse, or a gateway in front of it, omits it. */
  readonly type: PromptType | null;
  /** The time of the last create or move of a label, as Langfuse sends it. Null if it is unknown. */
  readonly lastUpdatedAt: string | null;
};

/**
 * The summary of one row of Langfuse's prompt list. To save memory, promptsync keeps only these summaries when it lists
 * all prompts.
 */
export type LangfuseListing = Omit<ListedPrompt, 'environments'> & Pick<RemoteLangfusePrompt, 'labels'>;

/** The input for creating a version. */
export type NewLangfuseVersion = {
  /** The text and the config. If `metadata` is undefined, the version gets an empty config. */
  readonly content: StoredContent;
  /** The labels to put on the new version. Langfuse removes them from the versions that had them before. */
  readonly labels: readonly string[];
  readonly message?: string | undefined;
};

/** Selects one version of a prompt, either by number or by label. */
export type VersionSelector =
  { readonly kind: 'version'; readonly version: number } | { readonly kind: 'label'; readonly label: string };

/** The calls of Langfuse's prompt API. A failed call throws a `ServiceError`. */
export type LangfuseService = {
  /** Lists all prompts. If a prompt exceeds a limit, its entry contains the problem. */
  readonly list: () => Promise<readonly LangfuseListing[]>;
  /** Finds one prompt in the prompt list. Returns null if the prompt does not exist. Throws if it exceeds a limit. */
  readonly find: (name: string) => Promise<RemoteLangfusePrompt | null>;
  /**
   * Reads a version. Returns null if the prompt, the version or the label does not exist, because Langfuse sends the
   * same 404 response in all three cases.
   */
  readonly read: (name: string, selector: VersionSelector) => Promise<RemoteLangfuseVersion | null>;
  /**
   * Reads the version with a label as an application would. Langfuse inserts the parts of a composed prompt. Throws a
   * `ServiceError` with the problem `service/prompt-not-found` if the prompt or the label does not exist.
   */
  readonly readServed: (name: string, label: string) => Promise<ServedPrompt>;
  /**
   * Creates a version. The first version also creates the prompt. Retries the request only if Langfuse certainly did
   * not execute it. If this throws a `ServiceError` with the effect `unknown`, the version may exist anyway.
   */
  readonly create: (name: string, version: NewLangfuseVersion) => Promise<RemoteLangfuseVersion>;
  /**
   * Moves labels to a version in one transaction. Langfuse has no call that only removes a label. If this throws a
   * `ServiceError` with the effect `unknown`, the labels may have moved. If its problem is only a warning, Langfuse has
   * probably moved the labels, but applications cannot read the version.
   */
  readonly addLabels: (name: string, version: number, labels: readonly string[]) => Promise<void>;
  /** Returns the address of a prompt in Langfuse's user interface. Sends no request. */
  readonly makePromptUrl: (name: string, projectId: string) => string;
};

type LangfuseKeys = { readonly publicKey: string; readonly secretKey: string };

/** A Langfuse client with open connections. The caller must call `close`. */
export type ConnectedLangfuse = LangfuseService & Pick<Connection, 'close'>;

/** Creates a Langfuse client that uses HTTP with Basic authentication. Does not send a request. */
export function connectLangfuse(
  options: ConnectionOptions,
  { publicKey, secretKey }: LangfuseKeys,
  findUnselectedFile: ProviderOpening['findUnselectedFile'],
): ConnectedLangfuse {
  const basic = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  const credentials = { header: { authorization: `Basic ${basic}` }, secrets: [basic, secretKey] };
  const { perform, close } = openConnection(options, credentials);
  return { ...makeLangfuseService(perform, options.baseUrl, findUnselectedFile), close };
}

function makeLangfuseService(
  perform: Connection['perform'],
  baseUrl: string,
  findUnselectedFile: ProviderOpening['findUnselectedFile'],
): LangfuseService {
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
        if (row !== undefined) return omitProblem(row);
      }
      return null;
    },
    read: (name, selector) =>
      perform(makeReadCall(name, selector)).catch((error: unknown) => {
        if (toProblem(error).code === 'service/prompt-not-found') return null;
        throw error;
      }),
    readServed: (name, label) => perform(makeReadServedCall(name, label)),
    create: async (name, version) => perform(makeCreateCall(name, version, findUnselectedFile)),
    addLabels: async (name, version, labels) => perform(makeAddLabelsCall(name, version, labels)),
    makePromptUrl: (name, projectId) => makePromptUrl(baseUrl, name, projectId),
  };
}

/**
 * Returns the address of a prompt in Langfuse's user interface. Encodes all characters that could end a link in
 * Markdown or HTML.
 */
export function makePromptUrl(baseUrl: string, name: string, projectId: string): string {
  const [project, prompt] = [projectId, name].map((text) => encodeURIComponent(text.toWellFormed()));
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/project/${project}/prompts/${prompt}`).href;
  return url.replaceAll(/[()'|\\`]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

const PROMPTS = '/api/public/v2/prompts';
/** The number of rows to request per page of the prompt list. Langfuse returns at most 100. */
const PAGE_SIZE = 100;

/** The maximum number of pages to read when promptsync lists prompts. */
const MAX_LISTING_PAGES = 1_000;
/** The maximum total size of all pages of the prompt list, in MiB. A single page may be up to 32 MiB. */
const MAX_LISTING_MIB = 64;
/**
 * The maximum size of a response that contains one version, in bytes. Langfuse rejects requests over 1 MB, so its
 * versions stay below this limit.
 */
const MAX_VERSION_BYTES = 4 * 1024 * 1024;
/** The maximum length of a project id, in characters. */
const MAX_PROJECT_ID_LENGTH = 200;
/**
 * How many versions and how many labels a prompt may have. promptsync refuses prompts with more, because it may need
 * one request for each version and each label.
 */
const MAX_PER_PROMPT = { versions: 10_000, labels: 200 } as const;

function makePromptPath(name: string): string {
  return `${PROMPTS}/${encodeURIComponent(name.toWellFormed())}`;
}

const GET_CALL = {
  method: 'GET',
  body: null,
  isSentOnce: false,
  interpretRefusal: interpretReadRefusal,
} as const;

/**
 * Yields the rows of the prompt list page by page, so that only one page is in memory at a time.
 * @param name the prompt whose row to read, or null for all prompts
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

/**
 * One row of the prompt list. If the prompt exceeds a limit, `problem` describes the limit, and `versions` and `labels`
 * are empty.
 */
type ListingRow = RemoteLangfusePrompt & { readonly problem: Problem | null };

type ListingPage = { readonly rows: readonly ListingRow[]; readonly isLast: boolean; readonly bytes: number };

function makeListCall(page: number, name: string | null): ServiceCall<ListingPage> {
  const query = new URLSearchParams({ page: String(page), limit: String(PAGE_SIZE), ...(name !== null && { name }) });
  const parse = (value: unknown, bytes: number): ListingPage => {
    const rows = parseResponse(ListingShape, value).data;
    const requestedRows = name === null ? rows : rows.filter((row) => row.name === name);
    return { rows: requestedRows.map(parseRow), isLast: rows.length < PAGE_SIZE, bytes };
  };
  return { ...GET_CALL, path: `${PROMPTS}?${query}`, promptId: name, parse };
}

function parseRow({ name, lastUpdatedAt = null, type = null, ...lists }: z.output<typeof RowShape>): ListingRow {
  const problem =
    findExcessProblem(name, 'versions', lists.versions) ?? findExcessProblem(name, 'labels', lists.labels);
  if (problem !== null) return { name, versions: [], labels: [], type, lastUpdatedAt, problem };
  return { name, type, lastUpdatedAt, ...parseResponse(ListsShape, lists), problem };
}

/** Returns a problem if the given list of a prompt's versions or labels exceeds its limit. Otherwise returns null. */
function findExcessProblem(
  name: string,
  listName: keyof typeof MAX_PER_PROMPT,
  list: readonly unknown[],
): Problem | null {
  const count = list.length;
  const limit = MAX_PER_PROMPT[listName];
  return count > limit ? makeProblem('langfuse/too-many', { name, what: listName, count, limit }) : null;
}

function omitProblem({ name, versions, labels, type, lastUpdatedAt }: ListingRow): RemoteLangfusePrompt {
  return { name, versions, labels, type, lastUpdatedAt };
}

function summarizeRow({ name, versions, labels, problem }: ListingRow): LangfuseListing {
  const lastVersion = versions.reduce((highest, number) => Math.max(highest, number), 0);
  return { name, labels, lastVersion, problem };
}

/**
 * Builds the call that reads one version. With `resolve=false`, Langfuse returns the text as it was written and does
 * not replace composition tags with the content of other prompts. promptsync needs the original text to compare it with
 * the prompt file.
 */
function makeReadCall(name: string, selector: VersionSelector): ServiceCall<RemoteLangfuseVersion> {
  const selection = selector.kind === 'version' ? String(selector.version) : selector.label;
  const query = new URLSearchParams({ [selector.kind]: selection, resolve: 'false' });
  const parse = (value: unknown) =>
    parseLangfuseVersion(value, name, selector.kind === 'version' ? selector.version : null);
  return { ...GET_CALL, path: `${makePromptPath(name)}?${query}`, promptId: name, maxBytes: MAX_VERSION_BYTES, parse };
}

/**
 * Builds the call that reads the version with a label as applications do, with all composition tags replaced. The parts
 * can make the text longer than any single version, so `MAX_VERSION_BYTES` does not apply.
 */
function makeReadServedCall(name: string, label: string): ServiceCall<ServedPrompt> {
  const query = new URLSearchParams({ label, resolve: 'true' });
  const parse = (value: unknown): ServedPrompt => {
    const { number, prompt, config } = parseRawVersion(value, name, null);
    const body: PromptBody = typeof prompt === 'string' ? { type: 'text', prompt } : { type: 'chat', prompt };
    return { ...body, number, config };
  };
  return { ...GET_CALL, path: `${makePromptPath(name)}?${query}`, promptId: name, parse };
}

function makeCreateCall(
  name: string,
  { content, labels, message }: NewLangfuseVersion,
  findUnselectedFile: ProviderOpening['findUnselectedFile'],
): ServiceCall<RemoteLangfuseVersion> {
  const { type, metadata: config } = content;
  const body = { name, type, prompt: makeLangfusePrompt(content), config, labels, commitMessage: message };
  const parse = (value: unknown) => parseLangfuseVersion(value, name, null);
  return {
    method: 'POST',
    path: PROMPTS,
    body,
    isSentOnce: true,
    promptId: name,
    maxBytes: MAX_VERSION_BYTES,
    interpretRefusal: (status, responseText) => interpretCreateRefusal(status, responseText, findUnselectedFile),
    parse,
  };
}

function makeAddLabelsCall(name: string, version: number, labels: readonly string[]): ServiceCall<void> {
  const path = `${makePromptPath(name)}/versions/${version}`;
  const parse = (value: unknown) => void parseLangfuseVersion(value, name, version);
  return {
    method: 'PATCH',
    path,
    body: { newLabels: labels },
    isSentOnce: false,
    promptId: name,
    versionId: String(version),
    interpretRefusal: (status, responseText) => interpretLabelRefusal(version, status, responseText),
    maxBytes: MAX_VERSION_BYTES,
    parse,
  };
}

/**
 * An array whose items are validated later. promptsync checks its length first, because zod creates an issue for every
 * invalid item.
 */
const uncheckedArray = z.custom<readonly unknown[]>(Array.isArray, 'Invalid input: expected array');

/**
 * A version number. Langfuse numbers versions from 1. promptsync validates the number, because it becomes part of URL
 * paths.
 */
const versionNumber = z.int().min(1);

const RowShape = z.object({
  name: z.string(),
  versions: uncheckedArray,
  labels: uncheckedArray,
  type: z.enum(PROMPT_TYPES).nullish().catch(null),
  lastUpdatedAt: z.string().nullish(),
});
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
  createdAt: z.iso.datetime({ offset: true }).nullish(),
  updatedAt: z.iso.datetime({ offset: true }).nullish(),
  createdBy: z.string().nullish(),
  projectId: z.string().max(MAX_PROJECT_ID_LENGTH).nullish(),
});

/**
 * A message or a placeholder of a chat prompt. An object with a role and content is a message, even if its `type` is
 * `placeholder`. Other properties are dropped.
 */
const MessageShape = z.union([
  z.object({ role: z.string(), content: z.string() }),
  z.object({ type: z.literal('placeholder'), name: z.string() }),
]);

/** Parses the property `prompt` of a version. Throws `InvalidResponse` if it does not match the type of the version. */
function parsePrompt(type: string, prompt: unknown): LangfusePrompt {
  switch (type) {
    case 'text':
      return parseResponse(TextPromptShape, { prompt }).prompt;
    case 'chat': {
      const messages = parseResponse(ChatPromptShape, { prompt }).prompt;
      return messages.map(parseMessage);
    }
    default:
      throw new InvalidResponse('"type" is not valid: expected "text" or "chat"');
  }
}

/** Parses one message. The error contains its index, but not what is wrong with each of the two possible shapes. */
function parseMessage(message: unknown, index: number): z.output<typeof MessageShape> {
  const { success, data } = MessageShape.safeParse(message);
  if (success) return data;
  throw new InvalidResponse(`"prompt.${index}" is neither a message with a role and a text nor a placeholder`);
}

const TextPromptShape = z.object({ prompt: z.string() });
const ChatPromptShape = z.object({ prompt: uncheckedArray });

/** Parses a response that contains a version, and computes its digests. Throws the errors of `parseRawVersion`. */
function parseLangfuseVersion(value: unknown, name: string, requestedNumber: number | null): RemoteLangfuseVersion {
  return digestVersion(parseRawVersion(value, name, requestedNumber));
}

/**
 * Parses a response that contains a version. Throws `InvalidResponse` if it is not the requested version. Throws a
 * `ServiceError` if the version has too many labels.
 * @param requestedNumber the version number in the request, or null if the request does not contain one
 */
function parseRawVersion(value: unknown, name: string, requestedNumber: number | null): RawLangfuseVersion {
  const wire = parseResponse(VersionShape, value);
  if (wire.name !== name) throw new InvalidResponse('"name" is the name of a different prompt');
  if (requestedNumber !== null && wire.version !== requestedNumber) {
    throw new InvalidResponse('"version" is not the requested number');
  }
  const excess = findExcessProblem(name, 'labels', wire.labels);
  // Langfuse has already executed the request, which may have created a version or moved a label. Therefore the effect
  // is `unknown` and not `rejected`.
  if (excess !== null) throw new ServiceError(excess, 'unknown');
  const { labels } = parseResponse(LabelsShape, wire);
  const { version: number, commitMessage: message = null, createdBy = null, projectId = null } = wire;
  const prompt = parsePrompt(wire.type, wire.prompt);
  const config = wire.config ?? {};
  return { number, prompt, config, labels, message, times: parseTimes(wire), createdBy, projectId };
}

function parseTimes({ createdAt, updatedAt }: z.output<typeof VersionShape>): VersionTimes | null {
  if (!createdAt || !updatedAt) return null;
  return { createdAt: Date.parse(createdAt), updatedAt: Date.parse(updatedAt) };
}
