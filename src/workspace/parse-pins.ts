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
  /** The environments of this configuration. Null if any name is allowed. */
  readonly environments: readonly { readonly name: string }[] | null;
  /** Whether to refuse version numbers and version ids in pins. */
  readonly portablePins: boolean;
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

function listEnvironmentNames(mapping: LocatedMapping, path: PinsPath): readonly string[] {
  const pins = mapping.valueAt(path);
  return isJsonObject(pins) ? Object.keys(pins) : [];
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
 * Reports pins whose environment or kind the configuration or the provider does not allow. The rules of the provider do
 * not apply to environments of another configuration, because a different service may serve them. Skips pins with an
 * invalid shape, because promptsync reports them elsewhere.
 */
export function checkPins(
  mapping: LocatedMapping,
  pinsPath: PinsPath,
  settings: PinSettings,
  makeFieldProblem: MakeFieldProblem,
): readonly Problem[] {
  return listEnvironmentNames(mapping, pinsPath).flatMap((environment) => {
    const pin = { environment, path: [...pinsPath, environment] };
    return [
      ...checkEnvironmentName(pin, mapping, settings, makeFieldProblem),
      ...checkKind(pin, mapping, settings, makeFieldProblem),
      ...checkEnvironmentIsKnown(pin, mapping, settings),
    ];
  });
}

type PinEntry = { readonly environment: string; readonly path: PinsPath };

function checkEnvironmentName(
  { environment, path }: PinEntry,
  mapping: LocatedMapping,
  { rules, otherEnvironments }: PinSettings,
  makeFieldProblem: MakeFieldProblem,
): readonly Problem[] {
  const expected = otherEnvironments.includes(environment) ? null : (rules?.findEnvironmentFault(environment) ?? null);
  if (expected === null) return [];
  const evidence = { field: path.join('.'), expected };
  return [mapping.findLookAlike(path) ?? makeFieldProblem(evidence, mapping.keyPlaceOf(path))];
}

function checkKind(
  { environment, path }: PinEntry,
  mapping: LocatedMapping,
  { rules, otherEnvironments, portablePins }: PinSettings,
  makeFieldProblem: MakeFieldProblem,
): readonly Problem[] {
  const canPinIds = rules?.canPinIds !== false || otherEnvironments.includes(environment);
  if (canPinIds && !portablePins) return [];
  const written = mapping.valueAt(path);
  const { data } = PinShape.safeParse(written);
  const kind = data === undefined ? null : parsePin(data).kind;
  const place = mapping.placeOf(path);
  if (portablePins && (kind === 'number' || kind === 'version'))
    return [makeProblem('prompt/not-portable-pin', { environment, pin: String(written) }, place)];
  if (kind !== 'version' || canPinIds) return [];
  return [makeFieldProblem({ field: path.join('.'), expected: NUMBERS_ONLY }, place)];
}

/** Refuses an environment that is reserved for promptsync or that the configuration does not list. */
function checkEnvironmentIsKnown(
  { environment, path }: PinEntry,
  mapping: LocatedMapping,
  { rules, environments, otherEnvironments }: PinSettings,
): readonly Problem[] {
  if (rules === null) return [];
  if (rules.reservedEnvironments.includes(environment))
    return [makeProblem('prompt/tool-environment', { environment }, mapping.keyPlaceOf(path))];
  if (environments === null) return [];
  const known = [...environments.map(({ name }) => name), ...otherEnvironments];
  if (known.includes(environment)) return [];
  const lookAlike = mapping.findLookAlike(path, environment);
  if (lookAlike !== null) return [lookAlike];
  const evidence = { environment, known, suggestion: suggestName(environment, known) };
  return [makeProblem('prompt/unknown-environment', evidence, mapping.keyPlaceOf(path))];
}
