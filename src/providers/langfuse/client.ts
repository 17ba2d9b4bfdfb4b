import type { StoredContent } from '../../domain/content.ts';
import { makePromptBody, type PromptBody, type ServedPrompt } from '../../domain/served-prompt.ts';
import { makeProblem } from '../../problem.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { openConnection, type Connection, type ConnectionOptions } from '../../http/connection.ts';
import { returnNullIfMissing, ServiceError } from '../../http/service-error.ts';
import { renderUrl } from '../../domain/network.ts';
import type { ListedPrompt } from '../provider-interface.ts';
import type { RemoteLangfuseVersion } from './version.ts';
import { LATEST_LABEL } from './file-rules.ts';
import {
  interpretCreateRefusal,
  interpretLabelRefusal,
  interpretReadRefusal,
  interpretServedRefusal,
} from './refusals.ts';
import {
  type ListingPage,
  type ListingRow,
  PAGE_SIZE,
  parseLangfuseVersion,
  parseListing,
  parseRawVersion,
  type RemoteLangfusePrompt,
} from './parse-responses.ts';

export type NewLangfuseVersion = {
  /** If `metadata` is undefined, the version gets an empty config. */
  readonly content: StoredContent;
  /** The labels to put on the new version. Langfuse removes them from the versions that had them before. */
  readonly labels: readonly string[];
  readonly message?: string | undefined;
};

export type VersionSelector =
  { readonly kind: 'version'; readonly version: number } | { readonly kind: 'label'; readonly label: string };

/** The calls of Langfuse's prompt API. A failed call throws a `ServiceError`. */
export type LangfuseService = {
  /** Lists all prompts. If a prompt exceeds a limit, its entry contains the problem. */
  readonly list: () => Promise<readonly ListedPrompt[]>;
  /** Finds one prompt in the prompt list. Throws if it exceeds a limit. */
  readonly find: (name: string) => Promise<RemoteLangfusePrompt | null>;
  /** Returns null if the prompt, the version or the label does not exist. Langfuse answers 404 in all three cases. */
  readonly read: (name: string, selector: VersionSelector) => Promise<RemoteLangfuseVersion | null>;
  /**
   * Reads a version as an application would, with the parts of a composed prompt inserted. Returns null in the same
   * cases as `read`. Throws the problem `langfuse/composition-fails` if the tags of a version selected by number cannot
   * be resolved.
   */
  readonly readServed: (name: string, selector: VersionSelector) => Promise<ServedPrompt | null>;
  /**
   * Creates a version and, with the first one, the prompt. Retries only if Langfuse certainly did not execute the
   * request. After a `ServiceError` with the effect `unknown`, the version may exist.
   */
  readonly create: (name: string, version: NewLangfuseVersion) => Promise<RemoteLangfuseVersion>;
  /**
   * Moves labels to a version in one transaction. Langfuse has no call that only removes a label. After a
   * `ServiceError` with the effect `unknown`, the labels may have moved. They probably have if its problem is only a
   * warning: Langfuse then cannot resolve this version or one that a label has left.
   */
  readonly addLabels: (name: string, version: number, labels: readonly string[]) => Promise<void>;
  /** Deletes a prompt with all its versions. Does nothing if the prompt does not exist. */
  readonly deletePrompt: (name: string) => Promise<void>;
  /** Returns the address of a prompt in Langfuse's user interface. Sends no request. */
  readonly makePromptUrl: (name: string, projectId: string) => string;
};

type LangfuseKeys = { readonly publicKey: string; readonly secretKey: string };

/** A Langfuse client with open connections. The caller must call `close`. */
export type ConnectedLangfuse = LangfuseService & Pick<Connection, 'close'>;

/** Uses HTTP with Basic authentication. Does not send a request. */
export function connectLangfuse(options: ConnectionOptions, { publicKey, secretKey }: LangfuseKeys): ConnectedLangfuse {
  const basic = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  const credentials = { header: { authorization: `Basic ${basic}` }, secrets: [basic, secretKey] };
  const { perform, close } = openConnection(options, credentials);
  return { ...makeLangfuseService(perform, options.baseUrl), close };
}

function makeLangfuseService(perform: Connection['perform'], baseUrl: string): LangfuseService {
  return {
    list: async () => {
      const prompts: ListedPrompt[] = [];
      for await (const rows of readPages(perform, null)) {
        for (const row of rows) prompts.push(summarizeRow(row));
      }
      return prompts;
    },
    find: async (name) => {
      for await (const [row] of readPages(perform, name)) {
        if (row?.problem) throw new ServiceError(row.problem, 'rejected');
        if (row !== undefined) return row;
      }
      return null;
    },
    read: (name, selector) => returnNullIfMissing(perform(makeReadCall(name, selector)), 'service/prompt-not-found'),
    readServed: (name, selector) =>
      returnNullIfMissing(perform(makeReadServedCall(name, selector)), 'service/prompt-not-found'),
    create: async (name, version) => perform(makeCreateCall(name, version)),
    addLabels: async (name, version, labels) => perform(makeAddLabelsCall(name, version, labels)),
    deletePrompt: async (name) => {
      await returnNullIfMissing(perform(makeDeleteCall(name)), 'service/prompt-not-found');
    },
    makePromptUrl: (name, projectId) => makePromptUrl(baseUrl, name, projectId),
  };
}

