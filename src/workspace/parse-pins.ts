import { z } from 'zod';
import { isJsonObject } from '../domain/json.ts';
import type { EnvironmentPin, Pin } from '../domain/prompt-file.ts';
import type { FileRules } from '../providers/provider-interface.ts';
import { suggestName } from '../domain/suggest-name.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { shortenLine } from './front-matter.ts';
import type { LocatedMapping } from './strict-yaml.ts';
import { singleLineText, type ShapeIssue } from './yaml-shape.ts';

const PinShape = z
  .union([
    z.literal('latest').describe("The version with this file's text and metadata, regardless of its number."),
    z.int().min(1).describe('The number of a version.'),
    z
      .string()
      .regex(/^version:(?!\.{1,2}$)[^\p{Cc}]+$/u)
      .describe('The id of a version, after `version:`.'),
    z
      .string()
      .regex(/^(?=.{1,250}$)git:[^\p{Cc}\s~^:?*[\\-][^\p{Cc}\s:?*[\\]*$/u)
      .describe(
        '`git:` followed by a tag, branch, or commit. Selects the version whose content matches the prompt at that tag, branch, or commit. The pin can be at most 250 characters long.',
      ),
  ])
  .describe('The version that the environment should serve: latest, a version number, version:<id>, or git:<ref>.');

/** The limit exists because each pin may name a different commit, at which promptsync must read the prompt. */
const MAX_PINS = 1000;

export const PinsShape = z
  .record(singleLineText, PinShape)
  .refine((pins) => Object.keys(pins).length <= MAX_PINS, `expected at most ${MAX_PINS} pins`)
  .meta({ maxProperties: MAX_PINS });

/** Where the pins are in a YAML mapping: `pins` in a prompt file, or `defaults.pins` in the configuration. */
type PinsPath = readonly string[];

export type PinSettings = {
  /** The provider's rules, which show whether the service would accept the values. Null skips this check. */
  readonly rules: FileRules | null;
  /** The environments that another configuration manages. promptsync keeps their pins apart. */
  readonly otherEnvironments: readonly string[];
  /** Whether to refuse version numbers and version ids in pins. */
  readonly portablePins: boolean;
};

/** The name of an environment in a pin, with its place in the file. */
export type PinnedEnvironment = {
  readonly value: string;
  readonly place: Place;
  /** The problem to report if the environment is unknown because its name or line has a look-alike. Null otherwise. */
  readonly lookAlike: Problem | null;
};

/** Parses pins that passed the shape check. */
export function parsePins(
  written: z.infer<typeof PinsShape>,
  mapping: LocatedMapping,
  path: PinsPath,
): readonly EnvironmentPin[] {
  return Object.entries(written).map(([environment, pin]) => {
    const { line = 1, column = 1 } = mapping.placeOf([...path, environment]);
    return { environment, pin: parsePin(pin), line, column };
  });
}

/** Parses a pin that passed the shape check. */
function parsePin(written: string | number): Pin {
  if (typeof written === 'number') return { kind: 'number', number: written };
  if (written.startsWith('version:')) return { kind: 'version', id: written.slice('version:'.length) };
  if (written.startsWith('git:')) return { kind: 'git', ref: written.slice('git:'.length) };
  return { kind: 'latest' };
}

/** Returns the pinned environments with their places, even if the pins are invalid. */
export function listPinnedEnvironments(mapping: LocatedMapping, path: PinsPath): readonly PinnedEnvironment[] {
  return listEnvironmentNames(mapping, path).map((name) => {
    const place = mapping.keyPlaceOf([...path, name]);
    return { value: name, place, lookAlike: mapping.findLookAlike([...path, name], name) };
  });
}

function listEnvironmentNames(mapping: LocatedMapping, path: PinsPath): readonly string[] {
  const pins = mapping.valueAt(path);
  return isJsonObject(pins) ? Object.keys(pins) : [];
}

/** Refuses an environment that is reserved for promptsync or not in `known`. If `known` is null, any name is valid. */
export function checkPinnedEnvironment(
  { value, place, lookAlike }: PinnedEnvironment,
  known: readonly string[] | null,
  { reservedEnvironments }: FileRules,
): readonly Problem[] {
  if (reservedEnvironments.includes(value))
    return [makeProblem('prompt/tool-environment', { environment: value }, place)];
  if (known === null || known.includes(value)) return [];
  if (lookAlike !== null) return [lookAlike];
  const suggestion = suggestName(value, known);
  return [makeProblem('prompt/unknown-environment', { environment: value, known, suggestion }, place)];
}

export function makeInvalidPinProblem(
  { path, place }: ShapeIssue,
  mapping: LocatedMapping,
  { rules, portablePins }: PinSettings,
): Problem {
  const written = mapping.valueAt(path) ?? null;
  const number = /^v?([1-9][0-9]*)$/i.exec(String(written))?.[1];
  const pin = written === null ? null : shortenLine(JSON.stringify(written));
  const evidence = {
    environment: String(path.at(-1)),
    pin,
    suggestion: (portablePins ? undefined : number) ?? suggestName(String(written), ['latest']),
    isTooLong: /^git:.{247}/u.test(String(written)),
    canPinNumbers: !portablePins,
    canPinIds: !portablePins && (rules?.canPinIds ?? true),
  };
  return makeProblem('prompt/invalid-pin', evidence, place);
}

const NUMBERS_ONLY = 'expected a version number, because this service identifies versions only by number';

/** Makes a problem whose code depends on whether the field is in a prompt file or in the configuration. */
type MakeFieldProblem = (evidence: { readonly field: string; readonly expected: string }, place: Place) => Problem;

/**
 * Reports pins whose environment name or kind the configuration or the provider does not allow. The rules of the
 * provider do not apply to environments of another configuration, because a different service may serve them. Skips
 * pins with an invalid shape, because promptsync reports them elsewhere.
 */
export function checkPins(
  mapping: LocatedMapping,
  pinsPath: PinsPath,
  settings: PinSettings,
  makeFieldProblem: MakeFieldProblem,
): readonly Problem[] {
  const checkPin = makePinChecker(mapping, settings, makeFieldProblem);
  return listEnvironmentNames(mapping, pinsPath).flatMap((name) => checkPin([...pinsPath, name], name));
}

function makePinChecker(
  mapping: LocatedMapping,
  { rules, otherEnvironments, portablePins }: PinSettings,
  makeFieldProblem: MakeFieldProblem,
): (path: PinsPath, environment: string) => readonly Problem[] {
  const checkName = (path: PinsPath, environment: string): readonly Problem[] => {
    const expected = rules?.findEnvironmentFault(environment) ?? null;
    if (expected === null) return [];
    const evidence = { field: path.join('.'), expected };
    return [mapping.findLookAlike(path) ?? makeFieldProblem(evidence, mapping.keyPlaceOf(path))];
  };
  const checkKind = (path: PinsPath, environment: string, canPinIds: boolean): readonly Problem[] => {
    const written = mapping.valueAt(path);
    const { data } = PinShape.safeParse(written);
    const kind = data === undefined ? null : parsePin(data).kind;
    const place = mapping.placeOf(path);
    if (portablePins && (kind === 'number' || kind === 'version'))
      return [makeProblem('prompt/not-portable-pin', { environment, pin: String(written) }, place)];
    if (kind !== 'version' || canPinIds) return [];
    return [makeFieldProblem({ field: path.join('.'), expected: NUMBERS_ONLY }, place)];
  };
  return (path, environment) => {
    const isOwn = !otherEnvironments.includes(environment);
    const canPinIds = !isOwn || rules?.canPinIds !== false;
    return [
      ...(isOwn ? checkName(path, environment) : []),
      ...(canPinIds && !portablePins ? [] : checkKind(path, environment, canPinIds)),
    ];
  };
}
