import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Environment, parseMaxChanges } from '../domain/policy.ts';
import type { EnvironmentPin } from '../domain/prompt-file.ts';
import type { FileRules } from '../providers/provider-interface.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { checkPins, makeInvalidPinProblem, parsePins, type PinSettings, PinsShape } from './parse-pins.ts';
import { makePathIds } from './find-prompt-paths.ts';
import { findRepositoryRoot, isRepositoryRoot, isWithin, listRepositoryRoots } from './paths.ts';
import { type LocatedMapping, parseStrictYaml } from './strict-yaml.ts';
import { acceptedWarningCodes, makeShapeProblems, type ShapeIssue } from './yaml-shape.ts';
import { makeProblem, type Place, type Problem, describeSystemError, findSystemCode } from '../problem.ts';
import {
  type Config,
  CONFIG_FIELDS,
  CONFIG_NAME,
  type ConfigContext,
  DEFAULTS,
  listSettingsBeside,
  MISSPELLED_NAME,
  type WrittenConfig,
  WrittenConfigShape,
} from './config.ts';
import { findOwnerProblem } from './find-owner-problem.ts';
import {
  findRules,
  listSecretVariables,
  locateService,
  checkServiceSettings,
  getProviderName,
} from './service-settings.ts';
import { PROVIDERS } from '../providers/provider-list.ts';
import { NOT_REGULAR } from './read-write-files.ts';

/** The configuration to load: the file that the user specifies, or else the file that `findConfigFile` finds. */
type ConfigRequest = {
  readonly workingDirectory: string;
  /** The path from the user, relative to the working directory. promptsync accepts it even if another user owns it. */
  readonly file?: string | undefined;
} & Pick<ConfigContext, 'environment' | 'urlSource'>;

/** Finds, reads and parses the configuration. Also reports a file that belongs to another user. */
export async function loadConfig({ workingDirectory, file, ...context }: ConfigRequest): Promise<ConfigResult> {
  const path = file === undefined ? findConfigFile(workingDirectory) : resolve(workingDirectory, file);
  if (path === null) {
    const misnamed = findUpwards(workingDirectory, MISSPELLED_NAME);
    const evidence = { misnamed: misnamed === null ? null : relative(workingDirectory, misnamed) };
    return { config: null, problems: [makeProblem('config/not-found', evidence)] };
  }
  const shownPath = file ?? basename(path);
  const text = readConfigText(path, shownPath);
  if (!text.isSuccess) return { config: null, problems: text.problems };
  const parsed = parseConfig(text.value, {
    file: path,
    shownPath,
    root: findRepositoryRoot(dirname(path)),
    ...context,
  });
  if (file !== undefined || parsed.config === null) return parsed;
  const problem = await findOwnerProblem(parsed.config, shownPath);
  return problem === null ? parsed : { ...parsed, config: null, problems: [problem] };
}

/** Looks in the folder and, inside a repository, in its parent folders up to the root of the repository. */
export function findConfigFile(folder: string): string | null {
  return findUpwards(folder, CONFIG_NAME);
}

function findUpwards(folder: string, name: string): string | null {
  const candidate = join(folder, name);
  if (existsSync(candidate)) return candidate;
  const isBelowRoot = !isRepositoryRoot(folder) && listRepositoryRoots(folder).length > 0;
  return isBelowRoot ? findUpwards(dirname(folder), name) : null;
}

/** Refuses devices and pipes, because reading them may never end. Refuses links that lead out of the repository. */
function readConfigText(path: string, shownPath: string): Result<string> {
  const fail = (reason: string) => makeFailure(makeProblem('config/unreadable', { reason }, { path: shownPath }));
  try {
    if (!statSync(path).isFile()) return fail(NOT_REGULAR);
    const isOutside = listRepositoryRoots(dirname(path)).some((root) => !isWithin(path, root));
    if (isOutside) return fail('a symbolic link in its path points outside the repository');
    return makeSuccess(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)));
  } catch (error) {
    if (error instanceof TypeError) return fail('it is not valid UTF-8');
    return fail(findSystemCode(error) === 'ENOENT' ? 'there is no such file' : describeSystemError(error));
  }
}

