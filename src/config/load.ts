import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Environment, parseMaxChanges } from '../domain/policy.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { findRoot, isRoot, isWithin, rootsAbove } from '../files/paths.ts';
import { type LocatedMapping, parseStrictYaml } from '../files/strict-yaml.ts';
import { acceptedWarnings, describeIssues, type ShapeIssue } from '../files/yaml-shape.ts';
import { makeProblem, type Problem, systemCodeOf } from '../problem.ts';
import {
  type Config,
  CONFIG_FIELDS,
  CONFIG_NAME,
  type ConfigSurroundings,
  DEFAULTS,
  type WrittenConfig,
  WrittenConfigShape,
} from './config.ts';
import { findOwnerProblem } from './owner.ts';
import { locateService, rulesFor, serviceProblems } from './service.ts';

/** Where to look for a configuration: in a named file, or as `findConfigFile` does. */
type ConfigRequest = {
  readonly workingDirectory: string;
  /** Relative to the working directory. A file that is named may belong to another user. */
  readonly file?: string | undefined;
} & Pick<ConfigSurroundings, 'environment' | 'urlSource'>;

/**
 * Finds, reads and parses the configuration. The problems say what is wrong with it, that there is none, or that it
 * belongs to another user.
 */
export async function loadConfig({ workingDirectory, file, ...more }: ConfigRequest): Promise<ConfigResult> {
  const path = file === undefined ? findConfigFile(workingDirectory) : resolve(workingDirectory, file);
  if (path === null) return { config: null, problems: [makeProblem('config/not-found')] };
  const shownPath = file ?? basename(path);
  const read = readText(path);
  if ('reason' in read)
    return { config: null, problems: [makeProblem('config/unreadable', read, { path: shownPath })] };
  const parsed = parseConfig(read.text, { file: path, shownPath, root: findRoot(dirname(path)), ...more });
  if (file !== undefined || parsed.config === null) return parsed;
  const problem = await findOwnerProblem(parsed.config, shownPath);
  return problem === null ? parsed : { config: null, problems: [problem] };
}

/**
 * Returns the promptsync.yaml of a folder. Inside a repository, returns the nearest one from the folder up to the root of
 * the repository. Returns null if there is none.
 */
export function findConfigFile(folder: string): string | null {
  const candidate = join(folder, CONFIG_NAME);
  if (existsSync(candidate)) return candidate;
  const isBelowRoot = !isRoot(folder) && rootsAbove(folder).length > 0;
  return isBelowRoot ? findConfigFile(dirname(folder)) : null;
}

/**
 * Devices and pipes are not read, as they may never end, nor what a link leads to outside of the repository. It blocks:
 * nothing else can be done meanwhile.
 */
function readText(path: string): { readonly text: string } | { readonly reason: string } {
  try {
    if (!statSync(path).isFile()) return { reason: 'it is not a regular file' };
    const isOutside = rootsAbove(dirname(path)).some((root) => !isWithin(path, root));
    if (isOutside) return { reason: 'a symbolic link on its path leads out of the repository' };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)) };
  } catch (error) {
    if (error instanceof TypeError) return { reason: 'it is not valid UTF-8' };
    const code = systemCodeOf(error);
    return { reason: code === 'ENOENT' ? 'there is no such file' : code };
  }
}

/** The configuration, or null with the errors that stand against it. Both together do not come up. */
export type ConfigResult = { readonly config: Config | null; readonly problems: readonly Problem[] };

const LARGEST = 64 * 1024;

/** A shape that is used once is not worth compiling. */
const ONCE = { jitless: true } as const;

/** Parses promptsync.yaml. All problems are gathered; with an error there is no configuration. */
export function parseConfig(text: string, around: ConfigSurroundings): ConfigResult {
  const path = around.shownPath;
  const reason = `it has more than ${LARGEST} bytes`;
  if (Buffer.byteLength(text, 'utf8') > LARGEST)
    return { config: null, problems: [makeProblem('config/unreadable', { reason }, { path })] };
  const { mapping, problems } = parseStrictYaml(text, path);
  if (mapping === null) return { config: null, problems };
  const shaped = WrittenConfigShape.safeParse(mapping.value, ONCE);
  const wrong = shaped.success ? [] : describeIssues(shaped.error, mapping, CONFIG_FIELDS).map(toProblem);
  const all = [...problems, ...wrong, ...serviceProblems(mapping, around), ...environmentProblems(mapping)];
  const config = shaped.success && all.length === 0 ? makeConfig(shaped.data, mapping, around) : null;
  return { config, problems: all };
}

/** Returns the warnings that the text of a configuration accepts, whatever else in it is not valid. */
export function parseAcceptedWarnings(text: string): readonly string[] {
  const { mapping } = parseStrictYaml(text, CONFIG_NAME);
  const written = acceptedWarnings.safeParse(mapping?.valueAt(['accept_warnings']), ONCE);
  return written.data ?? [];
}

function makeConfig(written: WrittenConfig, mapping: LocatedMapping, around: ConfigSurroundings): Config {
  return {
    file: around.file,
    folder: dirname(around.file),
    root: around.root,
    service: locateService(written, around),
    rules: rulesFor(written),
    patterns: written.prompts ?? DEFAULTS.prompts,
    patternPlaces: (written.prompts ?? []).map((_, index) => mapping.placeOf(['prompts', index])),
    environments: written.environments === undefined ? null : makeEnvironments(written.environments, mapping),
    branch: written.branch ?? null,
    trackingEnvironment: written.tracking_environment ?? DEFAULTS.tracking_environment,
    onDrift: written.on_drift ?? DEFAULTS.on_drift,
    maxChanges: written.max_changes === undefined ? null : parseMaxChanges(written.max_changes),
    acceptWarnings: written.accept_warnings ?? [],
    concurrency: written.concurrency ?? DEFAULTS.concurrency,
    timeoutSeconds: written.timeout_seconds ?? DEFAULTS.timeout_seconds,
  };
}

/** In the order in which they are written, names that look like numbers included. */
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

/** Promotion goes from an earlier environment to a later one, and the tool's own are not for pins. */
function environmentProblems(mapping: LocatedMapping): readonly Problem[] {
  const names = mapping.keysOf(['environments']);
  const rules = rulesFor(mapping.value);
  return names.flatMap((name, index) => [
    ...nameProblems(name, rules, mapping),
    ...promotionProblems(name, names.slice(0, index), mapping),
  ]);
}

function nameProblems(
  name: string,
  { reserved, environmentFault }: ProviderRules,
  mapping: LocatedMapping,
): readonly Problem[] {
  const path = ['environments', name];
  const expected = reserved.includes(name) ? "it is the tool's own environment" : environmentFault(name);
  if (expected === null) return [];
  return [makeProblem('config/invalid-field', { field: path.join('.'), expected }, mapping.keyPlaceOf(path))];
}

function promotionProblems(name: string, earlier: readonly string[], mapping: LocatedMapping): readonly Problem[] {
  const path = ['environments', name, 'promote_from'];
  const from = mapping.valueAt(path);
  if (typeof from !== 'string' || earlier.includes(from)) return [];
  const expected = 'expected an environment that is listed before this one';
  return [makeProblem('config/invalid-field', { field: path.join('.'), expected }, mapping.placeOf(path))];
}

function toProblem({ kind, field, expected, suggestion, place }: ShapeIssue): Problem {
  if (kind === 'unknown') return makeProblem('config/unknown-field', { field, suggestion }, place);
  return makeProblem('config/invalid-field', { field: field === '' ? 'promptsync.yaml' : field, expected }, place);
}
