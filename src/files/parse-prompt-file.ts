import { z } from 'zod';
import { PROMPT_TYPES, type PromptType } from '../domain/chat.ts';
import { type DigestedText, makeContent, VERSION_RECORD_KEY } from '../domain/content.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { listVariables } from '../domain/text-changes.ts';
import type { EnvironmentPin, Pin, PromptFile } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { suggestName } from '../domain/suggest-name.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { listFieldNotes } from '../providers/list.ts';
import {
  decodeSource,
  findConflictMarker,
  checkSource,
  shortenLine,
  type SplitFile,
  splitFrontMatter,
  FIRST_YAML_LINE,
} from './front-matter.ts';
import { type LocatedMapping, parseStrictYaml } from './strict-yaml.ts';
import { parseBody, warnAboutMarkerInText } from './parse-body.ts';
import { makeOutline, type PromptOutline } from './prompt-outline.ts';
import { renderYamlValue } from './render-yaml.ts';
import { codesAcceptedByFile, makeShapeProblems, singleLineText, type ShapeIssue } from './yaml-shape.ts';

const PinShape = z
  .union([
    z.literal('latest').describe("The version with this file's text and metadata, regardless of its number."),
    z.int().min(1).describe('The version with this number.'),
    z
      .string()
      .regex(/^version:(?!\.{1,2}$)[^\p{Cc}]+$/u)
      .describe('The version with this id.'),
    z
      .string()
      .regex(/^(?=.{1,250}$)git:[^\p{Cc}\s~^:?*[\\-][^\p{Cc}\s:?*[\\]*$/u)
      .describe(
        'The version whose content is that of this prompt at a tag, branch, or commit. The pin can be at most 250 characters long.',
      ),
  ])
  .describe('The version that the environment should serve: latest, a version number, version:<id>, or git:<ref>.');

/**
 * The maximum number of pins in a prompt file. Each pin may refer to a different commit, and promptsync must read the
 * prompt at each of these commits.
 */
const MAX_PINS = 1000;

/** The shape of the front matter of a prompt file, as the user writes it. */
export const FrontMatterShape = z.strictObject({
  id: singleLineText.describe(['The id of the prompt in the service.', ...listFieldNotes('id')].join(' ')),
  key: singleLineText
    .optional()
    .describe(['A stable key for the prompt, such as support/greeting.', ...listFieldNotes('key')].join(' ')),
  name: singleLineText.optional().describe(['The display name.', ...listFieldNotes('name')].join(' ')),
  type: z
    .enum(PROMPT_TYPES)
    .optional()
    .describe(
      ['The type of the prompt: text (the default), or chat for a list of messages.', ...listFieldNotes('type')].join(
        ' ',
      ),
    ),
  description: z
    .string()
    .optional()
    .describe(
      [
        'The purpose of the prompt. If you omit this field, promptsync does not change the description in the service.',
        ...listFieldNotes('description'),
      ].join(' '),
    ),
  pins: z
    .record(singleLineText, PinShape)
    .refine((pins) => Object.keys(pins).length <= MAX_PINS, `expected at most ${MAX_PINS} pins`)
    .meta({ maxProperties: MAX_PINS })
    .optional()
    .describe(
      'The version that each environment should serve. promptsync does not change environments that have no pin.',
    ),
  metadata: z
    .record(z.string().meta({ not: { const: VERSION_RECORD_KEY } }), z.json().describe('Any JSON value.'))
    .optional()
    .describe(
      'Data to store with each version, such as the model. If you omit this field, promptsync does not manage the metadata.',
    ),
  variables: z
    .array(z.string().describe('The name of a {{variable}}.'))
    .optional()
    .describe('The names of all {{variables}} in the text. If present, the list must match the text exactly.'),
  accept_warnings: codesAcceptedByFile,
});

type FrontMatter = z.infer<typeof FrontMatterShape>;

const FIELDS = Object.keys(FrontMatterShape.shape);

/** The result of parsing one prompt file. */
export type ParseResult = {
  /** The parsed file; null if any problem is an error. A valid file may still have warnings. */
  readonly file: PromptFile | null;
  /** The outline of the file; null if the front matter cannot be parsed at all. */
  readonly outline: PromptOutline | null;
  /** The front matter and the text of the file; null if either cannot be parsed completely. */
  readonly meaning: ParsedSource | null;
  readonly problems: readonly Problem[];
};

/** The front matter and the text of a file, even if they do not form a valid prompt. */
export type ParsedSource = { readonly frontMatter: JsonObject; readonly text: string };

/** The settings that decide how promptsync parses a prompt file. */
export type ParseSettings = {
  /** The provider's rules, which show whether the service would accept the values. Null skips this check. */
  readonly rules: ProviderRules | null;
  /** The environments that another configuration manages. promptsync keeps their pins apart. */
  readonly otherEnvironments: readonly string[];
  /** Whether to refuse version numbers and version ids in pins. */
  readonly portablePins: boolean;
};

/** The settings for a file that only has to be valid in itself. */
export const LENIENT_SETTINGS: ParseSettings = { rules: null, otherEnvironments: [], portablePins: false };

/** Parses one prompt file and collects all its problems. If any problem is an error, the result has no file. */
export function parsePromptFile(
  bytes: Uint8Array,
  path: string,
  settings: ParseSettings = LENIENT_SETTINGS,
): ParseResult {
  const decoded = decodeSource(bytes, path);
  if (!decoded.isSuccess) return makeUnreadableResult(decoded.problems);
  const source = decoded.value;
  const split = splitFrontMatter(source, path);
  if (!split.isSuccess) return makeUnreadableResult([...checkSource(source, path), ...split.problems]);
  // A file cannot accept conflict markers in its front matter.
  if (findConflictMarker(split.value.yaml) !== -1) return makeUnreadableResult(checkSource(source, path));
  const parsed = parseParts(split.value, path, settings);
  const problems = checkSource(source, path, parsed.meaning?.frontMatter['accept_warnings']);
  return { ...parsed, file: problems.some(isError) ? null : parsed.file, problems: [...problems, ...parsed.problems] };
}

/** Creates the result for a file that cannot be parsed at all. */
export function makeUnreadableResult(problems: readonly Problem[]): ParseResult {
  return { file: null, outline: null, meaning: null, problems };
}

function parseParts(parts: SplitFile, path: string, settings: ParseSettings): ParseResult {
  const { rules } = settings;
  const { mapping, problems } = parseStrictYaml(parts.yaml, path, { firstLine: FIRST_YAML_LINE, showsLines: true });
  if (mapping === null) return makeUnreadableResult([...problems, ...parseBody('text', parts, path).problems]);
  const { text, problems: bodyProblems } = parseBody(chooseType(mapping, rules), parts, path);
  const shaped = FrontMatterShape.safeParse(mapping.value);
  const makeShapeProblem = (issue: ShapeIssue) => makeFieldProblem(addListToPaste(issue, text), mapping, settings);
  const shapeProblems = shaped.success ? [] : makeShapeProblems(shaped.error, mapping, FIELDS, makeShapeProblem);
  const contentProblems = [...checkReservedMetadata(mapping), ...checkVariables(mapping, text)];
  const allProblems = [
    ...problems,
    ...shapeProblems,
    ...contentProblems,
    ...(rules === null ? [] : checkProviderRules(rules, settings, mapping)),
    ...checkPinKinds(settings, mapping),
    ...bodyProblems,
    ...(canLackType(mapping, rules) ? warnAboutMarkerInText(parts, path) : []),
    ...mapping.warnAboutYaml11(['metadata']),
  ];
  const file =
    shaped.success && !allProblems.some(isError) ? makeFile(shaped.data, mapping, text, path, settings) : null;
  const meaning = problems.length === 0 ? { frontMatter: mapping.value, text: text.text } : null;
  return { file, outline: makeOutline(mapping), meaning, problems: allProblems };
}

/**
 * Returns the type that decides how the body is parsed. It is `text` if the `type` field is invalid or if the service
 * does not have this type. Both are problems of the field, so the markers in the body need no problems of their own.
 */
function chooseType({ value }: LocatedMapping, rules: ProviderRules | null): PromptType {
  const isSupported = rules?.promptTypes.includes('chat') ?? true;
  return value['type'] === 'chat' && isSupported ? 'chat' : 'text';
}

/** Returns true if the file is a text prompt of a service that also has chat prompts. */
function canLackType({ value }: LocatedMapping, rules: ProviderRules | null): boolean {
  const { type = 'text' } = value;
  return type === 'text' && rules !== null && rules.promptTypes.includes('chat');
}

function makeFile(
  written: FrontMatter,
  mapping: LocatedMapping,
  text: DigestedText,
  path: string,
  { otherEnvironments }: ParseSettings,
): PromptFile {
  const { id, key = id, name = id, type = 'text', description, variables, accept_warnings: acceptWarnings } = written;
  // Take the metadata from the mapping instead of zod's copy, so that the service gets exactly what the user wrote.
  const { metadata } = mapping.value;
  const allPins = Object.entries(written.pins ?? {}).map(([environment, pin]): EnvironmentPin => {
    const { line = 1, column = 1 } = mapping.placeOf(['pins', environment]);
    return { environment, pin: parsePin(pin), line, column };
  });
  const isOther = ({ environment }: EnvironmentPin): boolean => otherEnvironments.includes(environment);
  return {
    path,
    id,
    key,
    name,
    type,
    ...(description === undefined ? {} : { description }),
    pins: allPins.filter((pin) => !isOther(pin)),
    ...(otherEnvironments.length === 0 ? {} : { otherPins: allPins.filter(isOther) }),
    ...(variables === undefined ? {} : { variables }),
    ...(acceptWarnings === undefined ? {} : { acceptWarnings }),
    content: makeContent(text, isJsonObject(metadata) ? metadata : undefined),
  };
}

/** Parses a pin that passed the shape check. */
function parsePin(written: string | number): Pin {
  if (typeof written === 'number') return { kind: 'number', number: written };
  if (written.startsWith('version:')) return { kind: 'version', id: written.slice('version:'.length) };
  if (written.startsWith('git:')) return { kind: 'git', ref: written.slice('git:'.length) };
  return { kind: 'latest' };
}

/** Adds the list of all variables to an issue of the field `variables`, so that the user can paste it. */
function addListToPaste(issue: ShapeIssue, text: DigestedText): ShapeIssue {
  const fix = `Write \`variables: ${renderVariableList(text)}\`, or remove the \`variables\` field.`;
  return issue.path[0] === 'variables' ? { ...issue, fix } : issue;
}

/** Renders the variables of a text as the value of the field `variables`. */
function renderVariableList(text: DigestedText): string {
  return renderYamlValue([...listVariables(text)], 'plain');
}

function makeFieldProblem(issue: ShapeIssue, mapping: LocatedMapping, settings: ParseSettings): Problem {
  const { field, expected, fix, suggestion, place, path } = issue;
  if (issue.kind === 'unknown') return makeProblem('prompt/unknown-field', { field, suggestion }, place);
  if (issue.kind === 'missing' && field === 'id') return makeProblem('prompt/missing-id', {}, place);
  if (issue.kind === 'missing') return makeProblem('prompt/missing-field', { field }, place);
  const isPin = issue.kind === 'invalid' && path[0] === 'pins' && path.length === 2;
  if (isPin) return makeInvalidPinProblem(issue, mapping, settings);
  return makeProblem('prompt/invalid-field', { field, expected, fix }, place);
}

function makeInvalidPinProblem(
  { path, place }: ShapeIssue,
  mapping: LocatedMapping,
  { rules, portablePins }: ParseSettings,
): Problem {
  const written = mapping.valueAt(path) ?? null;
  const number = /^v?([1-9][0-9]*)$/i.exec(String(written))?.[1];
  const pin = written === null ? null : shortenLine(JSON.stringify(written));
  const evidence = {
    environment: String(path[1]),
    pin,
    suggestion: (portablePins ? undefined : number) ?? suggestName(String(written), ['latest']),
    isTooLong: /^git:.{247}/u.test(String(written)),
    canPinNumbers: !portablePins,
    canPinIds: !portablePins && (rules?.canPinIds ?? true),
  };
  return makeProblem('prompt/invalid-pin', evidence, place);
}

/**
 * Reports values that the service would reject. Skips an id with an invalid shape, because promptsync reports it
 * anyway. Another value with an invalid shape can get a second problem here.
 */
function checkProviderRules(
  rules: ProviderRules,
  { otherEnvironments }: Pick<ParseSettings, 'otherEnvironments'>,
  mapping: LocatedMapping,
): readonly Problem[] {
  const { id, pins } = mapping.value;
  const makeInvalidProblems = (path: readonly string[], expected: string | null, place = mapping.placeOf(path)) =>
    expected === null
      ? []
      : [
          mapping.findLookAlike(path) ??
            makeProblem('prompt/invalid-field', { field: path.join('.'), expected }, place),
        ];
  const ownEnvironments = Object.keys(isJsonObject(pins) ? pins : {}).filter((one) => !otherEnvironments.includes(one));
  return [
    ...(singleLineText.safeParse(id).success ? makeInvalidProblems(['id'], rules.findIdFault(String(id))) : []),
    ...(id !== undefined && id === rules.placeholderId
      ? [makeProblem('prompt/placeholder-id', {}, mapping.placeOf(['id']))]
      : []),
    ...checkType(rules, mapping),
    ...checkProviderFields(rules, mapping, makeInvalidProblems),
    ...ownEnvironments.flatMap((name) =>
      makeInvalidProblems(['pins', name], rules.findEnvironmentFault(name), mapping.keyPlaceOf(['pins', name])),
    ),
  ];
}

/**
 * Reports pins of a kind that the configuration or the provider does not allow. The rules of the provider do not apply
 * to environments of another configuration, because a different service may serve them. Skips pins with an invalid shape,
 * because promptsync reports them anyway.
 */
function checkPinKinds(
  { rules, otherEnvironments, portablePins }: ParseSettings,
  mapping: LocatedMapping,
): readonly Problem[] {
  const canPinIds = rules?.canPinIds ?? true;
  const { pins } = mapping.value;
  if (!isJsonObject(pins) || (canPinIds && !portablePins)) return [];
  return Object.entries(pins).flatMap(([environment, written]) => {
    const path = ['pins', environment];
    const { data } = PinShape.safeParse(written);
    const kind = data === undefined ? null : parsePin(data).kind;
    if (portablePins && (kind === 'number' || kind === 'version')) {
      const evidence = { environment, pin: String(written) };
      return [makeProblem('prompt/not-portable-pin', evidence, mapping.placeOf(path))];
    }
    if (kind !== 'version' || canPinIds || otherEnvironments.includes(environment)) return [];
    const evidence = { field: path.join('.'), expected: NUMBERS_ONLY };
    return [makeProblem('prompt/invalid-field', evidence, mapping.placeOf(path))];
  });
}

function checkType({ promptTypes }: ProviderRules, { value: { type }, placeOf }: LocatedMapping): readonly Problem[] {
  const isUnsupported = PROMPT_TYPES.some((known) => known === type && !promptTypes.includes(known));
  return isUnsupported ? [makeProblem('prompt/unsupported-type', { type: String(type) }, placeOf(['type']))] : [];
}

const NUMBERS_ONLY = 'expected a version number, because this service identifies versions only by number';

type MakeInvalidProblems = (path: readonly string[], expected: string) => readonly Problem[];

function checkProviderFields(
  { hasFields }: ProviderRules,
  { value, valueAt, placeOf }: LocatedMapping,
  makeInvalidProblems: MakeInvalidProblems,
): readonly Problem[] {
  if (hasFields) {
    const missing = ['key', 'name'].filter((field) => valueAt([field]) === undefined);
    return missing.map((field) => makeProblem('prompt/missing-field', { field }, placeOf([field])));
  }
  const { id, name = id, description } = value;
  return [
    ...(name === id
      ? []
      : makeInvalidProblems(['name'], 'expected no name, or the id, because the id is the name in this service')),
    ...(description === undefined
      ? []
      : makeInvalidProblems(['description'], 'expected no description, because this service has no such field')),
  ];
}

function checkReservedMetadata(mapping: LocatedMapping): readonly Problem[] {
  const path = ['metadata', VERSION_RECORD_KEY];
  return mapping.valueAt(path) !== undefined
    ? [makeProblem('prompt/reserved-metadata', {}, mapping.keyPlaceOf(path))]
    : [];
}

/**
 * Checks that `variables` lists each variable of the text exactly once, and nothing else. Skips a value that is not
 * a list of strings, because promptsync reports it anyway.
 */
function checkVariables(mapping: LocatedMapping, text: DigestedText): readonly Problem[] {
  const declared = mapping.value['variables'];
  if (!isTextList(declared)) return [];
  const usedNames = new Set(listVariables(text));
  const declaredNames = new Set(declared);
  const missing = [...usedNames].filter((name) => !declaredNames.has(name));
  const unused = [...declaredNames].filter((name) => !usedNames.has(name));
  const repeated = [...declaredNames].filter((name) => declared.indexOf(name) !== declared.lastIndexOf(name));
  if (missing.length + unused.length + repeated.length === 0) return [];
  const evidence = { missing, unused, repeated, list: renderVariableList(text) };
  return [makeProblem('prompt/variables-mismatch', evidence, mapping.placeOf(['variables']))];
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
