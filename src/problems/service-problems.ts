import { formatCount, joinCodeNames, joinQuotedNames, joinWords } from '../text.ts';
import { addArticle, capitalize, type Words } from '../service-words.ts';
import { defineError, defineWarning, endSentence } from './catalog-entry.ts';

export const SERVICE_PROBLEMS = {
  // The service
  'service/unreachable': defineError<{ origin: string; reason: string }>(
    (e, w) => `promptsync could not reach ${w.service} at ${e.origin} (${e.reason}).`,
    (e, w) => makeUnreachableHint(e.reason, w),
  ),
  'service/no-answer': defineError<{ origin: string; requests: number; seconds: number; reason: string }>(
    (e, w) =>
      `promptsync stopped sending requests because ${w.service} at ${e.origin} did not respond to ${formatCount(e.requests, 'request')} within ${formatCount(e.seconds, 'second')} (${e.reason}).`,
    (_, w) =>
      `Check the base URL, the proxy settings, and any firewalls. If ${w.service} is slow, increase \`timeout_seconds\` in \`promptsync.yaml\`.`,
  ),
  'service/connection-lost': defineError<{ reason: string }>(
    (e, w) => `The connection to ${w.service} was lost before the response was complete (${e.reason}).`,
    'Run the command again.',
  ),
  'service/timeout': defineError<{ seconds: number }>(
    (e, w) => `${capitalize(w.service)} did not respond within ${formatCount(e.seconds, 'second')}.`,
    'Run the command again, or increase `timeout_seconds` in `promptsync.yaml`.',
  ),
  'service/not-authorised': defineError<{
    status: number;
    /** Null if the request was not about a single prompt. */
    promptId: string | null;
    /** The error message of the service. Empty if there is none. */
    said: string;
    /** Where the user put the keys, such as "the variable PROMPTSYNC_API_KEY". */
    keySources: readonly string[];
  }>(
    (e, w) => {
      // A service that rejects a key with 401 rejects it for all prompts. Omit the prompt, so that reports show the
      // problem once.
      const request = e.status === 401 || e.promptId === null ? '' : ` for the prompt "${e.promptId}"`;
      return `${capitalize(w.service)} rejected the API key${request} (${e.status})${quoteAnswer(e.said)}`;
    },
    (e) =>
      `Check the API key in ${joinWords(e.keySources, 'and')}. The key might be wrong, expired, read-only, or meant for a different project or base URL.`,
  ),
  'service/prompt-not-found': defineError<{ promptId: string }>(
    (e, w) => `${capitalize(w.service)} has no prompt with the id "${e.promptId}" (404).`,
    (e, w) =>
      e.promptId.includes(',')
        ? 'Separate ids with spaces, not commas.'
        : `Check the id in the file. If the prompt does not exist in ${w.service}, for example because it was deleted, either create it there and put its id in the file, or delete the file to retire the prompt. If this error appears for all prompts, check the address that \`promptsync doctor\` shows. It must not include an API path such as \`/v1/\`, and \`service.provider\` must name the right kind of service.`,
  ),
  'service/cannot-list': defineError<{
    /** Whether the user wants to list orphans. Otherwise, the user wants to import prompts. */
    isForOrphans: boolean;
  }>(
    (_, w) => `${capitalize(w.service)} does not support listing prompts.`,
    (e, w) =>
      e.isForOrphans
        ? 'Omit `--orphans`.'
        : `Specify prompt ids instead of patterns. You can find the ids in ${w.service}.`,
  ),
  'service/version-not-found': defineError<{ promptId: string; versionId: string }>(
    (e, w) => `${capitalize(w.service)} could not find version "${e.versionId}" of the prompt "${e.promptId}" (404).`,
    'Make sure that the version id in the pin is correct and belongs to this prompt.',
  ),
  'service/redirect': defineError<{
    status: number;
    /** The origin that the redirect leads to. Null if the response does not name one. */
    target: string | null;
    /** Whether the redirect leads to the configured origin, for example to a login page. */
    isSameOrigin: boolean;
  }>(
    (e, w) =>
      `${capitalize(w.service)} returned a redirect (${e.status})${e.target === null ? '' : ` to "${e.target}"`}, which promptsync does not follow.`,
    (e, w) =>
      e.isSameOrigin
        ? `Check the path in the base URL: ${w.service} redirects to another path on the same server. If ${w.service} is behind a login proxy, make sure that the proxy lets through requests that carry the API key.`
        : `Set the base URL to the address that ${w.service} redirects to. promptsync sends the API key only to the configured origin, so it does not follow redirects.`,
  ),
  'service/unexpected-status': defineError<{
    status: number;
    /** The error message in the response, or the beginning of its body. Empty if there is neither. */
    said: string;
  }>(
    (e, w) => `${capitalize(w.service)} returned status ${e.status}${quoteAnswer(e.said)}`,
    (e, w) => makeStatusHint(e.status, w),
  ),
  'service/invalid-answer': defineError<{ reason: string }>(
    (e, w) => `${capitalize(w.service)} returned an invalid response: ${e.reason}.`,
    (_, w) => `Make sure that the base URL is the address of ${w.service}, not of a gateway or a web page.`,
  ),
  'service/unaddressable': defineError<{ name: string }>(
    (e) => `promptsync cannot use the id "${e.name}" in a request URL.`,
    'Use an id that does not contain spaces or any of the characters `/`, `\\`, `?`, `#`, or `%`. The ids "." and ".." are not allowed either.',
  ),
  'service/not-updated': defineError<{ environment: string }>(
    (e, w) => `${capitalize(w.service)} did not activate the version in "${e.environment}" (\`updated: false\`).`,
    (_, w) => `Run the command again. If the problem persists, contact the team that runs ${w.service}.`,
  ),
  'service/not-asked': defineWarning<{ reason: string }>(
    (e, w) => `promptsync did not contact ${w.service} because ${e.reason}.`,
    (_, w) =>
      `To compare the files with ${w.service}, run promptsync with an API key and without \`--offline\`. This plan compares the files only with the base commit. It does not show drift or version numbers, and it omits ${w.environment}s that are not pinned in the base commit.`,
  ),
  'service/drops-metadata': defineWarning<{ environment: string }>(
    (e, w) =>
      `The active version in "${e.environment}" does not contain a promptsync record. Either ${w.service} does not store \`metadata_\`, or the version was not created by promptsync.`,
    (_, w) =>
      `If someone activated a version that promptsync did not create, reactivate the previously active version. If ${w.service} does not store \`metadata_\`, you can still sync text, but with these limits: promptsync does not compare metadata, cannot pin an inactive version by number, and creates a new version each time you restore earlier text.`,
  ),

  // Writing
  'apply/changed-meanwhile': defineError<{ environment: string }>(
    (e, w) =>
      `To read a version, promptsync activated it in "${e.environment}", but ${w.service} returned a different version.`,
    'Run the command again. Someone else was probably changing the prompt at the same time.',
  ),
  'apply/not-active': defineError<{ environment: string; expected: string; found: string }>(
    (e) => `promptsync activated ${e.expected} in "${e.environment}", but "${e.environment}" now serves ${e.found}.`,
    (_, w) =>
      `Check the prompt in ${w.service}, then run the command again. Someone else might have changed the prompt at the same time.`,
  ),
  'apply/fields-differ': defineError<{ fields: readonly string[] }>(
    (e, w) =>
      `${capitalize(w.service)} did not store the values that promptsync sent for ${joinCodeNames(e.fields, 'and')}.`,
    (_, w) => `Ask the team that runs ${w.service} which values are allowed, then use one of them in the file.`,
  ),
  'apply/newest-unreadable': defineError<{ id: string }>(
    (e, w) =>
      `${capitalize(w.service)} listed "${e.id}" as the newest version but then reported that this version does not exist (404). promptsync did not create another version, because "${e.id}" might already contain the file's text.`,
    (_, w) =>
      `Run the command again. If promptsync still cannot read the newest version, create another version in ${w.service}. promptsync then reads that version instead.`,
  ),
  'apply/other-content': defineError<{
    version: string;
    /** The record that the version should match, such as "its entry in the ledger". */
    known: string;
  }>(
    (e) => `Version ${e.version} does not match ${e.known}, so promptsync did not activate it.`,
    (_, w) =>
      `Check the text of this version in ${w.service}. If it is correct, activate the version there. If it is wrong, pin or activate a version with the correct text.`,
  ),
  'apply/unreviewed-metadata': defineError<{ version: string }>(
    (e) =>
      `Someone created version ${e.version} while promptsync was applying this plan. The version has the planned text but not the reviewed metadata, so promptsync did not activate it.`,
    'Create a new plan, which will show this version and its metadata. Review it, then apply it.',
  ),
  'apply/rewritten': defineError<{
    version: string;
    /** The environments that the service moved to the version when creating it. */
    environments: readonly string[];
  }>(
    (e, w) =>
      `The content of version ${e.version} in ${w.service} differs from the content that promptsync sent${
        e.environments.length === 0
          ? ', so promptsync did not activate the version.'
          : `, and the version is already active in ${joinQuotedNames(e.environments, 'and')}.`
      }`,
    (_, w) =>
      `Ask the team that runs ${w.service} how ${w.service} alters the text or metadata of a version. Then edit the file so that the prompt exactly matches what ${w.service} stores.`,
  ),
  'apply/outcome-unknown': defineError<{ reason: string }>(
    (e, w) => `promptsync could not determine whether ${w.service} created the version. ${endSentence(e.reason)}`,
    (_, w) =>
      `Run the command again. promptsync checks the newest version in ${w.service} before it creates another one.`,
  ),
  'apply/somebody-else-wrote': defineError<{ id: string; number: number; reason: string }>(
    (e, w) =>
      `promptsync sent a new version but could not determine whether ${w.service} created it. ${endSentence(e.reason)} In the meantime, someone else created v${e.number} (id ${e.id}), so promptsync activated neither that version nor its own.`,
    (e, w) =>
      `In ${w.service}, look for a version older than v${e.number} whose text matches the file. If you find one, either pin it with \`version:<id>\`, or activate it in ${addArticle(w.environment)} that the file pins to \`latest\`. Then run the command again. If you do not find one, run the command again anyway to create a new version.`,
  ),
  'apply/keeps-changing': defineError(
    (_, w) =>
      `The prompt keeps changing in ${w.service}. promptsync made a new plan once, but the prompt changed again, so promptsync did not write any changes.`,
    'Wait until the other changes are complete, then run the command again.',
  ),
  'apply/interrupted': defineError(
    'The run was interrupted before promptsync could apply all changes.',
    'Run the command again to apply the remaining changes.',
  ),
};

/** A setting of Node can only solve one cause: an unknown certificate authority. */
function makeUnreachableHint(reason: string, { service }: Words): string {
  return /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(reason)
    ? `If your own certificate authority issued ${service}'s certificate, set \`NODE_EXTRA_CA_CERTS\` to the path of that authority's certificate file.`
    : 'Check the base URL, the network connection, and the proxy settings.';
}

/** Returns the end of a sentence: the answer of the service in quotation marks, or a period if the answer is empty. */
function quoteAnswer(said: string): string {
  return said === '' ? '.' : `: "${said}"`;
}

function makeStatusHint(status: number, w: Words): string {
  if (status === 429)
    return `${capitalize(w.service)} is rate-limiting requests. Try again later, or lower \`concurrency\` in \`promptsync.yaml\`.`;
  if (status === 413)
    return `Shorten the prompt's text or metadata, or split the prompt. ${capitalize(w.service)}, or a gateway in front of it, does not accept requests this large.`;
  if (status >= 500)
    return `Try again later. If the problem persists, contact the team that runs ${w.service} or the gateway in front of it.`;
  return `Check the base URL. If it is correct, contact the team that runs ${w.service}.`;
}
