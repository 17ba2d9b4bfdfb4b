import { z } from 'zod';
import { digested, digestOf, metadataDigest, shortDigest } from '../domain/digest.ts';
import { canonicalJson, isJson, isJsonObject, type JsonValue } from '../domain/json.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { makeProblem, problemOf } from '../problem.ts';
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
export type RemoteVersion = KnownVersion & Pick<WrittenVersion, 'config' | 'labels'>;

/**
 * Any version is found again by its number, and nothing says who has made it: git knows the texts. A number may come again
 * with another text, once its version was deleted: plans and digests are bound to the text by the id.
 */
export function digestVersion({ number, text, config, labels, message }: WrittenVersion): RemoteVersion {
  const { text: compared, digest } = digested(text);
  const metadata = isJsonObject(config) ? config : {};
  return {
    id: `${number}-${shortDigest(digestOf(canonicalJson([text, config])))}`,
    ...{ number, digest, config, labels },
    metadataDigest: isJsonObject(config) ? metadataDigest(config) : digestOf(canonicalJson(config)),
    ...{ ours: null, lasting: true, source: null },
    content: { text: compared, metadata },
    ...(message !== null && { message }),
  };
}

/** A row of the listing. */
export type RemotePrompt = {
  readonly name: string;
  readonly versions: readonly number[];
  readonly labels: readonly string[];
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
  /** Of that name, or all. */
  readonly list: (name?: string) => Promise<readonly RemotePrompt[]>;
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
    list: async (name) => {
      const all: RemotePrompt[] = [];
      for (let page = 1; page <= MOST_PAGES; page += 1) {
        const rows = await perform(listCall(page, name));
        all.push(...rows);
        if (rows.length < PAGE) return all;
      }
      const reason = `the listing has more than ${MOST_PAGES} pages`;
      throw new ServiceError(makeProblem('service/invalid-answer', { reason }), 'rejected');
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
/** As many as Langfuse gives at once. */
const PAGE = 100;
const MOST_PAGES = 1_000;

function pathOf(name: string): string {
  return `${PROMPTS}/${encodeURIComponent(name.toWellFormed())}`;
}

const get = { method: 'GET', body: null, once: false } as const;

function listCall(page: number, name?: string): Call<readonly RemotePrompt[]> {
  const query = new URLSearchParams({ page: String(page), limit: String(PAGE), ...(name !== undefined && { name }) });
  const parse = (value: unknown) => conform(ListingShape, value).data;
  return { ...get, path: `${PROMPTS}?${query}`, promptId: name ?? '*', parse };
}

/** `resolve=false`: a text is compared as it was written, not with the prompts that it is composed of. */
function readCall(name: string, which: Which): Call<RemoteVersion> {
  const [by = ['', '']] = Object.entries(which);
  const query = new URLSearchParams({ [by[0]]: String(by[1]), resolve: 'false' });
  return { ...get, path: `${pathOf(name)}?${query}`, promptId: name, parse: (value) => toVersion(value, name, which) };
}

function createCall(name: string, { text, config, labels, message }: NewVersion): Call<RemoteVersion> {
  const body = { name, type: 'text', prompt: text, config, labels, commitMessage: message };
  const parse = (value: unknown) => toVersion(value, name);
  return { method: 'POST', path: PROMPTS, body, once: true, promptId: name, parse };
}

function addLabelCall(name: string, version: number, label: string): Call<void> {
  const path = `${pathOf(name)}/versions/${version}`;
  const parse = (value: unknown) => void toVersion(value, name, { version });
  return { method: 'PATCH', path, body: { newLabels: [label] }, once: false, promptId: name, parse };
}

const ListingShape = z.object({
  data: z.array(z.object({ name: z.string(), versions: z.array(z.int()), labels: z.array(z.string()) })),
});

const VersionShape = z.object({
  name: z.string(),
  version: z.int(),
  type: z.string(),
  prompt: z.unknown(),
  config: z.custom<JsonValue>(isJson, 'Invalid input: expected JSON').nullish(),
  labels: z.array(z.string()),
  commitMessage: z.string().nullish(),
});

/** Another prompt or version than the one asked for is refused. */
function toVersion(value: unknown, name: string, which: Which = { label: '' }): RemoteVersion {
  const wire = conform(VersionShape, value);
  if (wire.name !== name) throw new InvalidAnswer('"name" names another prompt');
  if ('version' in which && wire.version !== which.version) throw new InvalidAnswer('"version" names another one');
  const { version: number, prompt, config, labels, commitMessage: message = null } = wire;
  if (wire.type !== 'text')
    throw new ServiceError(makeProblem('langfuse/not-text', { name, type: wire.type }), 'rejected');
  if (typeof prompt !== 'string') throw new InvalidAnswer('"prompt" is not valid: expected string');
  return digestVersion({ number, text: prompt, config: config ?? {}, labels, message });
}
