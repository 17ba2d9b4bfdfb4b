import type { z } from 'zod';

/** One call of a service as a value: what to send, how to read the answer, whether it may be repeated. */
export type Call<Answer> = {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  /** What is undefined in it is not sent. */
  readonly body: object | null;
  /** Creating a version twice makes two versions, so it is sent once and on a fresh connection. */
  readonly once: boolean;
  readonly promptId: string;
  /** Where a 404 may mean a version (interface section 7). */
  readonly versionId?: string;
  /** The size of the largest answer that is parsed, in bytes. Without it, the limit of the transport applies. */
  readonly maxBytes?: number;
  /**
   * Takes the JSON of a 2xx answer and its size in bytes. Throws `InvalidAnswer`, or a `ServiceError` where it says that
   * nothing was done.
   */
  readonly parse: (value: unknown, bytes: number) => Answer;
};

/** An answer that breaks the interface; the message is one clause, and may hold names that the service chose. */
export class InvalidAnswer extends Error {}

/** What a shape makes of an answer. Throws `InvalidAnswer` where it is of another shape. */
export function conform<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new InvalidAnswer(summaryOf(parsed.error.issues));
}

/** The first issue stands for all: an answer of another shape breaks everywhere at once. */
function summaryOf(issues: readonly z.core.$ZodIssue[]): string {
  const path = issues[0]?.path.join('.') ?? '';
  const place = path === '' ? 'it' : `"${path}"`;
  const what = (issues[0]?.message ?? 'Invalid input').replace(/^Invalid input(: )?/, '');
  return what === '' ? `${place} is not valid` : `${place} is not valid: ${what}`;
}
