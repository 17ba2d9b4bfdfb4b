import type { z } from 'zod';
import type { RemotePrompt, RemoteVersion } from '../domain/prompt-service.ts';
import { PromptShape, SetActiveAnswerShape, VersionShape, type WireVersion } from './wire.ts';

/** An answer that breaks the interface; the message is one clause, and may hold names that the service chose. */
export class InvalidAnswer extends Error {}

const LONGEST_PATH = 100;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a body of UTF-8 JSON into what the call wants. Throws `InvalidAnswer`. */
export function parseAnswer<Answer>(body: Uint8Array, parse: (value: unknown) => Answer): Answer {
  try {
    return parse(parseJson(body));
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidAnswer('it is nested too deeply');
    throw error;
  }
}

/** Interface section 2.2. A version of another prompt than the one asked for is refused. */
export function parseVersion(value: unknown, promptId: string): RemoteVersion {
  return toVersion(conform(VersionShape, value), promptId, 'prompt_id');
}

/** Interface section 2.1. Another prompt than the one asked for is refused, and so is its version. */
export function parsePrompt(value: unknown, promptId: string): RemotePrompt {
  const wire = conform(PromptShape, value);
  if (wire.id !== promptId) throw new InvalidAnswer('"id" names another prompt');
  return {
    id: wire.id,
    key: wire.key,
    name: wire.name,
    description: wire.description ?? '',
    latestVersionId: wire.latest_version_id ?? null,
    activeVersion: wire.active_version ? toVersion(wire.active_version, promptId, 'active_version.prompt_id') : null,
  };
}

/** Interface section 4.4: whether the active version was set. */
export function parseUpdated(value: unknown): boolean {
  return conform(SetActiveAnswerShape, value).updated;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(UTF_8.decode(body));
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvalidAnswer('it is not JSON');
    if (error instanceof TypeError) throw new InvalidAnswer('it is not UTF-8');
    throw error;
  }
}

function toVersion(wire: WireVersion, promptId: string, field: string): RemoteVersion {
  if (wire.prompt_id !== promptId) throw new InvalidAnswer(`"${field}" names another prompt`);
  return { id: wire.id, number: wire.version_number, text: wire.content, metadata: wire.metadata_ ?? {} };
}

function conform<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new InvalidAnswer(summaryOf(parsed.error.issues));
}

/** The first issue stands for all: an answer of another shape breaks everywhere at once. */
function summaryOf(issues: readonly z.core.$ZodIssue[]): string {
  const path = issues[0]?.path.join('.') ?? '';
  const place = path === '' ? 'it' : `"${path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path}"`;
  const what = (issues[0]?.message ?? 'Invalid input').replace(/^Invalid input(: )?/, '');
  return what === '' ? `${place} is not valid` : `${place} is not valid: ${what}`;
}
