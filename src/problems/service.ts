import { formatCount } from '../text.ts';
import { defineError, defineWarning, joinWords } from './catalog-entry.ts';

/** The problems of reading from the service and of writing to it. */
export const SERVICE_PROBLEMS = {
  // The service
  'service/unreachable': defineError<{ origin: string; reason: string }>(
    (e) => `promptsync could not reach the service at ${e.origin} (${e.reason}).`,
    (e) => makeUnreachableHint(e.reason),
  ),
  'service/no-answer': defineError<{ origin: string; requests: number; seconds: number; reason: string }>(
    (e) =>
      `The service at ${e.origin} did not respond to ${formatCount(e.requests, 'request')} within ${formatCount(e.seconds, 'second')} (${e.reason}). promptsync stopped sending requests.`,
    'Check the base URL, the proxy settings, and any firewalls. If the service is just slow, increase `timeout_seconds`.',
  ),
  'service/connection-lost': defineError<{ reason: string }>(
    (e) => `The connection to the service was lost before the response was complete (${e.reason}).`,
    'Run the command again.',
  ),
  'service/timeout': defineError<{ seconds: number }>(
    (e) => `The service did not respond within ${formatCount(e.seconds, 'second')}.`,
    'Run the command again, or increase `timeout_seconds`.',
  ),
  'service/not-authorised': defineError<{
    /** 401 or 403. */
    status: number;
    /** Null if the request was not about a single prompt. */
    promptId: string | null;
    /** The error message of the service. Empty if there is none. */
    said: string;
    /** Where the user put the keys, such as "the variable PROMPTSYNC_API_KEY". */
    keySources: readonly string[];
  }>(
    (e) => {
      // A service that rejects a key with 401 rejects it for all prompts. Omit the prompt, so that reports show the
      // problem once.
      const request = e.status === 401 || e.promptId === null ? '' : ` for the prompt "${e.promptId}"`;
      return `The service rejected the API key${request} (${e.status})${quoteAnswer(e.said)}`;
    },
    (e) =>
      `Check ${joinWords(e.keySources, 'and')}. The key may be wrong, expired, read-only, or for a different project or address.`,
  ),
  'service/prompt-not-found': defineError<{ promptId: string }>(
    (e) => `The service has no prompt with the id "${e.promptId}" (404).`,
    (e) =>
      e.promptId.includes(',')
        ? 'Separate ids with spaces, not commas.'
        : 'Check the id and the base URL. If the prompt does not exist yet, create it in the service first, and use its id.',
  ),
  'service/none-found': defineError<{
    service: string;
    /** The paths of the API, such as `/v1/` and `/api/public/`. */
    interfacePaths: string;
  }>(
    (e) => `None of the prompts in these files exist in the service at ${e.service} (404).`,
    (e) =>
      `Check the base URL. It must not include the API path (${e.interfacePaths}). A gateway that does not host the prompts also responds with 404.`,
  ),
  'service/cannot-list': defineError(
    'The service does not support listing prompts.',
    'For status, leave out --orphans. For import, specify ids instead of patterns. An id cannot contain *, ?, [, or {. The service shows the ids.',
  ),
  'service/version-not-found': defineError<{ promptId: string; versionId: string }>(
    (e) => `The service could not find version "${e.versionId}" of the prompt "${e.promptId}" (404).`,
    'Check the pin. Each version belongs to exactly one prompt.',
  ),
  'service/redirect': defineError<{ status: number }>(
    (e) => `The service responded with a redirect (${e.status}), which promptsync does not follow.`,
    'Set the base URL to the address that the service redirects to. promptsync sends the API key only to the configured origin.',
  ),
  'service/unexpected-status': defineError<{
    status: number;
    /** The error message in the response, or the beginning of its body. Empty if there is neither. */
    said: string;
  }>(
    (e) => `The service responded with status ${e.status}${quoteAnswer(e.said)}`,
    (e) => makeStatusHint(e.status),
  ),
  'service/invalid-answer': defineError<{ reason: string }>(
    (e) => `The service returned an invalid response: ${e.reason}.`,
    'Make sure that the base URL points to the prompt service itself, not to a gateway or a web page.',
  ),
  'service/unaddressable': defineError<{ name: string }>(
    (e) => `promptsync cannot use "${e.name}" in a request URL.`,
    'Use an id that is a single path segment, without spaces or any of the characters / \\ ? # %. The ids "." and ".." are not allowed.',
  ),
  'service/not-updated': defineError<{ environment: string }>(
    (e) => `The service did not set the active version for "${e.environment}" (updated: false).`,
    "Run the command again. If the problem persists, contact the service's operator.",
  ),
  'service/not-asked': defineWarning<{ reason: string }>(
    (e) => `promptsync did not contact the service, because ${e.reason}.`,
    'Note that this plan compares the files only with the base commit. It does not show drift, version numbers, or environments that the base commit does not pin.',
  ),
  'service/drops-metadata': defineWarning<{ environment: string }>(
    (e) =>
      `The active version in "${e.environment}" has no promptsync record. Either the service does not store \`metadata_\`, or somebody activated another version in that environment.`,
    'Note that some features are limited without this record. promptsync syncs prompt text but does not compare metadata. You cannot pin an inactive version by number, and a revert creates a new version.',
  ),

  // Writing
  'apply/changed-meanwhile': defineError<{ environment: string }>(
    (e) =>
      `promptsync activated a version in "${e.environment}" to read it, but the service returned a different version.`,
    'Run the command again. Somebody else is probably making changes at the same time.',
  ),
  'apply/not-active': defineError<{ environment: string; expected: string; found: string }>(
    (e) => `promptsync activated ${e.expected} in "${e.environment}", but that environment now serves ${e.found}.`,
    'Check the prompt in the service, then run the command again. Somebody else may be making changes at the same time.',
  ),
  'apply/fields-differ': defineError<{ fields: readonly string[] }>(
    (e) => `The service did not store the values that promptsync sent for these fields: ${e.fields.join(', ')}.`,
    "Ask the service's operator which values are allowed, then update the file to use them.",
  ),
  'apply/newest-unreadable': defineError<{ id: string }>(
    (e) =>
      `The service reported "${e.id}" as the newest version, but then responded that this version does not exist (404).`,
    'Run the command again. promptsync did not create a version, because the newest version may already have this text. If the problem persists, create another version in the service so that promptsync can read the newest one.',
  ),
  'apply/other-content': defineError<{
    version: string;
    /** The record that the version should match, such as "its entry in the ledger". */
    known: string;
  }>(
    (e) => `Version ${e.version} does not match ${e.known}. promptsync did not activate it.`,
    'Check the version in the service. To continue, activate a version with the correct text there, or pin a version that you have checked.',
  ),
  'apply/unreviewed-metadata': defineError<{ version: string }>(
    (e) =>
      `Version ${e.version} appeared while promptsync was applying this plan. It has the planned text but not the reviewed metadata, so promptsync did not activate it.`,
    'Create a new plan, which will show this version and its metadata. Review and apply the new plan.',
  ),
  'apply/rewritten': defineError<{ version: string }>(
    (e) =>
      `The content of version ${e.version} in the service differs from the content that promptsync sent. promptsync did not activate this version.`,
    'The service seems to modify text or metadata when it saves a version. Ask its operator what it changes, then write the prompt the way the service stores it.',
  ),
  'apply/outcome-unknown': defineError<{ reason: string }>(
    (e) => `promptsync could not determine whether the service created the version: ${e.reason}`,
    'Run the command again. Before promptsync creates a version, it checks the newest version in the service.',
  ),
  'apply/somebody-else-wrote': defineError<{ id: string; number: number; reason: string }>(
    (e) =>
      `promptsync could not determine whether the service created the version: ${e.reason} Somebody else has since created v${e.number} (id ${e.id}), so promptsync did not activate any version.`,
    (e) =>
      `In the service, check the versions that are older than v${e.number}. If one of them has this text, pin it with \`version:<id>\`, or activate it in an environment that is pinned to \`latest\`. Then run the command again. If none of them has this text, just run the command again, and promptsync will create a new version.`,
  ),
  'apply/keeps-changing': defineError(
    'Somebody is changing the prompt in the service. promptsync created a second plan for it, but the prompt changed again.',
    'Wait until the other changes are complete, then run the command again.',
  ),
  'apply/interrupted': defineError(
    'The run was interrupted before promptsync could apply all changes.',
    'Run the command again to continue where it left off.',
  ),
};

/**
 * Returns the hint for a service that cannot be reached. A setting of Node can only solve one cause: an unknown
 * certificate authority.
 */
function makeUnreachableHint(reason: string): string {
  return /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(reason)
    ? "If your own certificate authority issued the service's certificate, set NODE_EXTRA_CA_CERTS to the path of that authority's certificate file."
    : 'Check the base URL, the network connection, and the proxy settings.';
}

/** Returns the end of a sentence: the answer of the service in quotation marks, or a period if the answer is empty. */
function quoteAnswer(said: string): string {
  return said === '' ? '.' : `: "${said}"`;
}

function makeStatusHint(status: number): string {
  if (status === 429)
    return 'Run the command again later, or lower `concurrency`. The service is rate limiting requests.';
  if (status >= 500)
    return 'Run the command again later. The error came from the service or from a gateway in front of it.';
  return "Check the base URL. If it is correct, contact the service's operator.";
}
