import type { z } from 'zod';
import { describeShapeFault } from '../domain/describe-shape-fault.ts';
import type { JsonValue } from '../domain/json.ts';
import type { Problem } from '../problem.ts';

/** One call to a service: the request to send, and how to read its response. */
export type ServiceCall<Value> = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The body, which is sent as JSON without undefined properties. Null for a request without a body. */
  readonly body: object | null;
  /**
   * Whether the call must not be executed twice. This is true for calls that create a version, because a second
   * execution would create a second version. promptsync sends such a call on a fresh connection. It retries the call
   * only if the service certainly did not execute it.
   */
  readonly isSentOnce: boolean;
  /** The id of the prompt, for problem messages. Null for a call that is not about a single prompt. */
  readonly promptId: string | null;
  /**
   * The id of the version that the call refers to. If it is present, a 404 response means that the version does not
   * exist. Otherwise it means that the prompt does not exist (interface section 7).
   */
  readonly versionId?: string;
  /** The maximum size of the response in bytes. If it is absent, the limit of the transport applies. */
  readonly maxBytes?: number;
  /**
   * Interprets a 4xx response in a way that only this service knows. Returns null to interpret it like a response of
   * any other service. If it is absent, no response needs it.
   * @param body the response body, without secrets
   */
  readonly interpretRefusal?: (status: number, body: string) => Refusal | null;
  /**
   * Parses the JSON of a 2xx response. The value is null if the status is 204, because such a response has no body.
   * Throws `InvalidResponse` if the JSON violates the interface. Throws a `ServiceError` if the response reports a
   * failure.
   * @param bytes the size of the response
   */
  readonly parse: (value: unknown, bytes: number) => Value;
};

/** What a 4xx response of a service means. */
export type Refusal = {
  readonly problem: Problem;
  /** Whether the service may have executed the call in spite of the response. */
  readonly effect: 'rejected' | 'unknown';
};

/** The error for a response that violates the interface. Its message is one clause and may quote the response. */
export class InvalidResponse extends Error {}

/**
 * Validates a response and returns the parsed value. Throws `InvalidResponse` if the response does not match the shape.
 */
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

/** Returns the value at a path of a parsed JSON response. Returns undefined if there is none. */
function findValue(value: unknown, path: readonly PropertyKey[]): JsonValue | undefined {
  const found = path.reduce<unknown>((outer, step) => Object(outer)[step], value);
  // The response was parsed from JSON, so every value in it is a JSON value.
  return found as JsonValue | undefined;
}
