import { makeSharedRequirements, type ServiceRequirements } from './requirements.ts';
import { DEFAULT_WORDS } from '../service-words.ts';

/** What promptsync needs from a four-call service. `docs/how-to/connect-your-service.md` contains this table. */
export const FOUR_CALL_REQUIREMENTS: ServiceRequirements = {
  ...makeSharedRequirements(DEFAULT_WORDS),
  metadata: {
    point: 'metadata_',
    request: 'store and return `metadata_` unchanged',
    loss: 'promptsync can identify versions only by their text. As a result, it can resolve a version number only while that version is active in an environment, and reverting a prompt to earlier text creates a new version instead of reusing the earlier one.',
  },
  newest: {
    point: 'latest_version_id',
    request: 'return the id of the newest version in `latest_version_id`',
    loss: 'promptsync cannot recover from a lost response, because it cannot tell whether the service created a version. It also does not notice versions that someone else creates.',
  },
};