export function makePromptUrl(baseUrl: string, name: string, projectId: string): string {
  const [project, prompt] = [projectId, name].map((text) => encodeURIComponent(text.toWellFormed()));
  return renderUrl(new URL(`${baseUrl.replace(/\/+$/, '')}/project/${project}/prompts/${prompt}`));
}

const PROMPTS = '/api/public/v2/prompts';
const MAX_LISTING_PAGES = 1_000;
/** The maximum total size of all pages of the prompt list, in MiB. A single page may be up to 32 MiB. */
const MAX_LISTING_MIB = 64;
/** The maximum size of a version's response. Langfuse rejects requests over 1 MB, so its versions stay below this. */
const MAX_VERSION_BYTES = 4 * 1024 * 1024;
function makePromptPath(name: string): string {
  return `${PROMPTS}/${encodeURIComponent(name.toWellFormed())}`;
}

const GET_CALL = {
  method: 'GET',
  body: null,
  isSentOnce: false,
  interpretRefusal: interpretReadRefusal,
} as const;

/** Yields the list page by page, so that only one page is in memory. If `name` is not null, yields only its row. */
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

/** A page of the prompt list, with the size of its response in bytes. */
type SizedPage = ListingPage & { readonly bytes: number };

function makeListCall(page: number, name: string | null): ServiceCall<SizedPage> {
  const query = new URLSearchParams({ page: String(page), limit: String(PAGE_SIZE), ...(name !== null && { name }) });
  const parse = (value: unknown, bytes: number): SizedPage => ({ ...parseListing(value, name), bytes });
  return { ...GET_CALL, path: `${PROMPTS}?${query}`, promptId: name, parse };
}

/** Drops the version numbers of a row, because promptsync keeps the rows of all prompts in memory. */
function summarizeRow({ name, versions, labels, problem }: ListingRow): ListedPrompt {
  const environments = labels.filter((label) => label !== LATEST_LABEL).toSorted();
  const lastVersion = versions.reduce((highest, number) => Math.max(highest, number), 0);
  return { name, environments, lastVersion, problem };
}

/** With `resolve=false`, Langfuse keeps the composition tags, so that promptsync can compare the text with the file. */
function makeReadCall(name: string, selector: VersionSelector): ServiceCall<RemoteLangfuseVersion> {
  const parse = (value: unknown) => parseLangfuseVersion(value, name, getSelectedNumber(selector));
  const path = makeVersionPath(name, selector, 'false');
  return { ...GET_CALL, path, promptId: name, maxBytes: MAX_VERSION_BYTES, parse };
}

function makeVersionPath(name: string, selector: VersionSelector, resolve: 'true' | 'false'): string {
  const selection = selector.kind === 'version' ? String(selector.version) : selector.label;
  return `${makePromptPath(name)}?${new URLSearchParams({ [selector.kind]: selection, resolve })}`;
}

function getSelectedNumber(selector: VersionSelector): number | null {
  return selector.kind === 'version' ? selector.version : null;
}

/** Reads a version as applications do. Its parts can make the text longer than `MAX_VERSION_BYTES`. */
function makeReadServedCall(name: string, selector: VersionSelector): ServiceCall<ServedPrompt> {
  const parse = (value: unknown): ServedPrompt => {
    const { number, prompt, config } = parseRawVersion(value, name, getSelectedNumber(selector));
    const body: PromptBody = typeof prompt === 'string' ? { type: 'text', prompt } : { type: 'chat', prompt };
    return { ...body, number, config };
  };
  const interpretRefusal = (status: number, responseText: string) =>
    interpretServedRefusal(getSelectedNumber(selector), status, responseText);
  return { ...GET_CALL, path: makeVersionPath(name, selector, 'true'), promptId: name, interpretRefusal, parse };
}

function makeCreateCall(
  name: string,
  { content, labels, message }: NewLangfuseVersion,
): ServiceCall<RemoteLangfuseVersion> {
  const { type, metadata: config } = content;
  const body = { name, type, prompt: makePromptBody(content).prompt, config, labels, commitMessage: message };
  const parse = (value: unknown) => parseLangfuseVersion(value, name, null);
  return {
    method: 'POST',
    path: PROMPTS,
    body,
    isSentOnce: true,
    promptId: name,
    maxBytes: MAX_VERSION_BYTES,
    interpretRefusal: interpretCreateRefusal,
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

function makeDeleteCall(name: string): ServiceCall<null> {
  return { ...GET_CALL, method: 'DELETE', path: makePromptPath(name), promptId: name, parse: () => null };
}
