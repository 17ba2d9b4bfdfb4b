import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import { parseConfig } from '../config/load.ts';
import { BASE_URL_VARIABLE } from '../config/service.ts';
import type { ReadDesired } from '../desired/read-desired.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { ServiceOptions } from './open-service.ts';
import type { World } from '../domain/world.ts';

/**
 * Whether the service is asked at all: `trusted`: only if the base commit names the same one, because the key would go
 * to whatever address a pull request writes into its configuration.
 */
export type Asking = 'always' | 'trusted' | 'never';

export type AskingOptions = Pick<ServiceOptions, 'apiKey'> & { readonly asking?: Asking | undefined };

/** Why the service is not asked, as a warning; null where it is. */
export async function reasonNotToAsk(
  { asking = 'always', apiKey }: AskingOptions,
  { config, base, repository }: Pick<ReadDesired, 'config' | 'base' | 'repository'>,
  { environment }: World,
): Promise<Problem | null> {
  if (asking === 'always') return null;
  if (asking === 'never') return makeProblem('service/not-asked', { reason: 'this run has no API key' });
  // Both come from the workflow then, which the base has the say in.
  if (apiKey !== undefined && (environment[BASE_URL_VARIABLE] ?? '') !== '') return null;
  const then =
    base === null || repository === null ? null : await serviceAt(base.commit, config, repository, environment);
  const named = then !== null && isDeepStrictEqual(keyGoesTo(then, apiKey), keyGoesTo(config.service, apiKey));
  const reason = 'the base commit names another service, or none; a key is sent to no address that only the head names';
  return named ? null : makeProblem('service/not-asked', { reason });
}

type Service = Config['service'];

/** Which key goes where; one that was handed over is read from no variable, whatever the configuration names. */
function keyGoesTo(service: Service, apiKey: string | undefined): object | null {
  if (apiKey === undefined || service?.kind !== 'remote') return service;
  return { kind: service.kind, baseUrl: service.baseUrl };
}

async function serviceAt(
  commit: string,
  { file, root }: Config,
  repository: Repository,
  environment: World['environment'],
): Promise<Service> {
  const name = basename(file);
  const bytes = await repository.fileAt(commit, repository.fromRoot(name));
  if (bytes === null) return null;
  const around = { file, shownPath: name, root, environment };
  return parseConfig(bytes.toString('utf8'), around).config?.service ?? null;
}
