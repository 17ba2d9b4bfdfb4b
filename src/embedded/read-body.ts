import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';

/** The refusal of a request, with its HTTP status. The response is `{ "detail": … }`. */
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

/** The largest body that the service accepts. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** The free memory for bodies, in bytes. All bodies together may take as much as two of the largest size. */
export type BodyMemory = { free: number };

export function makeBodyMemory(): BodyMemory {
  return { free: 2 * MAX_BODY_BYTES };
}

/**
 * Reads the body of a request. If it is too large, the rest is received and discarded, because a client that is still
 * sending could not read the response. Throws a `Refusal`, or an error if the client disconnects.
 */
export async function readBody(request: IncomingMessage, room: BodyMemory): Promise<unknown> {
  const held: Uint8Array[] = [];
  let size = 0;
  let refusal: Refusal | null = null;
  const letGo = (): void => held.splice(0).forEach(({ length }) => (room.free += length));
  try {
    for await (const chunk of request) {
      size += chunk.length;
      refusal ??= findBodyRefusal(size, chunk.length, room);
      if (refusal === null) {
        held.push(chunk);
        room.free -= chunk.length;
      } else letGo();
    }
    if (refusal !== null) throw refusal;
    return parseJsonBody(Buffer.concat(held), request.headers['content-type']);
  } finally {
    letGo();
  }
}

function findBodyRefusal(size: number, further: number, { free }: BodyMemory): Refusal | null {
  if (size > MAX_BODY_BYTES) return new Refusal(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
  return further > free ? new Refusal(429, 'Too much is being sent.', { 'retry-after': '1' }) : null;
}

function parseJsonBody(bytes: Uint8Array, contentType: string | undefined): unknown {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    throw new Refusal(422, 'The body must be sent as Content-Type: application/json.');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new Refusal(422, 'The body is not valid JSON in UTF-8.');
  }
}

/** Parses a body with the shape of an endpoint. Throws a `Refusal` if it does not match. */
export function parseBody<Value>(body: unknown, shape: z.ZodType<Value>): Value {
  const result = shapeDeep(body, shape);
  if (result.success) return result.data;
  const faults = result.error.issues.slice(0, 5);
  const told = faults.map(({ path, message }) => `${['body', ...path.map(String)].join('.')}: ${message}`);
  throw new Refusal(422, told.join('; '));
}

/** Parses a body that may be nested too deeply for the stack, because zod checks free JSON recursively. */
function shapeDeep<Value>(value: unknown, shape: z.ZodType<Value>): z.ZodSafeParseResult<Value> {
  try {
    return shape.safeParse(value);
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(422, 'The body is nested too deeply.');
    throw error;
  }
}
