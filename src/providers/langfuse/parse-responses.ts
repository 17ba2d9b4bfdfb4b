import { z } from 'zod';
import { PROMPT_TYPES, type PromptType } from '../../domain/chat.ts';
import { isJsonValue, type JsonValue } from '../../domain/json.ts';
import type { VersionTimes } from '../../domain/versions.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { InvalidResponse, parseResponse } from '../../http/service-call.ts';
import { ServiceError } from '../../http/service-error.ts';
import { digestVersion, type LangfusePrompt, type RawLangfuseVersion, type RemoteLangfuseVersion } from './version.ts';

/** The number of rows to request per page of the prompt list. Langfuse returns at most 100. */
export const PAGE_SIZE = 100;

const MAX_PROJECT_ID_LENGTH = 200;
/** promptsync refuses prompts with more, because it may need one request for each version and each label. */
const MAX_PER_PROMPT = { versions: 10_000, labels: 200 } as const;

/** One row of Langfuse's prompt list: a prompt with its version numbers and labels. */
export type RemoteLangfusePrompt = {
  readonly name: string;
  readonly versions: readonly number[];
  readonly labels: readonly string[];
  /** Null if Langfuse, or a gateway in front of it, omits it. */
  readonly type: PromptType | null;
  /** The time of the last create or move of a label, as Langfuse sends it. Null if it is unknown. */
  readonly lastUpdatedAt: string | null;
};

/** If the prompt exceeds a limit, `problem` describes the limit, and `versions` and `labels` are empty. */
export type ListingRow = RemoteLangfusePrompt & { readonly problem: Problem | null };

export type ListingPage = { readonly rows: readonly ListingRow[]; readonly isLast: boolean };

/** promptsync checks the length first and the items later, because zod creates an issue for every invalid item. */
const uncheckedArray = z.custom<readonly unknown[]>(Array.isArray, 'Invalid input: expected array');

/** Langfuse numbers versions from 1. The number becomes part of URL paths, so promptsync validates it. */
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

/** An object with a role and content is a message, even if its `type` is `placeholder`. Drops other properties. */
const MessageShape = z.union([
  z.object({ role: z.string(), content: z.string() }),
  z.object({ type: z.literal('placeholder'), name: z.string() }),
]);

/** Throws `InvalidResponse` if the value is not a page of the list. If `name` is not null, returns only its row. */
export function parseListing(value: unknown, name: string | null): ListingPage {
  const rows = parseResponse(ListingShape, value).data;
  const requestedRows = name === null ? rows : rows.filter((row) => row.name === name);
  return { rows: requestedRows.map(parseRow), isLast: rows.length < PAGE_SIZE };
}

function parseRow({ name, lastUpdatedAt = null, type = null, ...lists }: z.output<typeof RowShape>): ListingRow {
  const problem =
    findExcessProblem(name, 'versions', lists.versions) ?? findExcessProblem(name, 'labels', lists.labels);
  if (problem !== null) return { name, versions: [], labels: [], type, lastUpdatedAt, problem };
  return { name, type, lastUpdatedAt, ...parseResponse(ListsShape, lists), problem };
}

function findExcessProblem(
  name: string,
  listName: keyof typeof MAX_PER_PROMPT,
  list: readonly unknown[],
): Problem | null {
  const count = list.length;
  const limit = MAX_PER_PROMPT[listName];
  return count > limit ? makeProblem('langfuse/too-many', { name, what: listName, count, limit }) : null;
}

/** Throws `InvalidResponse` if the `prompt` property does not match the type of the version. */
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

/** The error contains the index, but not what is wrong with each of the two possible shapes. */
function parseMessage(message: unknown, index: number): z.output<typeof MessageShape> {
  const { success, data } = MessageShape.safeParse(message);
  if (success) return data;
  throw new InvalidResponse(`"prompt.${index}" is neither a message with a role and text nor a placeholder`);
}

const TextPromptShape = z.object({ prompt: z.string() });
const ChatPromptShape = z.object({ prompt: uncheckedArray });

/** Throws the same errors as `parseRawVersion`. */
export function parseLangfuseVersion(
  value: unknown,
  name: string,
  requestedNumber: number | null,
): RemoteLangfuseVersion {
  return digestVersion(parseRawVersion(value, name, requestedNumber));
}

/**
 * Throws `InvalidResponse` if the value is not the requested version, and a `ServiceError` if it has too many labels.
 * `requestedNumber` is null if the request does not contain one.
 */
export function parseRawVersion(value: unknown, name: string, requestedNumber: number | null): RawLangfuseVersion {
  const wire = parseResponse(VersionShape, value);
  if (wire.name !== name) throw new InvalidResponse('"name" is the name of a different prompt');
  if (requestedNumber !== null && wire.version !== requestedNumber) {
    throw new InvalidResponse('"version" is not the requested number');
  }
  const excess = findExcessProblem(name, 'labels', wire.labels);
  // Langfuse has already executed the request, which may have created a version or moved a label.
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