/** The configuration, or the problems because of which there is none. */
export type ConfigResult = {
  readonly config: Config | null;
  readonly problems: readonly Problem[];
  /** The variables that the file names for secret keys, even if it is invalid. Absent if it could not be read. */
  readonly secretVariables?: readonly string[];
};

const MAX_CONFIG_BYTES = 64 * 1024;

/** Prevents zod from compiling a shape that is used once, because compiling takes longer than it saves. */
const SINGLE_USE_PARSING = { jitless: true } as const;

/** Parses promptsync.yaml and collects all problems. If there are problems, the configuration is null. */
export function parseConfig(text: string, context: ConfigContext): ConfigResult {
  const path = context.shownPath;
  const reason = `it is larger than ${MAX_CONFIG_BYTES} bytes`;
  if (Buffer.byteLength(text, 'utf8') > MAX_CONFIG_BYTES)
    return { config: null, problems: [makeProblem('config/unreadable', { reason }, { path })] };
  const { mapping, problems } = parseStrictYaml(text, path);
  if (mapping === null) return { config: null, problems };
  const shaped = WrittenConfigShape.safeParse(mapping.value, SINGLE_USE_PARSING);
  const shapeProblems = shaped.success
    ? []
    : makeShapeProblems(shaped.error, mapping, CONFIG_FIELDS, (issue) => makeSettingProblem(issue, mapping));
  // Several checks may report the same look-alike, so remove duplicates.
  const uniqueProblems = new Set([
    ...problems,
    ...shapeProblems,
    ...checkServiceSettings(mapping, context),
    ...checkEnvironments(mapping),
    ...checkOtherEnvironments(mapping),
    ...checkDefaultPins(mapping),
  ]);
  const allProblems = [...uniqueProblems];
  const config = shaped.success && allProblems.length === 0 ? makeConfig(shaped.data, mapping, context) : null;
  return { config, problems: allProblems, secretVariables: listSecretVariables(mapping) };
}

/** The settings of an earlier configuration that still matter. */
export type FormerSettings = {
  /** The patterns under `prompts`, or the default patterns if there are none. Null if the patterns are invalid. */
  readonly patterns: readonly string[] | null;
  /** The codes under `accept_warnings`. Empty if they are invalid. */
  readonly acceptWarnings: readonly string[];
  /** The pins under `defaults`. Empty if they are invalid. */
  readonly defaultPins: readonly EnvironmentPin[];
};

/** The settings of a commit without a configuration. */
export const NO_FORMER_SETTINGS: FormerSettings = { patterns: null, acceptWarnings: [], defaultPins: [] };

/** Parses the text of an earlier configuration. Works even if other settings in it are invalid. */
export function parseFormerSettings(text: string): FormerSettings {
  const { mapping } = parseStrictYaml(text, CONFIG_NAME);
  if (mapping === null) return NO_FORMER_SETTINGS;
  const { shape } = WrittenConfigShape;
  const patterns = shape.prompts.safeParse(mapping.valueAt(['prompts']), SINGLE_USE_PARSING);
  const codes = acceptedWarningCodes.safeParse(mapping.valueAt(['accept_warnings']), SINGLE_USE_PARSING);
  const { data: pins } = PinsShape.safeParse(mapping.valueAt(DEFAULT_PINS), SINGLE_USE_PARSING);
  return {
    patterns: patterns.success ? (patterns.data ?? DEFAULTS.prompts) : null,
    acceptWarnings: codes.data ?? [],
    defaultPins: parseDefaultPins({ pins }, mapping, CONFIG_NAME),
  };
}

const DEFAULT_PINS = ['defaults', 'pins'] as const;

