import { defineError, defineWarning } from './catalog-entry.ts';

/** What can go wrong in asking the service, and in writing to it. */
export const SERVICE_PROBLEMS = {
  // The service
  'service/unreachable': defineError<{ origin: string; reason: string }>(
    (e) => `The service at ${e.origin} cannot be reached (${e.reason}).`,
    (e) => makeUnreachableHint(e.reason),
  ),
  'service/no-answer': defineError<{ origin: string; requests: number; seconds: number; reason: string }>(
    (e) =>
      `The service at ${e.origin} has answered nothing: ${e.requests} ${e.requests === 1 ? 'request' : 'requests'} ` +
      `had ${e.seconds} s each (${e.reason}). No more were sent.`,
    'Check the base URL, the proxy settings and firewalls. Where the service is merely slow, raise `timeout_seconds`.',
  ),
  'service/connection-lost': defineError<{ reason: string }>(
    (e) => `The connection to the service was lost before its answer was complete (${e.reason}).`,
    'Run again.',
  ),
  'service/timeout': defineError<{ seconds: number }>(
    (e) => `The service did not answer within ${e.seconds} s.`,
    'Run again, or raise `timeout_seconds`.',
  ),
  'service/not-authorised': defineError<{ promptId: string }>(
    (e) => `The service does not accept the API key for prompt "${e.promptId}" (403).`,
    'The key may be wrong, missing, of another project, or one that only reads: check the variable that holds it.',
  ),
  'service/prompt-not-found': defineError<{ promptId: string }>(
    (e) => `The service has no prompt "${e.promptId}" (404).`,
    (e) =>
      e.promptId.includes(',')
        ? 'Separate ids with blanks, not with commas.'
        : 'Check the id and the base URL. Where the service gives the id, create the prompt there, and use the id that it shows.',
  ),
  'service/none-found': defineError<{ service: string; interfacePaths: string }>(
    (e) => `The service at ${e.service} has none of the prompts that it was asked for (404).`,
    (e) =>
      `Is the base URL right? It ends where ${e.interfacePaths}, begins; a gateway that knows nothing of prompts answers 404 as well.`,
  ),
  'service/cannot-list': defineError(
    'The service cannot list its prompts.',
    'Name prompts by their ids, without * ? [ and {; the service itself shows which it has.',
  ),
  'service/version-not-found': defineError<{ promptId: string; versionId: string }>(
    (e) => `The service has no prompt "${e.promptId}" with a version "${e.versionId}" (404).`,
    'Check the pin; a version belongs to one prompt.',
  ),
  'service/redirect': defineError<{ status: number }>(
    (e) => `The service answered with a redirect (${e.status}), which is not followed.`,
    'Set the base URL to the final address: the API key is sent to the configured origin only.',
  ),
  'service/unexpected-status': defineError<{ status: number; said: string }>(
    (e) => `The service answered with status ${e.status}${e.said === '' ? '.' : `; it said: ${e.said}`}`,
    (e) => makeStatusHint(e.status),
  ),
  'service/invalid-answer': defineError<{ reason: string }>(
    (e) => `The service's answer breaks its interface: ${e.reason}.`,
    'Check that the base URL is the prompt service itself and not a gateway or a web page.',
  ),
  'service/unaddressable': defineError<{ name: string }>(
    (e) => `"${e.name}" cannot be part of an address of the service.`,
    'An id is one segment of a path: without / \\ ? # % and blanks, and neither "." nor "..".',
  ),
  'service/not-updated': defineError<{ environment: string }>(
    (e) => `The service did not set the active version of "${e.environment}" (updated: false).`,
    'Run again; if it stays, ask whoever runs the service.',
  ),
  'service/not-asked': defineWarning<{ reason: string }>(
    (e) => `The service was not asked: ${e.reason}.`,
    'The plan compares with what the base commit wants; drift, numbers and what the base does not pin are not known.',
  ),
  'service/drops-metadata': defineWarning<{ environment: string }>(
    (e) =>
      `The version in "${e.environment}" carries no record of promptsync's: the service drops \`metadata_\`, or somebody moved that environment.`,
    'Texts are kept in sync. Metadata is not compared, numbers of versions that are active nowhere cannot be pinned, and a revert makes a new version.',
  ),

  // Writing
  'apply/changed-meanwhile': defineError<{ environment: string }>(
    (e) => `The version looked at through "${e.environment}" is another one than was asked for.`,
    'Somebody else is writing at the same time: run again.',
  ),
  'apply/not-active': defineError<{ environment: string; expected: string; found: string }>(
    (e) => `After it was set, "${e.environment}" serves ${e.found} instead of ${e.expected}.`,
    'Somebody else may be writing at the same time: look at the prompt in the service, then run again.',
  ),
  'apply/fields-differ': defineError<{ fields: readonly string[] }>(
    (e) => `The service answers with another value than was sent for: ${e.fields.join(', ')}.`,
    'Ask whoever runs the service what it allows there; write the file in the form that it keeps.',
  ),
  'apply/newest-unreadable': defineError<{ id: string }>(
    (e) => `The service names "${e.id}" as its newest version, and says that there is none (404).`,
    'It may hold this very text, so none was made. Run again; if it stays, make a version in the service, which is then the newest.',
  ),
  'apply/other-content': defineError<{ version: string; known: string }>(
    (e) => `Version ${e.version} is not what ${e.known}; it was not made active.`,
    'Look at the version in the service. To go on, make a version that holds the right text active there yourself, or pin `version:<id>` of one that you have checked.',
  ),
  'apply/unreviewed-metadata': defineError<{ version: string }>(
    (e) =>
      `Version ${e.version} appeared while this plan was applied. It has the planned text, but other metadata than the review has shown; promptsync did not activate it.`,
    'Review the plan again: it shows this version with its metadata. Then apply that plan.',
  ),
  'apply/rewritten': defineError<{ version: string }>(
    (e) => `The service stored something else than was sent (version ${e.version}); it was not made active.`,
    'Ask whoever runs the service what it changes in texts or metadata; write the prompt in the form that it keeps.',
  ),
  'apply/outcome-unknown': defineError<{ reason: string }>(
    (e) => `It is not known whether the version was created: ${e.reason}`,
    'Run again: before a version is made, the newest one in the service is looked at.',
  ),
  'apply/somebody-else-wrote': defineError<{ id: string; number: number; reason: string }>(
    (e) =>
      `It is not known whether the version was created: ${e.reason} Since then somebody else made v${e.number} (id ${e.id}); nothing was made active.`,
    'Look at the versions before it in the service: if one holds this text, make it active in an environment that is pinned to `latest`, or pin `version:<id>`. Then run again; without it a new version is made.',
  ),
  'apply/keeps-changing': defineError(
    'The prompt is being changed in the service: it was planned afresh once, and has changed again.',
    'Wait until nobody else writes to it, then run again.',
  ),
  'apply/interrupted': defineError('Interrupted; the rest was not written.', 'Run again: it goes on where it stopped.'),
};

/** An authority that is not known is the one reason that a setting of Node's takes away. */
function makeUnreachableHint(reason: string): string {
  return /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(reason)
    ? 'If its certificate is of an authority of your own, name the file of that in NODE_EXTRA_CA_CERTS.'
    : 'Check the base URL, the network and the proxy settings.';
}

function makeStatusHint(status: number): string {
  if (status === 401) return 'The API key was probably refused: check the variable that holds it.';
  if (status === 429) return 'The service limits requests: run again later, or lower `concurrency`.';
  if (status >= 500) return 'The service or a gateway before it failed: run again later.';
  return 'Check that the base URL is right; otherwise ask whoever runs the service.';
}
