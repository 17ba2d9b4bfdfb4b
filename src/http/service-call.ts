import type { z } from 'zod';
import { describeShapeFault } from '../domain/describe-shape-fault.ts';
import type { JsonValue } from '../domain/json.ts';
import type { Problem } from '../problem.ts';

/** One call to a service: the request to send, and how to read its response. */
export type ServiceCall<Value> = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Sent as JSON without undefined properties. */
  readonly body: object | null;
  /**
   * Whether the call creates a version, and must therefore not be executed twice. promptsync sends it on a fresh
   * connection, and retries it only if the service certainly did not execute it.
   */
  readonly isSentOnce: boolean;
  /** The id of the prompt, for problem messages. Null for a call that is not about a single prompt. */
  readonly promptId: string | null;
  /** If present, status 404 means that this version is missing, and otherwise the prompt (interface section 7). */
  readonly versionId?: string;
  /** In bytes. If it is absent, the limit of the transport applies. */
  readonly maxBytes?: number;
  /** Interprets a 4xx response. Null means the same as for any service. The body contains no secrets. */
  readonly interpretRefusal?: (status: number, body: string) => Refusal | null;
  /**
   * Parses the JSON of a 2xx response, or null for the status 204. Throws `InvalidResponse` if the JSON violates the
   * interface, and a `ServiceError` if it reports a failure.
   */
  readonly parse: (value: unknown, bytes: number) => Value;
};

export type Refusal = {
  readonly problem: Problem;
  /** Whether the service may have executed the call in spite of the response. */
  readonly effect: 'rejected' | 'unknown';
};

/** The error for a response that violates the interface. Its message is one clause and may quote the response. */
export class InvalidResponse extends Error {}

/** Throws `InvalidResponse` if the response does not match the shape. */
export function parseResponse<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new InvalidResponse(summarizeIssues(parsed.error.issues, value));
}

/** Describes only the first issue. A response with a completely different shape would have an issue in every field. */
function summarizeIssues([issue]: readonly z.core.$ZodIssue[], value: unknown): string {
  if (issue === undefined) return 'it is not valid';
  const field = issue.path.length === 0 ? 'it' : `"${issue.path.join('.')}"`;
  const found = findValue(value, issue.path);
  return found === undefined ? `${field} is missing` : `${field} is not valid: ${describeShapeFault(issue, found)}`;
}

/** Returns the value at a path of a parsed JSON response. */
function findValue(value: unknown, path: readonly PropertyKey[]): JsonValue | undefined {
  const found = path.reduce<unknown>((outer, step) => Object(outer)[step], value);
  // The response was parsed from JSON, so every value in it is a JSON value.
  return found as JsonValue | undefined;
}
