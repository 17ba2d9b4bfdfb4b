import { listReservedEnvironments } from '../domain/policy.ts';
import { PLACEHOLDER_ID } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { isPathSegment } from '../text.ts';

/**
 * Returns the rules for prompt ids and environment names in a four-call service. The id of a prompt must be a single
 * path segment (interface section 4).
 */
export function makeLedgerRules(trackingEnvironment: string): ProviderRules {
  const expected = 'expected one path segment, other than "." or "..", without white space or any of / \\ ? # %';
  return {
    findIdFault: (id) => (isPathSegment(id) ? null : expected),
    findEnvironmentFault: () => null,
    reservedEnvironments: listReservedEnvironments(trackingEnvironment),
    hasFields: true,
    placeholderId: PLACEHOLDER_ID,
    promptTypes: ['text'],
    canPinIds: true,
    listParts: () => [],
  };
}
