import type { Config } from '../../config/config.ts';
import { UNNAMED } from '../../config/services.ts';
import { suggest } from '../../domain/suggest.ts';
import { makeProblem, type Problem } from '../../problem.ts';

/**
 * The name of the service that prompts are imported from: the one that was given, else the one for files that nothing
 * else assigns, else the only one. Empty where services have no names.
 */
export function importedService(
  { services, assignment }: Pick<Config, 'services' | 'assignment'>,
  given: string | undefined,
): string | Problem {
  const known = assignment === null ? [] : [...services.keys()];
  if (given !== undefined) {
    return known.includes(given)
      ? given
      : makeProblem('prompt/unknown-service', { service: given, known, suggestion: suggest(given, known) });
  }
  if (assignment === null) return UNNAMED;
  const [only, ...others] = known;
  const assumed = assignment.otherwise ?? (others.length === 0 ? only : undefined);
  return assumed ?? makeProblem('import/service-needed', { known });
}
