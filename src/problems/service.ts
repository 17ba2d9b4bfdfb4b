import { defineError, defineWarning, formatCount } from './catalog-entry.ts';

/** The problems of reading from the service and of writing to it. */
export const SERVICE_PROBLEMS = {
  // The service
  'service/unreachable': defineError<{ origin: string; reason: string }>(
    (e) => `The service at ${e.origin} cannot be reached (${e.reason}).`,
    (e) => makeUnreachableHint(e.reason),
  ),
  'service/no-answer': defineError<{ origin: string; requests: number; seconds: number; reason: string }>(
    (e) =>
      `The service at ${e.origin} did not respond within ${e.seconds} s to ${formatCount(e.requests, 'request')} (${e.reason}). promptsync sent no more requests.`,
    'Check the base URL, the proxy settings and firewalls. If the service is only slow, raise `timeout_seconds`.',
  ),
  'service/connection-lost': defineError<{ reason: string }>(
    (e) => `The connection to the service was lost before the response was complete (${e.reason}).`,
    'Run the command again.',
  ),
  'service/timeout': defineError<{ seconds: number }>(
    (e) => `The service did not respond within ${e.seconds} s.`,
    'Run the command again, or raise `timeout_seconds`.',
  ),
  'service/not-authorised': defineError<{ promptId: string }>(
    (e) => `The service does not accept the API key for the prompt "${e.promptId}" (403).`,
    'Check the variable that holds the API key. The key may be wrong, missing, read-only, or from another project.',
  ),
  'service/prompt-not-found': defineError<{ promptId: string }>(
    (e) => `The service has no prompt "${e.promptId}" (404).`,
    (e) =>
      e.promptId.includes(',')
        ? 'Separate ids with spaces, not with commas.'
        : 'Check the id and the base URL. If the service assigns the ids, create the prompt there and use the id that it shows.',
  ),
  'service/none-found': defineError<{
    service: string;
    /** The paths of the API, such as `/v1/` and `/api/public/`. */
    interfacePaths: string;
  }>(
    (e) => `The service at ${e.service} has none of the prompts in these files (404).`,
    (e) =>
      `Check the base URL. It must end before the path of the API (${e.interfacePaths}). A gateway that has no prompts also responds with 404.`,
  ),
  'service/cannot-list': defineError(
    'The service cannot list its prompts.',
    'Name prompts by their ids, without the characters * ? [ and {. Look up the ids in the service.',
  ),
  'service/version-not-found': defineError<{ promptId: string; versionId: string }>(
    (e) => `The service has no prompt "${e.promptId}" with a version "${e.versionId}" (404).`,
    'Check the pin. A version belongs to exactly one prompt.',
  ),
  'service/redirect': defineError<{ status: number }>(
    (e) => `The service responded with a redirect (${e.status}), which promptsync does not follow.`,
    'Set the base URL to the final address, because promptsync sends the API key only to the configured origin.',
  ),
  'service/unexpected-status': defineError<{
    status: number;
    /** The beginning of the response body. Empty if the response has no readable body. */
    said: string;
  }>(
    (e) =>
      e.said === ''
        ? `The service responded with status ${e.status}.`
        : `The service responded with status ${e.status}: ${e.said}`,
    (e) => makeStatusHint(e.status),
  ),
  'service/invalid-answer': defineError<{ reason: string }>(
    (e) => `The response of the service is not valid: ${e.reason}.`,
    'Check that the base URL is the address of the prompt service itself, not of a gateway or a web page.',
  ),
  'service/unaddressable': defineError<{ name: string }>(
    (e) => `promptsync cannot use "${e.name}" in the address of a request.`,
    'Use an id that is one path segment, without / \\ ? # % and spaces. The segments "." and ".." are not allowed.',
  ),
  'service/not-updated': defineError<{ environment: string }>(
    (e) => `The service did not set the active version of "${e.environment}" (updated: false).`,
    'Run the command again. If the problem persists, contact the operator of the service.',
  ),
  'service/not-asked': defineWarning<{ reason: string }>(
    (e) => `promptsync did not contact the service, because ${e.reason}.`,
    'Note that the plan only compares the files with the state that the base commit declares. It shows neither drift nor version numbers, and nothing about environments that the base does not pin.',
  ),
  'service/drops-metadata': defineWarning<{ environment: string }>(
    (e) =>
      `The version in "${e.environment}" has no record of promptsync. Either the service drops \`metadata_\`, or somebody activated another version in that environment.`,
    'Expect limits while the record is missing. promptsync keeps texts in sync but does not compare metadata, you cannot pin the number of an inactive version, and a revert creates a new version.',
  ),

  // Writing
  'apply/changed-meanwhile': defineError<{ environment: string }>(
    (e) => `promptsync activated a version in "${e.environment}" to read it, but the service returned another version.`,
    'Run the command again. Somebody else is probably writing at the same time.',
  ),
  'apply/not-active': defineError<{ environment: string; expected: string; found: string }>(
    (e) => `promptsync activated ${e.expected} in "${e.environment}", but the environment serves ${e.found}.`,
    'Look at the prompt in the service, then run the command again. Somebody else may be writing at the same time.',
  ),
  'apply/fields-differ': defineError<{ fields: readonly string[] }>(
    (e) => `The service did not keep the values that promptsync sent for these fields: ${e.fields.join(', ')}.`,
    'Ask the operator of the service which values it allows, and write the file in the form that the service keeps.',
  ),
  'apply/newest-unreadable': defineError<{ id: string }>(
    (e) =>
      `The service names "${e.id}" as the newest version, but it also says that this version does not exist (404).`,
    'Run the command again. promptsync created no version, because the newest version may already have this text. If the problem persists, create a version in the service, so that it becomes the newest one.',
  ),
  'apply/other-content': defineError<{
    version: string;
    /** The record that the version should match, such as "its entry in the ledger". */
    known: string;
  }>(
    (e) => `Version ${e.version} does not match ${e.known}. promptsync did not make it active.`,
    'Look at the version in the service. To continue, make a version with the right text active there yourself, or check a version and pin it with `version:<id>`.',
  ),
  'apply/unreviewed-metadata': defineError<{ version: string }>(
    (e) =>
      `Version ${e.version} appeared while promptsync applied this plan. It has the planned text but not the metadata that was reviewed, so promptsync did not make it active.`,
    'Review the plan again, which now shows this version with its metadata. Then apply that plan.',
  ),
  'apply/rewritten': defineError<{ version: string }>(
    (e) =>
      `The service stored other content than promptsync sent (version ${e.version}). promptsync did not make it active.`,
    'Ask the operator of the service what it changes in texts or metadata, and write the prompt in the form that the service keeps.',
  ),
  'apply/outcome-unknown': defineError<{ reason: string }>(
    (e) => `promptsync does not know whether the service created the version: ${e.reason}`,
    'Run the command again. Before promptsync creates a version, it looks at the newest one in the service.',
  ),
  'apply/somebody-else-wrote': defineError<{ id: string; number: number; reason: string }>(
    (e) =>
      `promptsync does not know whether the service created the version: ${e.reason} Somebody else has created v${e.number} (id ${e.id}) since then, so promptsync made nothing active.`,
    (e) =>
      `Look at the versions before v${e.number} in the service. If one of them has this text, make it active in an environment that is pinned to \`latest\`, or pin it with \`version:<id>\`. Then run the command again. If you do neither, the next run creates a new version.`,
  ),
  'apply/keeps-changing': defineError(
    'Somebody is changing the prompt in the service. promptsync planned it a second time, but it changed again.',
    'Wait until nobody else changes the prompt, then run the command again.',
  ),
  'apply/interrupted': defineError(
    'The run was interrupted, so promptsync did not write the rest.',
    'Run the command again. It continues where it stopped.',
  ),
};

/** Returns the hint for a service that cannot be reached. A setting of Node can only solve one cause: an unknown certificate authority. */
function makeUnreachableHint(reason: string): string {
  return /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(reason)
    ? 'If your own authority issued the certificate of the service, set NODE_EXTRA_CA_CERTS to the certificate file of that authority.'
    : 'Check the base URL, the network and the proxy settings.';
}

function makeStatusHint(status: number): string {
  if (status === 401) return 'Check the variable that holds the API key. The service probably rejected the key.';
  if (status === 429) return 'Run the command again later, or lower `concurrency`. The service limits requests.';
  if (status >= 500) return 'Run the command again later. The service or a gateway in front of it failed.';
  return 'Check the base URL. If it is right, contact the operator of the service.';
}
