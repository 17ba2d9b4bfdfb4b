import type { z } from 'zod';
import { suggest } from '../domain/suggest.ts';
import type { Place } from '../problem.ts';
import type { LocatedMapping } from './strict-yaml.ts';

/** One thing that a mapping has wrong against its shape, for a room to word with its own codes. */
export type ShapeIssue = {
  readonly kind: 'unknown' | 'missing' | 'invalid';
  readonly path: readonly PropertyKey[];
  /** The path as it is written in messages: `pins.staging`. */
  readonly field: string;
  readonly expected: string;
  readonly suggestion: string | undefined;
  readonly place: Place;
};

/** Turns zod's issues into ours: one for each unknown key, with places, and with words a file's author understands. */
export function describeIssues(
  error: z.ZodError,
  mapping: LocatedMapping,
  knownFields: readonly string[],
): readonly ShapeIssue[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownField([...issue.path, key], key, mapping, knownFields))
      : [faultyField(issue, mapping)],
  );
}

function unknownField(
  path: readonly PropertyKey[],
  key: string,
  mapping: LocatedMapping,
  knownFields: readonly string[],
): ShapeIssue {
  const place = mapping.keyPlaceOf(path);
  return { kind: 'unknown', path, field: fieldName(path), expected: '', suggestion: suggest(key, knownFields), place };
}

function faultyField(issue: z.core.$ZodIssue, mapping: LocatedMapping): ShapeIssue {
  const kind = mapping.has(issue.path) ? 'invalid' : 'missing';
  const expected = issue.message.replace(/^(Invalid input|Too small|Too big): /, '');
  const field = fieldName(issue.path);
  return { kind, path: issue.path, field, expected, suggestion: undefined, place: mapping.placeOf(issue.path) };
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}
