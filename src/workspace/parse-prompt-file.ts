import { z } from 'zod';
import { PROMPT_TYPES, type PromptType } from '../domain/chat.ts';
import { type DigestedText, makeContent, VERSION_RECORD_KEY } from '../domain/content.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';
import { listVariables } from '../domain/text-changes.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { FileRules } from '../providers/provider-interface.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { listFieldNotes } from '../providers/provider-list.ts';
import {
  decodeSource,
  findConflictMarker,
  checkSource,
  makeFilePlace,
  type SplitFile,
  splitFrontMatter,
  FIRST_YAML_LINE,
} from './front-matter.ts';
import { type LocatedMapping, parseStrictYaml } from './strict-yaml.ts';
import { parseBody, warnAboutMarkerInText } from './parse-body.ts';
import { checkPins, makeInvalidPinProblem, parsePins, type PinSettings, PinsShape } from './parse-pins.ts';
import type { PathIds } from './find-prompt-paths.ts';
import { type FileLocation, makeOutline, type PromptOutline } from './prompt-outline.ts';
import { renderYamlValue } from './render-yaml.ts';
import { codesAcceptedByFile, makeShapeProblems, singleLineText, type ShapeIssue } from './yaml-shape.ts';

export const FrontMatterShape = z.strictObject({
  id: singleLineText.optional().describe(['The id of the prompt in the service.', ...listFieldNotes('id')].join(' ')),
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
  pins: PinsShape.optional().describe(
    'The version that each environment should serve. promptsync does not change environments that have no pin. If you omit this field, the `defaults` in promptsync.yaml apply.',
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

/** The settings that decide what a prompt file means. They come from the configuration and the provider. */
export type FileSettings = Pick<PinSettings, 'otherEnvironments'> & {
  /** The pins of files that have no field `pins`. */
  readonly defaultPins: readonly EnvironmentPin[];
  /** The ids that files without the field `id` take from their paths. Null if the field is required. */
  readonly pathIds: PathIds | null;
};

/** The settings that decide what a prompt file means and whether it is valid. */
export type ParseSettings = FileSettings & PinSettings;

/** Skips the provider's rules and `portable_pins`, for files that promptsync must read even if a sync rejects them. */
export function makeLenientSettings({ otherEnvironments, defaultPins, pathIds }: FileSettings): ParseSettings {
  return { rules: null, environments: null, otherEnvironments, portablePins: false, defaultPins, pathIds };
}

/** The settings for checking a file in isolation, without any configuration. */
export const LENIENT_SETTINGS = makeLenientSettings({ otherEnvironments: [], defaultPins: [], pathIds: null });

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
  const pathId = mapping.value['id'] === undefined ? (settings.pathIds?.findId(path) ?? null) : null;
  const id = pathId ?? mapping.value['id'];
  const foundProblems = [
    ...problems,
    ...shapeProblems,
    ...contentProblems,
    ...checkId(id, mapping),
    ...checkPathId({ path, pathId }, rules),
    ...(rules === null ? [] : checkFileRules(rules, id, mapping)),
    ...checkPins(mapping, ['pins'], settings, (evidence, place) =>
      makeProblem('prompt/invalid-field', evidence, place),
    ),
    ...bodyProblems,
    ...(canLackType(mapping, rules) ? warnAboutMarkerInText(parts, path) : []),
    ...mapping.warnAboutYaml11(['metadata']),
  ];
  // Several checks can report the same look-alike.
  const allProblems = [...new Set(foundProblems)];
  const file =
    shaped.success && !allProblems.some(isError)
      ? makeFile(shaped.data, mapping, text, { path, pathId }, settings)
      : null;
  const meaning = problems.length === 0 ? { frontMatter: mapping.value, text: text.text } : null;
  return { file, outline: makeOutline(mapping, { path, pathId }), meaning, problems: allProblems };
}

/** Chooses how to parse the body. An invalid or unsupported `type` counts as `text`, so markers cause no problems. */
function chooseType({ value }: LocatedMapping, rules: FileRules | null): PromptType {
  const isSupported = rules?.promptTypes.includes('chat') ?? true;
  return value['type'] === 'chat' && isSupported ? 'chat' : 'text';
}

/** Returns true if the file is a text prompt of a service that also has chat prompts. */
function canLackType({ value }: LocatedMapping, rules: FileRules | null): boolean {
  const { type = 'text' } = value;
  return type === 'text' && rules !== null && rules.promptTypes.includes('chat');
}

function makeFile(
  written: FrontMatter,
  mapping: LocatedMapping,
  text: DigestedText,
  { path, pathId }: FileLocation,
  settings: FileSettings,
): PromptFile {
  const { id = pathId ?? '', key = id, name = id, type = 'text' } = written;
  const { description, variables, accept_warnings: acceptWarnings } = written;
  // Take the metadata from the mapping instead of zod's copy, so that the service gets exactly what the user wrote.
  const { metadata } = mapping.value;
  return {
    path,
    id,
    ...(pathId === null ? {} : { idSource: 'path' }),
    key,
    name,
    type,
    ...(description === undefined ? {} : { description }),
    ...choosePins(written, mapping, settings),
    ...(variables === undefined ? {} : { variables }),
    ...(acceptWarnings === undefined ? {} : { acceptWarnings }),
    content: makeContent(text, isJsonObject(metadata) ? metadata : undefined),
  };
}

/** Returns the pins of a file or, if it has none, the default pins. Keeps the pins of other configurations separate. */
function choosePins(
  { pins }: FrontMatter,
  mapping: LocatedMapping,
  { otherEnvironments, defaultPins }: FileSettings,
): Pick<PromptFile, 'pins' | 'otherPins'> {
  const allPins = pins === undefined ? defaultPins : parsePins(pins, mapping, ['pins']);
  const isOther = ({ environment }: EnvironmentPin): boolean => otherEnvironments.includes(environment);
  const ownPins = allPins.filter((pin) => !isOther(pin));
  return otherEnvironments.length === 0 ? { pins: ownPins } : { pins: ownPins, otherPins: allPins.filter(isOther) };
}

/** Adds the list of all variables to an issue of the field `variables`, so that the user can paste it. */
function addListToPaste(issue: ShapeIssue, text: DigestedText): ShapeIssue {
  const fix = `Write \`variables: ${renderVariableList(text)}\`, or remove the \`variables\` field.`;
  return issue.path[0] === 'variables' ? { ...issue, fix } : issue;
}

function renderVariableList(text: DigestedText): string {
  return renderYamlValue([...listVariables(text)], 'plain');
}

function makeFieldProblem(issue: ShapeIssue, mapping: LocatedMapping, settings: ParseSettings): Problem {
  const { field, expected, fix, suggestion, place, path } = issue;
  if (issue.kind === 'unknown') return makeProblem('prompt/unknown-field', { field, suggestion }, place);
  if (issue.kind === 'missing') return makeProblem('prompt/missing-field', { field }, place);
  const isPin = issue.kind === 'invalid' && path[0] === 'pins' && path.length === 2;
  if (isPin) return makeInvalidPinProblem(issue, mapping, settings);
  return makeProblem('prompt/invalid-field', { field, expected, fix }, place);
}

function checkId(id: JsonValue | undefined, mapping: LocatedMapping): readonly Problem[] {
  return id === undefined ? [makeProblem('prompt/missing-id', {}, mapping.placeOf(['id']))] : [];
}

/** Reports an id that comes from a path if no prompt can have this id, or if the service would reject it. */
function checkPathId({ path, pathId: id }: FileLocation, rules: FileRules | null): readonly Problem[] {
  if (id === null) return [];
  const shapeFault = singleLineText.safeParse(id).error?.issues[0]?.message ?? null;
  const fault = shapeFault ?? rules?.findIdFault(id) ?? null;
  return fault === null ? [] : [makeProblem('prompt/invalid-path-id', { id, fault }, makeFilePlace(path))];
}

/**
 * Reports values that the service would reject. Skips an id with an invalid shape, because promptsync reports it
 * anyway. Another value with an invalid shape can get a second problem here.
 */
function checkFileRules(rules: FileRules, id: JsonValue | undefined, mapping: LocatedMapping): readonly Problem[] {
  const makeInvalidProblems = (path: readonly string[], expected: string | null) =>
    expected === null
      ? []
      : [
          mapping.findLookAlike(path) ??
            makeProblem('prompt/invalid-field', { field: path.join('.'), expected }, mapping.placeOf(path)),
        ];
  const { id: writtenId } = mapping.value;
  return [
    ...(singleLineText.safeParse(writtenId).success
      ? makeInvalidProblems(['id'], rules.findIdFault(String(writtenId)))
      : []),
    ...(id !== undefined && id === rules.placeholderId
      ? [makeProblem('prompt/placeholder-id', {}, mapping.placeOf(['id']))]
      : []),
    ...checkType(rules, mapping),
    ...checkProviderFields(rules, id, mapping, makeInvalidProblems),
  ];
}

function checkType({ promptTypes }: FileRules, { value: { type }, placeOf }: LocatedMapping): readonly Problem[] {
  const isUnsupported = PROMPT_TYPES.some((known) => known === type && !promptTypes.includes(known));
  return isUnsupported ? [makeProblem('prompt/unsupported-type', { type: String(type) }, placeOf(['type']))] : [];
}

type MakeInvalidProblems = (path: readonly string[], expected: string) => readonly Problem[];

function checkProviderFields(
  { hasFields }: FileRules,
  id: JsonValue | undefined,
  { value, valueAt, placeOf }: LocatedMapping,
  makeInvalidProblems: MakeInvalidProblems,
): readonly Problem[] {
  if (hasFields) {
    const missing = ['key', 'name'].filter((field) => valueAt([field]) === undefined);
    return missing.map((field) => makeProblem('prompt/missing-field', { field }, placeOf([field])));
  }
  const { name = id, description } = value;
  return [
    ...(name === id
      ? []
      : makeInvalidProblems(
          ['name'],
          'expected `name` to be absent or equal to `id`, because this `service.provider` uses the id as the name',
        )),
    ...(description === undefined
      ? []
      : makeInvalidProblems(
          ['description'],
          'expected no `description`, because this `service.provider` does not have that field',
        )),
  ];
}

function checkReservedMetadata(mapping: LocatedMapping): readonly Problem[] {
  const path = ['metadata', VERSION_RECORD_KEY];
  return mapping.valueAt(path) !== undefined
    ? [makeProblem('prompt/reserved-metadata', {}, mapping.keyPlaceOf(path))]
    : [];
}

/** Checks that `variables` lists each variable of the text exactly once. Skips values other than lists of strings. */
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
