import { z } from 'zod';
import type { ChatMessage } from '../../src/domain/chat.ts';

/** An error response of the server. */
export class LangfuseRefusal extends Error {
  readonly reply: { readonly status: number; readonly body: object };

  constructor(status: number, message: string, error: unknown = 'InvalidRequestError') {
    super(message);
    this.reply = { status, body: { message, error } };
  }
}

/** The label that the server itself moves to each new version. */
export const LATEST = 'latest';

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
  labels: z
    .array(z.string().regex(/^[a-z0-9_.-]{1,36}$/, 'Label must be lowercase'))
    .refine((labels) => new Set(labels).size === labels.length, 'Labels must be unique')
    .default([]),
  config: z.json().nullish(),
  commitMessage: z.string().max(500).nullish(),
});

/**
 * One item of a chat prompt. An object with a role and a content is a message, whatever its `type` is. The server drops
 * all other keys. The database stores short keys first, so the name of a placeholder comes before its type.
 */
export const MessageShape = z.union([
  z.object({ role: z.string(), content: z.string() }),
  z
    .object({ type: z.literal('placeholder'), name: z.string().regex(/^[a-zA-Z][a-zA-Z0-9_]*$/) })
    .transform(({ type, name }) => ({ name, type })),
]);

/** A request that creates a version. */
export const CreateShape = z.union([
  CommonShape.extend({ type: z.literal('text').default('text'), prompt: z.string() }),
  CommonShape.extend({ type: z.literal('chat'), prompt: z.array(MessageShape) }),
]);

/**
 * Refuses a chat prompt in which a placeholder has the name of a variable. White space inside the braces hides a variable
 * from this check.
 */
export function checkPlaceholderNames(prompt: string | readonly ChatMessage[]): void {
  if (typeof prompt === 'string') return;
  const contents = prompt.flatMap((message) => ('role' in message ? [message.content] : []));
  const placeholders = new Set(prompt.flatMap((message) => ('role' in message ? [] : [message.name])));
  const names = [...placeholders].filter((name) => contents.some((content) => content.includes(`{{${name}}}`)));
  if (names.length === 0) return;
  const message = 'Cannot create prompt, variables and placeholders must be unique, the following are not';
  throw new LangfuseRefusal(400, `${message}: ${names.join(', ')}`);
}

/** The labels in a PATCH. The server does not validate them, except that it rejects `latest`. */
export const LabelsShape = z
  .array(z.string())
  .refine((labels) => !labels.includes(LATEST), `'${LATEST}' is always assigned`);

/** The selection of a version. Numbers may be strings because queries contain strings. */
export const WhichShape = z.object({
  version: z.coerce.number().int().optional(),
  label: z.string().optional(),
  resolve: z.literal([true, false, 'true', 'false']).default(true),
});

const text = z.string().optional();

/** The filter of the list of prompts, and one of its pages. */
export const FilterShape = z.object({
  ...{ name: text, label: text },
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(10),
});

/**
 * Validates a request. The database rejects lone surrogates with an internal error. It rejects NUL in the same way,
 * except in a config.
 */
export function checkRequest<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(value);
  if (!success) throw new LangfuseRefusal(400, 'Invalid request data', error.issues);
  JSON.stringify(data, (_, part: unknown) => {
    if (typeof part === 'string' && !part.isWellFormed()) throw makeInternalError();
    return part;
  });
  JSON.stringify(data, (key, part: unknown) => {
    if (key === 'config') return undefined;
    if (typeof part === 'string' && part.includes('\0')) throw makeInternalError();
    return part;
  });
  return data;
}

function makeInternalError(): LangfuseRefusal {
  return new LangfuseRefusal(500, 'Internal Server Error', 'An unknown error occurred');
}
