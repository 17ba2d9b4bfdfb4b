import {
  ServiceError,
  type NewVersion,
  type PromptFields,
  type RemotePrompt,
  type RemoteVersion,
} from './prompt-service.ts';
import { isPathSegment } from '../domain/text.ts';
import { makeProblem } from '../problem.ts';
import { type Call, conform, InvalidAnswer } from './call.ts';
import { paths, PromptShape, SetActiveAnswerShape, VersionShape, type WireVersion } from './wire.ts';

/** Section 4.1. */
export function readPromptCall(promptId: string, environment?: string): Call<RemotePrompt> {
  const query = environment === undefined ? '' : `?environment=${encodeURIComponent(wellFormed(environment))}`;
  const path = paths.prompt(addressable(promptId)) + query;
  const parse = (value: unknown) => parsePrompt(value, promptId);
  return { method: 'GET', path, body: null, once: false, promptId, parse };
}

/** Section 4.2. */
export function createVersionCall(promptId: string, version: NewVersion): Call<RemoteVersion> {
  const body = { content: version.text, change_summary: version.changeSummary, metadata_: version.metadata };
  const path = paths.versions(addressable(promptId));
  const parse = (value: unknown) => toVersion(conform(VersionShape, value), promptId, 'prompt_id');
  return { method: 'POST', path, body, once: true, promptId, parse };
}

/** Section 4.3. */
export function updatePromptCall(promptId: string, { key, name, description }: PromptFields): Call<RemotePrompt> {
  const body = { key, name, description };
  const path = paths.prompt(addressable(promptId));
  const parse = (value: unknown) => parsePrompt(value, promptId);
  return { method: 'PATCH', path, body, once: false, promptId, parse };
}

/** Section 4.4. */
export function setActiveCall(promptId: string, environment: string, versionId: string): Call<void> {
  const body = { environment, version_id: versionId };
  const path = paths.setActive(addressable(promptId));
  const parse = (value: unknown) => {
    if (conform(SetActiveAnswerShape, value).updated) return;
    throw new ServiceError(makeProblem('service/not-updated', { environment }), 'rejected');
  };
  return { method: 'POST', path, body, once: false, promptId, versionId, parse };
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

/** Interface section 2.1. Another prompt than the one asked for is refused, and so is its version. */
function parsePrompt(value: unknown, promptId: string): RemotePrompt {
  const wire = conform(PromptShape, value);
  if (wire.id !== promptId) throw new InvalidAnswer('"id" names another prompt');
  return {
    id: wire.id,
    key: wire.key,
    name: wire.name,
    description: wire.description ?? '',
    latestVersionId: wire.latest_version_id ?? null,
    activeVersion: wire.active_version ? toVersion(wire.active_version, promptId, 'active_version.prompt_id') : null,
  };
}

/** Interface section 2.2. A version of another prompt than the one asked for is refused. */
function toVersion(wire: WireVersion, promptId: string, field: string): RemoteVersion {
  if (wire.prompt_id !== promptId) throw new InvalidAnswer(`"${field}" names another prompt`);
  return { id: wire.id, number: wire.version_number, text: wire.content, metadata: wire.metadata_ ?? {} };
}
