import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';

/** A request that the service does not do, with the answer it gets: `{ "detail": … }` under the status. */
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

/** In bytes. */
const LARGEST = 32 * 1024 * 1024;

/** How many bytes of all bodies that are being received may still be held: no more than two of the largest kind. */
export type Room = { free: number };

export function makeRoom(): Room {
  return { free: 2 * LARGEST };
}

/**
 * Reads a request's body, as far as there is room for it. What is beyond is received and thrown away, because a client
 * that is still sending could not read the answer. Throws a `Refusal`, or when the client goes away.
 */
export async function readBody(request: IncomingMessage, room: Room): Promise<unknown> {
  const held: Uint8Array[] = [];
  let size = 0;
  let refusal: Refusal | null = null;
  const letGo = (): void => held.splice(0).forEach(({ length }) => (room.free += length));
  try {
    for await (const chunk of request) {
      size += chunk.length;
      refusal ??= refusalOf(size, chunk.length, room);
      if (refusal === null) {
        held.push(chunk);
        room.free -= chunk.length;
      } else letGo();
    }
    if (refusal !== null) throw refusal;
    return parseJson(Buffer.concat(held), request.headers['content-type']);
  } finally {
    letGo();
  }
}

function refusalOf(size: number, further: number, { free }: Room): Refusal | null {
  if (size > LARGEST) return new Refusal(413, `The body is larger than ${LARGEST} bytes.`);
  return further > free ? new Refusal(429, 'Too much is being sent.', { 'retry-after': '1' }) : null;
}

function parseJson(bytes: Uint8Array, contentType: string | undefined): unknown {
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

/** Gives the body the shape of an endpoint; throws a `Refusal` when it has another. */
export function parseBody<Value>(body: unknown, shape: z.ZodType<Value>): Value {
  const result = shapeDeep(body, shape);
  if (result.success) return result.data;
  const faults = result.error.issues.slice(0, 5);
  const told = faults.map(({ path, message }) => `${['body', ...path.map(String)].join('.')}: ${message}`);
  throw new Refusal(422, told.join('; '));
}

/** Shapes of free JSON are checked recursively: a body can be nested deeper than the stack is. */
function shapeDeep<Value>(value: unknown, shape: z.ZodType<Value>): z.ZodSafeParseResult<Value> {
  try {
    return shape.safeParse(value);
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(422, 'The body is nested too deeply.');
    throw error;
  }
}
