import { z } from 'zod';
import { normalizeText, makeContent, VERSION_RECORD_KEY } from '../domain/content.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { listPlaceholders } from '../domain/text-changes.ts';
import type { Pin, PromptFile } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { isError, makeProblem, type Place, type Problem } from '../problem.ts';
import { listFieldNotes } from '../providers/list.ts';
import {
  decodeSource,
  findConflictMarker,
  findInvalidUtf8,
  makeFilePlace,
  checkSource,
  type SplitFile,
  splitFrontMatter,
  FIRST_YAML_LINE,
} from './front-matter.ts';
import { type LocatedMapping, parseStrictYaml } from './strict-yaml.ts';
import { acceptedWarningCodes, makeShapeIssues, singleLineText, type ShapeIssue } from './yaml-shape.ts';

const PinShape = z
  .union([
    z.literal('latest').describe("The version that holds this file's text and metadata, whatever its number."),
    z.int().min(1).describe('The version with this number.'),
    z
      .string()
      .regex(/^version:(?!\.{1,2}$)[^\p{Cc}]+$/u)
      .describe('The version with this id.'),
    z
      .string()
      .regex(/^(?=.{1,250}$)git:[^\p{Cc}\s~^:?*[\\-][^\p{Cc}\s:?*[\\]*$/u)
      .describe('This prompt as it was at a tag, branch or commit. At most 250 characters.'),
  ])
  .describe('What the environment serves: latest, a version number, version:<id> or git:<ref>.');

/** A pin may name a commit of its own, and promptsync reads the prompt at each of them. */
const MAX_PINS = 1000;

/** The front matter of a prompt file as its author writes it. */
export const FrontMatterShape = z.strictObject({
  id: singleLineText.describe(`${['The id of the prompt in the service', ...listFieldNotes('id')].join('; ')}.`),
  key: singleLineText
    .optional()
    .describe(['The stable key of the prompt, such as support/greeting.', ...listFieldNotes('key')].join(' ')),
  name: singleLineText.optional().describe(['The display name.', ...listFieldNotes('name')].join(' ')),
  description: z
    .string()
    .optional()
    .describe(['What the prompt is for. Absent: not managed.', ...listFieldNotes('description')].join(' ')),
  pins: z
    .record(singleLineText, PinShape)
    .refine((pins) => Object.keys(pins).length <= MAX_PINS, `expected at most ${MAX_PINS} pins`)
    .meta({ maxProperties: MAX_PINS })
    .optional()
    .describe('What each environment serves. One that is not named is left alone.'),
  metadata: z
    .record(z.string().meta({ not: { const: 'promptsync' } }), z.json().describe('Any JSON value.'))
    .optional()
    .describe('Stored with each version. Absent: not managed.'),
  variables: z
    .array(z.string().describe('The name of a {{placeholder}}.'))
    .optional()
    .describe('The names of the {{placeholders}} in the text, exactly.'),
  accept_warnings: acceptedWarningCodes,
});

type FrontMatter = z.infer<typeof FrontMatterShape>;

const FIELDS = Object.keys(FrontMatterShape.shape);

export type LocatedText = { readonly value: string; readonly place: Place };

/** What is checked beyond a file itself. Drawn from invalid files as well, so that every problem is found at once. */
export type PromptOutline = {
  readonly id: LocatedText | null;
  readonly key: LocatedText | null;
  readonly environments: readonly LocatedText[];
};

/** One prompt file as it was read: the file is null with an error, and there may be warnings beside it. */
export type ParseResult = {
  readonly file: PromptFile | null;
  /** Null when the front matter cannot be read at all. */
  readonly outline: PromptOutline | null;
  /** Null when a part of the file cannot be read. */
  readonly meaning: ParsedSource | null;
  readonly problems: readonly Problem[];
};

/** What a file says in its two parts, whether or not that is a valid prompt. */
export type ParsedSource = { readonly frontMatter: JsonObject; readonly text: string };

/**
 * Parses one prompt file. All its problems are gathered; with an error among them there is no file. What the service
 * would not take is a problem where its rules are given.
 */
export function parsePromptFile(bytes: Uint8Array, path: string, rules: ProviderRules | null = null): ParseResult {
  const source = decodeSource(bytes);
  if (source === null)
    return makeUnreadableResult([makeProblem('prompt/not-utf8', {}, { path, ...findInvalidUtf8(bytes) })]);
  const problems = checkSource(source, path);
  const split = splitFrontMatter(source, path);
  if (!split.isSuccess) return makeUnreadableResult([...problems, ...split.problems]);
  if (findConflictMarker(split.value.yaml) !== -1) return makeUnreadableResult(problems);
  const parsed = parseParts(split.value, path, rules);
  return { ...parsed, file: problems.some(isError) ? null : parsed.file, problems: [...problems, ...parsed.problems] };
}

export function makeUnreadableResult(problems: readonly Problem[]): ParseResult {
  return { file: null, outline: null, meaning: null, problems };
}

function parseParts(parts: SplitFile, path: string, rules: ProviderRules | null): ParseResult {
  // Formatters insert one blank line at the start.
  const body = parts.body.replace(/^\n/, '');
  const text = normalizeText(body);
  const empty = text.trim() === '';
  const bodyProblems = empty ? [makeProblem('prompt/empty-body', {}, makeFilePlace(path, parts.bodyLine))] : [];
  const { mapping, problems } = parseStrictYaml(parts.yaml, path, FIRST_YAML_LINE);
  if (mapping === null) return makeUnreadableResult([...problems, ...bodyProblems]);
  const outline = makeOutline(mapping);
  const shaped = FrontMatterShape.safeParse(mapping.value);
  const issues = shaped.success ? [] : makeShapeIssues(shaped.error, mapping, FIELDS);
  const wrong = issues.map((issue) => makeFieldProblem(issue, mapping));
  const further = [...checkReservedMetadata(mapping), ...checkVariables(mapping, text)];
  const refused = rules === null ? [] : checkProviderRules(rules, mapping);
  const all = [...problems, ...wrong, ...further, ...refused, ...bodyProblems];
  const file = shaped.success && all.length === 0 ? makeFile(shaped.data, mapping, body, path) : null;
  const meaning = problems.length === 0 ? { frontMatter: mapping.value, text } : null;
  return { file, outline, meaning, problems: all };
}

function makeOutline({ value, placeOf, keyPlaceOf }: LocatedMapping): PromptOutline {
  const { id, key, pins } = value;
  const environments = isJsonObject(pins) ? Object.keys(pins) : [];
  return {
    id: typeof id === 'string' ? { value: id, place: placeOf(['id']) } : null,
    key: typeof key === 'string' ? { value: key, place: placeOf(['key']) } : null,
    environments: environments.map((name) => ({ value: name, place: keyPlaceOf(['pins', name]) })),
  };
}

function makeFile(written: FrontMatter, mapping: LocatedMapping, body: string, path: string): PromptFile {
  const { id, key = id, name = id, description, variables, accept_warnings: acceptWarnings } = written;
  // The mapping's own value, not zod's copy: the service gets the metadata as it was written.
  const { metadata } = mapping.value;
  return {
    path,
    id,
    key,
    name,
    ...(description === undefined ? {} : { description }),
    pins: Object.entries(written.pins ?? {}).map(([environment, pin]) => {
      const { line = 1, column = 1 } = mapping.placeOf(['pins', environment]);
      return { environment, pin: parsePin(pin), line, column };
    }),
    ...(variables === undefined ? {} : { variables }),
    ...(acceptWarnings === undefined ? {} : { acceptWarnings }),
    content: makeContent(body, isJsonObject(metadata) ? metadata : undefined),
  };
}

/** Reads a pin that has the shape of one. */
function parsePin(written: string | number): Pin {
  if (typeof written === 'number') return { kind: 'number', number: written };
  if (written.startsWith('version:')) return { kind: 'version', id: written.slice('version:'.length) };
  if (written.startsWith('git:')) return { kind: 'git', ref: written.slice('git:'.length) };
  return { kind: 'latest' };
}

function makeFieldProblem(issue: ShapeIssue, mapping: LocatedMapping): Problem {
  const { field, expected, suggestion, place, path } = issue;
  if (issue.kind === 'unknown') return makeProblem('prompt/unknown-field', { field, suggestion }, place);
  if (issue.kind === 'missing' && field === 'id') return makeProblem('prompt/missing-id', {}, place);
  if (issue.kind === 'missing') return makeProblem('prompt/missing-field', { field }, place);
  if (issue.kind === 'invalid' && path[0] === 'pins' && path.length === 2) {
    const number = /^v?([1-9][0-9]*)$/i.exec(String(mapping.valueAt(path)))?.[1];
    return makeProblem('prompt/invalid-pin', { environment: String(path[1]), suggestion: number }, place);
  }
  return makeProblem('prompt/invalid-field', { field, expected }, place);
}

/** What the service would not take. Values of another shape have a problem already. */
function checkProviderRules(rules: ProviderRules, mapping: LocatedMapping): readonly Problem[] {
  const { id, pins } = mapping.value;
  const invalid = (path: readonly string[], expected: string | null, place = mapping.placeOf(path)) =>
    expected === null ? [] : [makeProblem('prompt/invalid-field', { field: path.join('.'), expected }, place)];
  const environments = isJsonObject(pins) ? Object.entries(pins) : [];
  return [
    ...(singleLineText.safeParse(id).success ? invalid(['id'], rules.findIdFault(String(id))) : []),
    ...checkProviderFields(rules, mapping, invalid),
    ...environments.flatMap(([name, pin]) => [
      ...invalid(['pins', name], rules.findEnvironmentFault(name), mapping.keyPlaceOf(['pins', name])),
      ...(rules.canPinIds || !String(pin).startsWith('version:') ? [] : invalid(['pins', name], NUMBERS_ONLY)),
    ]),
  ];
}

const NUMBERS_ONLY = 'expected a number: in this service every version is found by its number';

type MakeInvalidProblems = (path: readonly string[], expected: string) => readonly Problem[];

function checkProviderFields(
  { hasFields }: ProviderRules,
  { value, valueAt, placeOf }: LocatedMapping,
  invalid: MakeInvalidProblems,
): readonly Problem[] {
  if (hasFields) {
    const missing = ['key', 'name'].filter((field) => valueAt([field]) === undefined);
    return missing.map((field) => makeProblem('prompt/missing-field', { field }, placeOf([field])));
  }
  const { id, name = id, description } = value;
  return [
    ...(name === id ? [] : invalid(['name'], 'expected none, or the id: the service has no other name')),
    ...(description === undefined ? [] : invalid(['description'], 'expected none: the service has no such field')),
  ];
}

function checkReservedMetadata(mapping: LocatedMapping): readonly Problem[] {
  const path = ['metadata', VERSION_RECORD_KEY];
  return mapping.valueAt(path) !== undefined
    ? [makeProblem('prompt/reserved-metadata', {}, mapping.keyPlaceOf(path))]
    : [];
}

/** `variables`, where it is a list of texts, names the placeholders of the text exactly, each once. */
function checkVariables(mapping: LocatedMapping, text: string): readonly Problem[] {
  const declared = mapping.value['variables'];
  if (!isTextList(declared)) return [];
  const used = new Set(listPlaceholders(text));
  const named = new Set(declared);
  const missing = [...used].filter((name) => !named.has(name));
  const unused = [...named].filter((name) => !used.has(name));
  const repeated = [...named].filter((name) => declared.indexOf(name) !== declared.lastIndexOf(name));
  if (missing.length + unused.length + repeated.length === 0) return [];
  return [makeProblem('prompt/variables-mismatch', { missing, unused, repeated }, mapping.placeOf(['variables']))];
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
