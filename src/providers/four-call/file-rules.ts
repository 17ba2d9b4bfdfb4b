import { PROBE_ENVIRONMENT, TRACKING_ENVIRONMENT } from '../../domain/policy.ts';
import { PLACEHOLDER_ID } from '../../domain/prompt-file.ts';
import type { FileRules } from '../provider-interface.ts';
import { isPathSegment } from '../../text.ts';

/** The id of a prompt must be a single path segment (interface section 4). */
export const fourCallFileRules: FileRules = {
  findIdFault: (id) => (isPathSegment(id) ? null : ID_FAULT),
  findEnvironmentFault: () => null,
  reservedEnvironments: [TRACKING_ENVIRONMENT, PROBE_ENVIRONMENT],
  hasFields: true,
  findsPromptsByName: false,
  placeholderId: PLACEHOLDER_ID,
  promptTypes: ['text'],
  canPinIds: true,
  listParts: () => [],
};

const ID_FAULT =
  'expected one path segment, other than "." or "..", without whitespace or any of the characters / \\ ? # %';
