import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';

/** The error for a refused request. It contains the HTTP status and the `detail` of the response. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** The free memory for request bodies, in bytes. All bodies together may use twice the maximum size of one body. */
export type BodyMemory = { free: number };

export function makeBodyMemory(): BodyMemory {
  return { free: 2 * MAX_BODY_BYTES };
}

/**
 * Reads a JSON body. Receives even a body that is too large, because a client reads the response only after it has sent
 * everything. Throws a `Refusal` for an invalid body, and a different error if the client disconnects.
 */
export async function readBody(request: IncomingMessage, memory: BodyMemory): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let refusal: Refusal | null = null;
  const releaseChunks = (): void => {
    for (const { length } of chunks.splice(0)) memory.free += length;
  };
  try {
    for await (const chunk of request) {
      size += chunk.length;
      refusal ??= findBodyRefusal(size, chunk.length, memory);
      if (refusal === null) {
        chunks.push(chunk);
        memory.free -= chunk.length;
      } else {
        releaseChunks();
      }
    }
    if (refusal !== null) throw refusal;
    return parseJsonBody(Buffer.concat(chunks), request.headers['content-type']);
  } finally {
    releaseChunks();
  }
}

/** Returns a refusal if the body is too large or memory is short. `size` is that of the body with the last chunk. */
function findBodyRefusal(size: number, chunkLength: number, { free }: BodyMemory): Refusal | null {
  if (size > MAX_BODY_BYTES) return new Refusal(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
  if (chunkLength <= free) return null;
  return new Refusal(429, 'The service is receiving too many large request bodies. Retry later.', {
    'retry-after': '1',
  });
}

function parseJsonBody(bytes: Uint8Array, contentType: string | undefined): unknown {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    throw new Refusal(422, 'The body must be sent as Content-Type: application/json.');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new Refusal(422, 'The body is not valid JSON encoded in UTF-8.');
  }
}

/** Throws a `Refusal` if the body does not match the shape. */
export function parseBody<Value>(body: unknown, shape: z.ZodType<Value>): Value {
  const result = safeParseNested(body, shape);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 5);
  const descriptions = issues.map(({ path, message }) => `${['body', ...path.map(String)].join('.')}: ${message}`);
  throw new Refusal(422, descriptions.join('; '));
}

/** Throws a `Refusal` if the value is nested too deeply for zod, which is recursive. */
function safeParseNested<Value>(value: unknown, shape: z.ZodType<Value>): z.ZodSafeParseResult<Value> {
  try {
    return shape.safeParse(value);
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(422, 'The body is nested too deeply.');
    throw error;
  }
}