function parseDefaultPins(
  { pins = {} }: NonNullable<WrittenConfig['defaults']>,
  mapping: LocatedMapping,
  path: string,
): readonly EnvironmentPin[] {
  return parsePins(pins, mapping, DEFAULT_PINS).map((pin) => ({ ...pin, path }));
}

function checkDefaultPins(mapping: LocatedMapping): readonly Problem[] {
  return checkPins(mapping, DEFAULT_PINS, readPinSettings(mapping), (evidence, place) =>
    makeProblem('config/invalid-field', evidence, place),
  );
}

/** Returns the settings that decide which default pins are valid, even if other settings are invalid. */
function readPinSettings(mapping: LocatedMapping): PinSettings {
  const environments = mapping.keysOf(['environments']).map((name) => ({ name }));
  return {
    rules: findRules(mapping.value),
    environments: environments.length === 0 ? null : environments,
    otherEnvironments: listOtherEnvironments(mapping),
    portablePins: mapping.value['portable_pins'] === true,
  };
}

function makeConfig(written: WrittenConfig, mapping: LocatedMapping, context: ConfigContext): Config {
  const provider = getProviderName(written);
  const { rules } = PROVIDERS[provider];
  return {
    file: context.file,
    folder: dirname(context.file),
    root: context.root,
    service: locateService(written, context),
    provider,
    rules,
    ...parsePatterns(written, mapping, { context, rules }),
    ...parseEnvironmentSettings(written, mapping),
    defaultPins: parseDefaultPins(written.defaults ?? {}, mapping, basename(context.file)),
    portablePins: written.portable_pins ?? DEFAULTS.portable_pins,
    branch: written.branch ?? null,
    branchPlace: written.branch === undefined ? null : mapping.placeOf(['branch']),
    onDrift: written.on_drift ?? DEFAULTS.on_drift,
    maxChanges: written.max_changes === undefined ? null : parseMaxChanges(written.max_changes),
    acceptWarnings: written.accept_warnings ?? [],
    concurrency: written.concurrency ?? DEFAULTS.concurrency,
    timeoutSeconds: written.timeout_seconds ?? DEFAULTS.timeout_seconds,
  };
}

function parsePatterns(
  { prompts }: WrittenConfig,
  mapping: LocatedMapping,
  { context, rules }: { readonly context: ConfigContext; readonly rules: FileRules },
): Pick<Config, 'patterns' | 'patternPlaces' | 'pathIds'> {
  const patterns = prompts ?? DEFAULTS.prompts;
  return {
    patterns,
    patternPlaces: (prompts ?? []).map((_, index) => mapping.placeOf(['prompts', index])),
    pathIds: rules.findsPromptsByName ? makePathIds({ folder: dirname(context.file), patterns }) : null,
  };
}

function parseEnvironmentSettings(
  written: WrittenConfig,
  mapping: LocatedMapping,
): Pick<Config, 'environments' | 'otherEnvironments'> {
  const { environments, other_environments: otherEnvironments = [] } = written;
  if (environments === undefined) return { environments: null, otherEnvironments };
  return { environments: makeEnvironments(environments, mapping), otherEnvironments };
}

/** Takes the order from `mapping`, because an object would move names that look like numbers to the front. */
function makeEnvironments(
  written: NonNullable<WrittenConfig['environments']>,
  mapping: LocatedMapping,
): readonly Environment[] {
  return mapping.keysOf(['environments']).map((name) => ({
    name,
    ...(written[name]?.promote_from === undefined ? {} : { promoteFrom: written[name].promote_from }),
    allowLatest: written[name]?.allow_latest ?? DEFAULTS.allow_latest,
  }));
}

/**
 * Checks the environments:
 *
 * - `promote_from` must refer to an environment that is listed earlier, or to one that another configuration manages.
 * - No name may be reserved for promptsync.
 * - The provider must accept each name.
 */
