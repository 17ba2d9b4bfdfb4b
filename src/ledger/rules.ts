import { toolEnvironments } from '../domain/policy.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { isPathSegment } from '../domain/text.ts';

/** What the service of the four calls takes: an id is one segment of an address (interface section 4). */
export function ledgerRules(trackingEnvironment: string): ProviderRules {
  const expected = 'expected one segment of a path, not "." or "..", without / \\ ? # % and blanks';
  return {
    idFault: (id) => (isPathSegment(id) ? null : expected),
    environmentFault: () => null,
    reserved: toolEnvironments(trackingEnvironment),
    hasFields: true,
    pinsIds: true,
  };
}
