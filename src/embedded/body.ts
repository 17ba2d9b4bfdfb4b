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

/**
 * Reads a request's body. What is too much of it is received and thrown away, because a client that is still sending
 * could not read the answer. Throws a `Refusal`, or when the client goes away.
 */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= LARGEST) chunks.push(chunk);
  }
  if (size > LARGEST) throw new Refusal(413, `The body is larger than ${LARGEST} bytes.`);
  return parseJson(Buffer.concat(chunks), request.headers['content-type']);
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
  if (!result.success) throw new Refusal(422, result.error.issues.slice(0, 5).map(describe).join('; '));
  return result.data;
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

function describe({ path, message }: z.core.$ZodIssue): string {
  return `${['body', ...path.map(String)].join('.')}: ${message}`;
}
