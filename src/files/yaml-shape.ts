import { z } from 'zod';
import { suggestName } from '../domain/suggest-name.ts';
import { hasControlCharacters } from '../text.ts';
import { type Place, WARNING_CODES } from '../problem.ts';
import type { LocatedMapping } from './strict-yaml.ts';

/** One line: ids, keys, names, environments. The pattern is for the JSON Schema, which knows no checks. */
export const singleLineText = z
  .string()
  .min(1, 'it is empty')
  .refine((text) => !hasControlCharacters(text), 'it holds control characters')
  .meta({ pattern: '^[^\\p{Cc}]+$' });

/** Kinds of warnings that somebody has looked at and does not want to see again. */
export const acceptedWarningCodes = z
  .array(z.enum(WARNING_CODES, 'expected the code of a warning, such as prompt/hidden-character'))
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
export function makeShapeIssues(
  error: z.ZodError,
  mapping: LocatedMapping,
  knownFields: readonly string[],
): readonly ShapeIssue[] {
  const issues = error.issues.filter((issue) => !mapping.isRefused(issue.path));
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => makeUnknownFieldIssue([...issue.path, key], mapping, knownFields))
      : [makeFaultyFieldIssue(issue, mapping)],
  );
}

function makeUnknownFieldIssue(
  path: readonly PropertyKey[],
  mapping: LocatedMapping,
  known: readonly string[],
): ShapeIssue {
  const suggestion = suggestName(String(path.at(-1)), known);
  return {
    kind: 'unknown',
    path,
    field: formatFieldName(path),
    expected: '',
    suggestion,
    place: mapping.keyPlaceOf(path),
  };
}

function makeFaultyFieldIssue(issue: z.core.$ZodIssue, mapping: LocatedMapping): ShapeIssue {
  const { path } = issue;
  const about = { path, field: formatFieldName(path), suggestion: undefined };
  if (issue.code === 'invalid_key') {
    const expected = issue.issues.map(describeZodIssue).join(', ');
    return { ...about, kind: 'misnamed', expected, place: mapping.keyPlaceOf(path) };
  }
  const kind = mapping.valueAt(path) !== undefined ? 'invalid' : 'missing';
  return { ...about, kind, expected: describeZodIssue(issue), place: mapping.placeOf(path) };
}

function describeZodIssue({ message }: z.core.$ZodIssue): string {
  return message
    .replace(/^(Invalid input|Invalid option|Too small|Too big): /, '')
    .replace(/\b(object|record)\b/g, 'mapping')
    .replace(/\barray\b/g, 'list');
}

function formatFieldName(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}
