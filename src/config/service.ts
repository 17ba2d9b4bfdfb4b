import { dirname, relative, resolve } from 'node:path';
import { isPlainHttp } from '../domain/network.ts';
import { leaves, slashed } from '../files/paths.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import type { LocatedMapping } from '../files/strict-yaml.ts';
import {
  type ConfigSurroundings,
  DEFAULTS,
  type ServiceLocation,
  type Variables,
  type WrittenConfig,
} from './config.ts';

/** Goes before `service.base_url`. */
export const BASE_URL_VARIABLE = 'PROMPTSYNC_BASE_URL';

/** Where the service is; null where nothing says it, which is enough for offline commands. */
export function locateService({ service = {} }: WrittenConfig, around: ConfigSurroundings): ServiceLocation | null {
  const fromVariable = urlVariable(around);
  if (service.embedded !== undefined && fromVariable === undefined) {
    return { kind: 'embedded', databasePath: resolve(dirname(around.file), service.embedded) };
  }
  const baseUrl = fromVariable ?? service.base_url;
  if (baseUrl === undefined) return null;
  return { kind: 'remote', baseUrl, apiKeyVariable: service.api_key_env ?? DEFAULTS.api_key_env };
}

/** An empty variable counts as not set: that is how workflows hand on an input that was not given. */
function urlVariable({ environment }: ConfigSurroundings): string | undefined {
  return environment[BASE_URL_VARIABLE] === '' ? undefined : environment[BASE_URL_VARIABLE];
}

/** What is wrong with the service beyond its shape, which may be wrong as well. */
export function serviceProblems(mapping: LocatedMapping, around: ConfigSurroundings): readonly Problem[] {
  const [url, embedded] = ['base_url', 'embedded'].map((name) => mapping.valueAt(['service', name]));
  const fromVariable = urlVariable(around);
  const allowHttp = mapping.valueAt(['service', 'allow_http']) === true;
  const urls =
    fromVariable === undefined
      ? baseUrlProblems(url, allowHttp, 'service.base_url', mapping.placeOf(['service', 'base_url']))
      : baseUrlProblems(fromVariable, allowHttp, around.urlSource ?? BASE_URL_VARIABLE, {});
  const outside = typeof embedded === 'string' && isOutside(embedded, around);
  return outside ? [...urls, outsideProblem(mapping)] : urls;
}

/** Like patterns, a database stays inside the repository: a branch could name any file of this machine. */
function isOutside(embedded: string, { file, root }: ConfigSurroundings): boolean {
  const way = slashed(relative(root, resolve(dirname(file), embedded)));
  return leaves(way) || /(?:^|\/)\.git(?:\/|$)/i.test(way);
}

function outsideProblem(mapping: LocatedMapping): Problem {
  const expected = 'it leaves the repository, or is among what git keeps there';
  const place = mapping.placeOf(['service', 'embedded']);
  return makeProblem('config/invalid-field', { field: 'service.embedded', expected }, place);
}

/** `source` is the setting or variable that holds it. The URL itself is not repeated: it may hold a password. */
function baseUrlProblems(baseUrl: unknown, allowHttp: boolean, source: string, place: Place): readonly Problem[] {
  const expected = typeof baseUrl === 'string' ? faultOf(baseUrl, allowHttp) : null;
  return expected === null ? [] : [makeProblem('config/invalid-url', { source, expected }, place)];
}

function faultOf(baseUrl: string, allowHttp: boolean): string | null {
  const url = URL.parse(baseUrl);
  if (url === null) return 'it is no URL';
  if (/[\s\\\p{Cc}]/u.test(baseUrl)) return 'it holds blanks, backslashes or control characters';
  if (url.username !== '' || url.password !== '') return 'it holds credentials';
  if (/[?#]/.test(baseUrl)) return 'it holds a query or a fragment';
  if (!['http:', 'https:'].includes(url.protocol)) return 'its scheme is not https';
  return isPlainHttp(url) && !allowHttp ? 'plain http is used for an address that is not loopback' : null;
}

/** The key of the embedded service is no secret: it is for trying, and listens on the loopback address alone. */
export const EMBEDDED_API_KEY = 'embedded';

/** What an HTTP header can carry, without blanks. */
const KEY = /^[\x21-\x7e]+$/;

/** Reads the API key from its variable, or from what stands for it. The key occurs in no problem. */
export function readApiKey(variable: string, environment: Variables, source = `The variable ${variable}`) {
  const apiKey = environment[variable];
  if (apiKey === undefined || apiKey === '') return makeProblem('config/missing-key', { source, variable });
  return KEY.test(apiKey) ? { apiKey } : makeProblem('config/invalid-key', { source });
}
