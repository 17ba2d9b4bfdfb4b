import { type ServiceRequirements, SHARED_REQUIREMENTS } from '../domain/conformance.ts';

/** What promptsync needs from a four-call service. `docs/how-to/connect-your-service.md` contains this table. */
export const FOUR_CALL_REQUIREMENTS: ServiceRequirements = {
  ...SHARED_REQUIREMENTS,
  metadata: {
    point: 'metadata_',
    request: 'store and return `metadata_` unchanged',
    loss: 'promptsync compares only texts. It does not find a pinned number that is active nowhere, and a revert creates another version.',
  },
  newest: {
    point: 'latest_version_id',
    request: 'return the id of the newest version in `latest_version_id`',
    loss: 'promptsync cannot find out whether a create request with a lost response took effect. It also does not notice versions that somebody else creates.',
  },
};
