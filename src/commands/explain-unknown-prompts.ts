import type { Observation } from '../domain/observed-prompt.ts';
import type { DesiredWorkspace } from '../desired/read-desired-state.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { DEFAULT_PROVIDER, NAMED_PROVIDERS, PROVIDERS } from '../providers/list.ts';

/**
 * Returns a problem with the address of the service if the service has none of the workspace's prompts. Returns an
 * empty list otherwise.
 * @param service the name of the service in reports
 */
export function explainUnknownPrompts(
  { failed }: Observation,
  { allFiles }: DesiredWorkspace,
  service: string,
): readonly Problem[] {
  const lacksAll = allFiles.every(({ id }) => failed.get(id)?.code === 'service/prompt-not-found');
  return lacksAll && allFiles.length > 0
    ? [makeProblem('service/none-found', { service, interfacePaths: INTERFACE_PATHS })]
    : [];
}

/**
 * The API paths of all supported services, for the problem `service/none-found`. A wrong address and a missing
 * `provider` setting have the same symptom. If the setting is missing, the user needs the path of a different service,
 * so the problem shows all paths.
 */
const INTERFACE_PATHS = [
  `\`${PROVIDERS[DEFAULT_PROVIDER].interfacePath}\``,
  ...Object.values(NAMED_PROVIDERS).map(({ title, interfacePath }) => `for ${title}, \`${interfacePath}\``),
].join(' or, ');