function checkEnvironments(mapping: LocatedMapping): readonly Problem[] {
  const names = mapping.keysOf(['environments']);
  const rules = findRules(mapping.value);
  const others = listOtherEnvironments(mapping);
  return names.flatMap((name, index) => {
    const path = ['environments', name];
    const fault = findNameFault(name, rules);
    return [
      ...(fault === null ? [] : [makeInvalidFieldProblem(path, fault, mapping.keyPlaceOf(path))]),
      ...checkPromoteFrom(name, [...names.slice(0, index), ...others], mapping),
    ];
  });
}

/** Returns the reason why an environment cannot have this name, as a clause. Null if the name is valid. */
function findNameFault(name: string, rules: FileRules | null): string | null {
  return findReservedFault(name, rules) ?? rules?.findEnvironmentFault(name) ?? null;
}

function findReservedFault(name: string, rules: FileRules | null): string | null {
  return rules?.reservedEnvironments.includes(name) === true ? 'it is reserved for promptsync' : null;
}

/**
 * Checks the environments of another configuration: no name may be repeated, listed under `environments`, too, or
 * reserved for promptsync. Everything else depends on the service of that configuration.
 */
function checkOtherEnvironments(mapping: LocatedMapping): readonly Problem[] {
  const rules = findRules(mapping.value);
  // Compare names in one Unicode form, because the same characters can be encoded in different ways that look alike.
  const normalize = (names: readonly string[]): readonly string[] => names.map((name) => name.normalize('NFC'));
  const ownNames = normalize(mapping.keysOf(['environments']));
  const others = listOtherEnvironments(mapping);
  const otherNames = normalize(others);
  return others.flatMap((name, index) => {
    const path = ['other_environments', index];
    const normalName = name.normalize('NFC');
    const repeated = otherNames.indexOf(normalName) < index ? 'it is listed twice' : null;
    const fault = ownNames.includes(normalName)
      ? 'it is also listed under `environments`, but only one configuration can manage an environment'
      : (repeated ?? findReservedFault(name, rules));
    return fault === null ? [] : [makeInvalidFieldProblem(path, fault, mapping.placeOf(path))];
  });
}

/** Returns the names under `other_environments`. Returns none if the setting is not a list of strings. */
function listOtherEnvironments(mapping: LocatedMapping): readonly string[] {
  const written = mapping.valueAt(['other_environments']);
  return Array.isArray(written) && written.every((name) => typeof name === 'string') ? written : [];
}

function makeInvalidFieldProblem(path: readonly PropertyKey[], expected: string, place: Place): Problem {
  return makeProblem('config/invalid-field', { field: path.join('.'), expected }, place);
}

function checkPromoteFrom(name: string, sources: readonly string[], mapping: LocatedMapping): readonly Problem[] {
  const path = ['environments', name, 'promote_from'];
  const from = mapping.valueAt(path);
  if (typeof from !== 'string' || sources.includes(from)) return [];
  const expected = mapping.keysOf(['environments']).includes(from)
    ? 'expected an environment that is listed before this one, or one of `other_environments`'
    : `"${from}" is not listed under \`environments\` or \`other_environments\``;
  return [makeInvalidFieldProblem(path, expected, mapping.placeOf(path))];
}

function makeSettingProblem(issue: ShapeIssue, mapping: LocatedMapping): Problem {
  const { kind, path, field, expected, fix, suggestion, place } = issue;
  if (kind === 'unknown') {
    return makeProblem('config/unknown-field', { field, known: listSettingsBeside(path), suggestion }, place);
  }
  const isPin = kind === 'invalid' && path.length === DEFAULT_PINS.length + 1 && path[0] === DEFAULT_PINS[0];
  if (isPin) return makeInvalidPinProblem(issue, mapping, readPinSettings(mapping));
  return makeProblem('config/invalid-field', { field: field === '' ? 'promptsync.yaml' : field, expected, fix }, place);
}
