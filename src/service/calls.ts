import {
  ServiceError,
  type NewVersion,
  type PromptFields,
  type RemotePrompt,
  type RemoteVersion,
} from '../domain/prompt-service.ts';
import type { JsonObject } from '../domain/json.ts';
import { isPathSegment } from '../domain/text.ts';
import { makeProblem } from '../problem.ts';
import { parseAnswer, parsePrompt, parseUpdated, parseVersion } from './answers.ts';
import type { Subject } from './errors.ts';
import type { Recall } from './recall.ts';
import { paths } from './wire.ts';

/** One call of the interface as a value: what to send, how to read the answer, whether it may be repeated. */
export type Call<Answer> = Subject & {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly body: JsonObject | null;
  /** Creating a version twice makes two versions, so it is sent once and on a fresh connection. */
  readonly once: boolean;
  /** Takes the body of a 2xx answer. Throws `InvalidAnswer`. */
  readonly parse: (body: Uint8Array) => Answer;
};

/** Section 4.1. */
export function readPromptCall(
  promptId: string,
  environment: string | undefined,
  recall: Recall<RemotePrompt>,
): Call<RemotePrompt> {
  const query = environment === undefined ? '' : `?environment=${encodeURIComponent(wellFormed(environment))}`;
  const path = paths.prompt(addressable(promptId)) + query;
  const read = promptIn(promptId);
  const parse = (body: Uint8Array) => recall(promptId, body, () => read(body));
  return { method: 'GET', path, body: null, once: false, promptId, parse };
}

/** Section 4.2. */
export function createVersionCall(promptId: string, version: NewVersion): Call<RemoteVersion> {
  const { text, metadata, changeSummary } = version;
  const body = {
    content: text,
    ...(changeSummary !== undefined && { change_summary: changeSummary }),
    metadata_: metadata,
  };
  const path = paths.versions(addressable(promptId));
  const parse = (answer: Uint8Array) => parseAnswer(answer, (value) => parseVersion(value, promptId));
  return { method: 'POST', path, body, once: true, promptId, parse };
}

/** Section 4.3. */
export function updatePromptCall(promptId: string, { key, name, description }: PromptFields): Call<RemotePrompt> {
  const body = {
    ...(key !== undefined && { key }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  };
  const path = paths.prompt(addressable(promptId));
  return { method: 'PATCH', path, body, once: false, promptId, parse: promptIn(promptId) };
}

/** Section 4.4. */
export function setActiveCall(promptId: string, environment: string, versionId: string): Call<void> {
  const body = { environment, version_id: versionId };
  const path = paths.setActive(addressable(promptId));
  const parse = (answer: Uint8Array) => {
    if (!parseAnswer(answer, parseUpdated))
      throw new ServiceError(makeProblem('service/not-updated', { environment }), 'rejected');
  };
  return { method: 'POST', path, body, once: false, promptId, versionId, parse };
}

function promptIn(promptId: string): (body: Uint8Array) => RemotePrompt {
  return (body) => parseAnswer(body, (value) => parsePrompt(value, promptId));
}

function addressable(promptId: string): string {
  if (!isPathSegment(promptId)) throw unaddressable(promptId);
  return wellFormed(promptId);
}

function wellFormed(text: string): string {
  if (!text.isWellFormed()) throw unaddressable(text);
  return text;
}

function unaddressable(name: string): ServiceError {
  return new ServiceError(makeProblem('service/unaddressable', { name }), 'not-sent');
}
