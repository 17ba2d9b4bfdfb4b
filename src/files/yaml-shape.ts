import { z } from 'zod';
import { suggest } from '../domain/suggest.ts';
import { hasControlCharacters } from '../domain/text.ts';
import { type Place, WARNINGS } from '../problem.ts';
import type { LocatedMapping } from './strict-yaml.ts';

/** One line: ids, keys, names, environments. The pattern is for the JSON Schema, which knows no checks. */
export const line = z
  .string()
  .min(1, 'it is empty')
  .refine((text) => !hasControlCharacters(text), 'it holds control characters')
  .meta({ pattern: '^[^\\p{Cc}]+$' });

/** Kinds of warnings that somebody has looked at and does not want to see again. */
export const acceptedWarnings = z
  .array(z.enum(WARNINGS, 'expected the code of a warning, such as prompt/hidden-character'))
  .optional()
  .describe('Warnings that are not shown any more, by their codes, such as prompt/hidden-character.');

/** One thing that a mapping has wrong against its shape, for a room to word with its own codes. */
export type ShapeIssue = {
  /** `misnamed`: the key itself is not valid. */
  readonly kind: 'unknown' | 'missing' | 'invalid' | 'misnamed';
  readonly path: readonly PropertyKey[];
  /** The path as it is written in messages: `pins.staging`. */
  readonly field: string;
  readonly expected: string;
  readonly suggestion: string | undefined;
  readonly place: Place;
};

/**
 * Turns zod's issues into ours: one for each unknown key, with places, and with words a file's author understands.
 * What has a problem already is left out.
 */
export function describeIssues(error: z.ZodError, mapping: LocatedMapping, knownFields: readonly string[]) {
  const issues = error.issues.filter((issue) => !mapping.isRefused(issue.path));
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownField([...issue.path, key], mapping, knownFields))
      : [faultyField(issue, mapping)],
  );
}

function unknownField(path: readonly PropertyKey[], mapping: LocatedMapping, known: readonly string[]): ShapeIssue {
  const suggestion = suggest(String(path.at(-1)), known);
  return { kind: 'unknown', path, field: fieldName(path), expected: '', suggestion, place: mapping.keyPlaceOf(path) };
}

function faultyField(issue: z.core.$ZodIssue, mapping: LocatedMapping): ShapeIssue {
  const { path } = issue;
  const about = { path, field: fieldName(path), suggestion: undefined };
  if (issue.code === 'invalid_key') {
    const expected = issue.issues.map(wordingOf).join(', ');
    return { ...about, kind: 'misnamed', expected, place: mapping.keyPlaceOf(path) };
  }
  const kind = mapping.valueAt(path) !== undefined ? 'invalid' : 'missing';
  return { ...about, kind, expected: wordingOf(issue), place: mapping.placeOf(path) };
}

function wordingOf({ message }: z.core.$ZodIssue): string {
  return message
    .replace(/^(Invalid input|Invalid option|Too small|Too big): /, '')
    .replace(/\b(object|record)\b/g, 'mapping')
    .replace(/\barray\b/g, 'list');
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}
