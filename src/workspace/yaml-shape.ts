import { z } from 'zod';
import { describeShapeFault } from '../domain/describe-shape-fault.ts';
import type { JsonValue } from '../domain/json.ts';
import { suggestName } from '../domain/suggest-name.ts';
import { hasControlCharacters } from '../text.ts';
import { type Place, type Problem, WARNING_CODES } from '../problem.ts';
import type { LocatedMapping } from './strict-yaml.ts';

/** A single-line string. `pattern` repeats the check for the JSON Schema, which cannot contain functions. */
export const singleLineText = z
  .string()
  .min(1, 'it is empty')
  .refine((text) => !hasControlCharacters(text), 'it contains control characters')
  .meta({ pattern: '^[^\\p{Cc}]+$' });

/** The code with which a prompt file accepts conflict markers in its own text. */
export const CONFLICT_MARKERS_CODE = 'prompt/conflict-markers';

const EXPECTED_CODE = 'expected the code of a warning, such as prompt/hidden-character';

/** The warnings to hide in all files. Excludes conflict markers, because only a file can show that it needs them. */
export const acceptedWarningCodes = z
  .array(
    z.enum(WARNING_CODES, {
      error: ({ input }) =>
        input === CONFLICT_MARKERS_CODE
          ? `the code ${CONFLICT_MARKERS_CODE} is allowed only in the front matter of a prompt file`
          : EXPECTED_CODE,
    }),
  )
  .optional()
  .describe('The codes of warnings to hide, such as prompt/hidden-character.');

export const codesAcceptedByFile = z
  .array(z.enum([...WARNING_CODES, CONFLICT_MARKERS_CODE], EXPECTED_CODE))
  .optional()
  .describe(
    `The codes of warnings to hide, such as prompt/hidden-character. List ${CONFLICT_MARKERS_CODE} to allow merge conflict markers in the text.`,
  );

/** A mismatch between a mapping and its shape. Prompt files and the configuration have different codes for it. */
export type ShapeIssue = {
  /** The kind of mismatch. `misnamed` means that the key itself is invalid. */
  readonly kind: 'unknown' | 'missing' | 'invalid' | 'misnamed';
  readonly path: readonly PropertyKey[];
  /** The path as messages show it, such as `pins.staging`. */
  readonly field: string;
  /** The fault or the expected value, as a clause. Empty for an unknown field. */
  readonly expected: string;
  /** The known field that the user probably meant. Undefined unless the field is unknown and a name is similar. */
  readonly suggestion: string | undefined;
  /** What the user should do, as a sentence. Undefined if `expected` already says it. */
  readonly fix: string | undefined;
  readonly place: Place;
};

/** Creates one issue for each unknown key. Skips values that already have a problem. */
function makeShapeIssues(
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

/**
 * Converts zod's issues to problems. A look-alike replaces every issue on its line, because it is their reason.
 * @param convert converts one issue on any other line
 */
export function makeShapeProblems(
  error: z.ZodError,
  mapping: LocatedMapping,
  knownFields: readonly string[],
  convert: (issue: ShapeIssue) => Problem,
): readonly Problem[] {
  const problems = makeShapeIssues(error, mapping, knownFields).map((issue) => {
    const unknownName = issue.kind === 'unknown' ? String(issue.path.at(-1)) : undefined;
    const lookAlike = issue.kind === 'missing' ? null : mapping.findLookAlike(issue.path, unknownName);
    return lookAlike ?? convert(issue);
  });
  return [...new Set(problems)];
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
    fix: undefined,
    place: mapping.keyPlaceOf(path),
  };
}

function makeFaultyFieldIssue(issue: z.core.$ZodIssue, mapping: LocatedMapping): ShapeIssue {
  const { path } = issue;
  const common = { path, field: formatFieldName(path), suggestion: undefined };
  if (issue.code === 'invalid_key') {
    const expected = issue.issues.map((keyIssue) => describeShapeFault(keyIssue, undefined)).join(', ');
    return { ...common, kind: 'misnamed', expected, fix: undefined, place: mapping.keyPlaceOf(path) };
  }
  const value = mapping.valueAt(path);
  const kind = value === undefined ? 'missing' : 'invalid';
  const expected = value === null ? 'it has no value' : describeShapeFault(issue, value);
  return { ...common, kind, expected, fix: suggestFix(issue, value), place: mapping.placeOf(path) };
}

/** Returns a sentence that says what to write instead of a value of the wrong type. */
function suggestFix(issue: z.core.$ZodIssue, value: JsonValue | undefined): string | undefined {
  const name = issue.path.at(-1);
  const field = typeof name === 'string' ? `\`${name}:\`` : 'the list';
  const expected = issue.code === 'invalid_type' ? issue.expected : 'other';
  if (expected === 'array') return `Write a list below ${field}, with one \`- value\` per line.`;
  if (expected === 'object' || expected === 'record')
    return `Write one \`name: value\` per line below ${field}, and indent these lines.`;
  if (value === null) return 'Enter a value, or remove the line.';
  const similar = issue.code === 'invalid_value' ? suggestName(String(value), issue.values.map(String)) : undefined;
  if (similar !== undefined) return `Did you mean \`${similar}\`?`;
  const isScalar = typeof value === 'number' || typeof value === 'boolean';
  return expected === 'string' && isScalar ? 'Put the value in quotes.' : undefined;
}

function formatFieldName(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}
