import type { ServiceRequirements } from '../domain/conformance.ts';

/** What promptsync needs from a four-call service. `docs/how-to/connect-your-service.md` contains this table. */
export const FOUR_CALL_REQUIREMENTS: ServiceRequirements = {
  text: {
    point: 'text',
    request: 'store texts unchanged',
    loss: 'promptsync never activates a version whose text the service has changed. It cannot sync such a prompt.',
  },
  metadata: {
    point: 'metadata_',
    request: 'store and return `metadata_` unchanged',
    loss: 'promptsync compares only texts. It does not find a pinned number that is active nowhere, and a revert creates another version.',
  },
  numbers: {
    point: 'version_number',
    request: 'give each new version a higher number than all earlier versions',
    loss: 'promptsync cannot tell which version is newer. Rollbacks and version records can be wrong.',
  },
  newest: {
    point: 'latest_version_id',
    request: 'return the id of the newest version in `latest_version_id`',
    loss: 'promptsync cannot find out whether a create request with a lost response took effect. It also does not notice versions that somebody else creates.',
  },
  activation: {
    point: 'set-active',
    request: 'return an activated version in `active_version` within ten seconds',
    loss: 'promptsync reports that the activation failed, although it may still take effect.',
  },
  unknownVersion: {
    point: 'unknown version',
    request: 'refuse an unknown version id with 404, without changing anything',
    loss: 'promptsync cannot detect a pin whose version does not exist.',
  },
  otherVersion: {
    point: "another prompt's version",
    request: 'refuse the version id of another prompt with 404, without changing anything',
    loss: 'promptsync cannot promise that an environment serves a version of its own prompt.',
  },
  unknownPrompt: {
    point: 'unknown prompt',
    request: 'answer 404 for an unknown prompt',
    loss: 'promptsync cannot detect a wrong id in a prompt file.',
  },
  wrongKey: {
    point: 'wrong key',
    request: 'refuse an unknown API key with 401 or 403',
    loss: 'promptsync cannot promise that only people with the key change what applications get.',
  },
  nothingActive: {
    point: 'no active version',
    request: 'omit `active_version`, or return null, if no version is active in an environment',
    loss: 'promptsync cannot tell that nothing was activated there, and may skip the first activation.',
  },
};
