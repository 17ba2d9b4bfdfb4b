import { dirname, resolve } from 'node:path';
import { lookEnvironment, parseMaxChanges, type Environment } from '../domain/policy.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { describeIssues, type ShapeIssue } from '../yaml/describe-issues.ts';
import { parseStrictYaml, type LocatedMapping } from '../yaml/strict-yaml.ts';
import { baseUrlProblems } from './base-url.ts';
import type { Config, ServiceLocation } from './config.ts';
import { CONFIG_FIELDS, WrittenConfigShape, type WrittenConfig } from './shape.ts';

/** What is known of a configuration besides its text. */
export type ConfigSurroundings = {
  /** Absolute path of the file, and the way it is shown in problems. */
  readonly file: string;
  readonly shownPath: string;
  readonly root: string;
  /** The variables of the process; they come before the file. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export type ConfigResult = { readonly config: Config | null; readonly problems: readonly Problem[] };

const DEFAULT_KEY_VARIABLE = 'PROMPTSYNC_API_KEY';
const BASE_URL_VARIABLE = 'PROMPTSYNC_BASE_URL';

/** Parses promptsync.yaml. All problems are gathered; with one there is no configuration. */
export function parseConfig(text: string, around: ConfigSurroundings): ConfigResult {
  const { mapping, problems } = parseStrictYaml(text, around.shownPath);
  if (mapping === null) return { config: null, problems };
  const shaped = WrittenConfigShape.safeParse(mapping.value);
  if (!shaped.success) {
    return { config: null, problems: describeIssues(shaped.error, mapping, CONFIG_FIELDS).map(toProblem) };
  }
  const wrong = [...urlProblems(shaped.data, mapping, around), ...environmentProblems(shaped.data, mapping)];
  return wrong.length > 0
    ? { config: null, problems: wrong }
    : { config: makeConfig(shaped.data, around), problems: [] };
}

function makeConfig(written: WrittenConfig, around: ConfigSurroundings): Config {
  const folder = dirname(around.file);
  return {
    file: around.file,
    folder,
    root: around.root,
    service: locateService(written, folder, around),
    patterns: written.prompts ?? ['prompts/**/*.md'],
    environments: written.environments === undefined ? null : makeEnvironments(written.environments),
    trackingEnvironment: trackingOf(written),
    onDrift: written.on_drift ?? 'overwrite',
    maxChanges: written.max_changes === undefined ? null : parseMaxChanges(written.max_changes),
    concurrency: written.concurrency ?? 8,
    timeoutSeconds: written.timeout_seconds ?? 15,
  };
}

function locateService({ service }: WrittenConfig, folder: string, around: ConfigSurroundings): ServiceLocation | null {
  const fromVariable = urlVariable(around);
  if (fromVariable === undefined && service?.embedded !== undefined) {
    return { kind: 'embedded', databasePath: resolve(folder, service.embedded) };
  }
  const baseUrl = fromVariable ?? service?.base_url;
  if (baseUrl === undefined) return null;
  return { kind: 'remote', baseUrl, apiKeyVariable: service?.api_key_env ?? DEFAULT_KEY_VARIABLE };
}

/** An empty variable counts as not set: that is how workflows hand on an input that was not given. */
function urlVariable({ environment }: ConfigSurroundings): string | undefined {
  return environment[BASE_URL_VARIABLE] === '' ? undefined : environment[BASE_URL_VARIABLE];
}

function makeEnvironments(written: NonNullable<WrittenConfig['environments']>): readonly Environment[] {
  return Object.entries(written).map(([name, settings]) => ({
    name,
    ...(settings?.promote_from === undefined ? {} : { promoteFrom: settings.promote_from }),
    allowLatest: settings?.allow_latest ?? true,
  }));
}

function trackingOf({ tracking_environment }: WrittenConfig): string | null {
  return tracking_environment === false ? null : (tracking_environment ?? 'promptsync');
}

function urlProblems(
  { service }: WrittenConfig,
  mapping: LocatedMapping,
  around: ConfigSurroundings,
): readonly Problem[] {
  const fromVariable = urlVariable(around);
  if (fromVariable !== undefined) return baseUrlProblems(fromVariable, {});
  return service?.base_url === undefined
    ? []
    : baseUrlProblems(service.base_url, mapping.placeOf(['service', 'base_url']));
}

/** Promotion goes from an earlier environment to a later one, and the tool's own are not for pins. */
function environmentProblems(written: WrittenConfig, mapping: LocatedMapping): readonly Problem[] {
  const names = Object.keys(written.environments ?? {});
  const tracking = trackingOf(written);
  const reserved = tracking === null ? [] : [tracking, lookEnvironment(tracking)];
  const invalid = (field: string, expected: string, place: Place) =>
    makeProblem('config/invalid-field', { field, expected }, place);
  return names.flatMap((name, index) => {
    const field = `environments.${name}`;
    const from = written.environments?.[name]?.promote_from;
    const late = from !== undefined && !names.slice(0, index).includes(from);
    return [
      ...(reserved.includes(name)
        ? [invalid(field, "it is the tool's own environment", mapping.keyPlaceOf(['environments', name]))]
        : []),
      ...(late
        ? [
            invalid(
              `${field}.promote_from`,
              'expected an environment that is listed before this one',
              mapping.placeOf(['environments', name, 'promote_from']),
            ),
          ]
        : []),
    ];
  });
}

function toProblem({ kind, field, expected, suggestion, place }: ShapeIssue): Problem {
  if (kind === 'unknown') return makeProblem('config/unknown-field', { field, suggestion }, place);
  return makeProblem('config/invalid-field', { field: field === '' ? 'promptsync.yaml' : field, expected }, place);
}
