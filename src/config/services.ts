import { relative, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { leaves, slashed } from '../files/paths.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { LocatedMapping } from '../files/strict-yaml.ts';
import { DEFAULT_KEY_VARIABLE } from './api-key.ts';
import { baseUrlProblems } from './base-url.ts';
import type { Config, ServiceLocation } from './config.ts';
import { serviceNameProblems } from './service-names.ts';
import type { WrittenConfig, WrittenService } from './shape.ts';

/** Goes before `service.base_url`. */
export const BASE_URL_VARIABLE = 'PROMPTSYNC_BASE_URL';

/** What the only service is listed under where services have no names; no name is empty. */
export const UNNAMED = '';

type Variables = Readonly<Record<string, string | undefined>>;

/** By name; without a service empty. */
export function locateServices(
  { service, services }: WrittenConfig,
  folder: string,
  environment: Variables,
): ReadonlyMap<string, ServiceLocation> {
  const fromVariable = urlVariable(environment);
  const single = typeof service === 'string' ? {} : { ...service };
  const one: WrittenService =
    fromVariable === undefined ? single : { ...single, base_url: fromVariable, embedded: undefined };
  const written: readonly (readonly [string, WrittenService])[] =
    services === undefined ? [[UNNAMED, one]] : Object.entries(services);
  return new Map(
    written.flatMap(([name, each]): [string, ServiceLocation][] => {
      const location = locate(each, folder);
      return location === null ? [] : [[name, location]];
    }),
  );
}

function locate({ base_url: baseUrl, api_key_env, embedded }: WrittenService, folder: string): ServiceLocation | null {
  if (embedded !== undefined) return { kind: 'embedded', databasePath: resolve(folder, embedded) };
  if (baseUrl === undefined) return null;
  return { kind: 'remote', baseUrl, apiKeyVariable: api_key_env ?? DEFAULT_KEY_VARIABLE };
}

/** An empty variable counts as not set: that is how workflows hand on an input that was not given. */
function urlVariable(environment: Variables): string | undefined {
  return environment[BASE_URL_VARIABLE] === '' ? undefined : environment[BASE_URL_VARIABLE];
}

/** What is wrong with the services beyond the shape of each. */
export function serviceProblems(
  mapping: LocatedMapping,
  { folder, root }: Pick<Config, 'folder' | 'root'>,
  environment: Variables,
): readonly Problem[] {
  const fromVariable = urlVariable(environment);
  const named = entriesIn(mapping);
  return [
    ...(fromVariable === undefined ? [] : variableProblems(fromVariable, mapping)),
    ...[...(fromVariable === undefined ? singleIn(mapping) : []), ...named].flatMap((one) => urlProblems(one, mapping)),
    ...[...singleIn(mapping), ...named].flatMap((one) => outsideProblems(one, folder, root, mapping)),
    ...named.flatMap((one, index) => sharingProblems(one, named.slice(0, index), folder, mapping)),
    ...serviceNameProblems(mapping),
  ];
}

/** A service as it is written, whatever is in it. */
type Entry = { readonly name: string; readonly path: readonly string[]; readonly value: JsonObject };

function singleIn({ value: { service } }: LocatedMapping): readonly Entry[] {
  return isJsonObject(service) ? [{ name: UNNAMED, path: ['service'], value: service }] : [];
}

function entriesIn({ value: { services }, keysOf }: LocatedMapping): readonly Entry[] {
  if (!isJsonObject(services)) return [];
  return keysOf(['services']).flatMap((name) => {
    const value = services[name];
    return isJsonObject(value) ? [{ name, path: ['services', name], value }] : [];
  });
}

function variableProblems(url: string, mapping: LocatedMapping): readonly Problem[] {
  return mapping.has(['services'])
    ? [makeProblem('config/base-url-of-which', { variable: BASE_URL_VARIABLE })]
    : baseUrlProblems(url, BASE_URL_VARIABLE, {});
}

function urlProblems({ path, value: { base_url: url } }: Entry, mapping: LocatedMapping): readonly Problem[] {
  const at = [...path, 'base_url'];
  return typeof url === 'string' ? baseUrlProblems(url, at.join('.'), mapping.placeOf(at)) : [];
}

/** Like patterns, a database stays inside the repository: a branch could name any file of this machine. */
function outsideProblems(
  { path, value: { embedded } }: Entry,
  folder: string,
  root: string,
  mapping: LocatedMapping,
): readonly Problem[] {
  const way = typeof embedded === 'string' ? slashed(relative(root, resolve(folder, embedded))) : '';
  if (!leaves(way) && !/(?:^|\/)\.git(?:\/|$)/i.test(way)) return [];
  const at = [...path, 'embedded'];
  const expected = 'it leaves the repository, or is among what git keeps there';
  return [makeProblem('config/invalid-field', { field: at.join('.'), expected }, mapping.placeOf(at))];
}

/** A key goes to one origin alone, and a file holds one embedded service. */
function sharingProblems(
  one: Entry,
  earlier: readonly Entry[],
  folder: string,
  mapping: LocatedMapping,
): readonly Problem[] {
  const sameKey = earlier.find((other) => sharesKey(one, other));
  const sameFile = earlier.find((other) => sharesFile(one, other, folder));
  const keyAt = [...one.path, 'api_key_env'];
  const keyPlace = mapping.has(keyAt) ? mapping.placeOf(keyAt) : mapping.keyPlaceOf(one.path);
  const fileAt = [...one.path, 'embedded'];
  const names = { name: one.name, variable: keyVariableOf(one) };
  const expected = `the service "${sameFile?.name}" is on that file already`;
  return [
    ...(sameKey === undefined ? [] : [makeProblem('config/shared-key', { ...names, other: sameKey.name }, keyPlace)]),
    ...(sameFile === undefined
      ? []
      : [makeProblem('config/invalid-field', { field: fileAt.join('.'), expected }, mapping.placeOf(fileAt))]),
  ];
}

function sharesKey(one: Entry, other: Entry): boolean {
  const [origin, otherOrigin] = [originOf(one), originOf(other)];
  if (origin === null || otherOrigin === null || origin === otherOrigin) return false;
  return keyVariableOf(one) === keyVariableOf(other);
}

function keyVariableOf({ value: { api_key_env: variable } }: Entry): string {
  return typeof variable === 'string' ? variable : DEFAULT_KEY_VARIABLE;
}

/** Null for one that no key is sent to. */
function originOf({ value: { base_url: url } }: Entry): string | null {
  return typeof url === 'string' ? (URL.parse(url)?.origin ?? null) : null;
}

function sharesFile({ value: one }: Entry, { value: other }: Entry, folder: string): boolean {
  if (typeof one['embedded'] !== 'string' || typeof other['embedded'] !== 'string') return false;
  return resolve(folder, one['embedded']) === resolve(folder, other['embedded']);
}
