import { isPathSegment } from '../domain/text.ts';
import { makeProblem } from '../problem.ts';
import { conform, InvalidAnswer } from './call.ts';
import { openConnection, type Connection, type ConnectionOptions } from './connection.ts';
import { ServiceError, type PromptService, type RemotePrompt, type RemoteVersion } from './prompt-service.ts';
import { API_KEY_HEADER, paths, PromptShape, SetActiveAnswerShape, VersionShape, type WireVersion } from './wire.ts';

export type ClientOptions = ConnectionOptions & { readonly apiKey: string };

/** A service with connections of its own, which have to be closed. */
export type ConnectedService = PromptService & Pick<Connection, 'close'>;

/** The prompt service over HTTP (interface sections 4 and 5). */
export function connect({ apiKey, ...options }: ClientOptions): ConnectedService {
  const { perform, close } = openConnection(options, { header: { [API_KEY_HEADER]: apiKey }, secrets: [apiKey] });
  return { ...promptService(perform), close };
}

function promptService(perform: Connection['perform']): PromptService {
  return {
    readPrompt: async (promptId, environment) => {
      const query = environment === undefined ? '' : `?environment=${encodeURIComponent(wellFormed(environment))}`;
      const path = paths.prompt(addressable(promptId)) + query;
      const parse = (value: unknown) => parsePrompt(value, promptId);
      return perform({ method: 'GET', path, body: null, once: false, promptId, parse });
    },
    createVersion: async (promptId, { text, changeSummary, metadata }) => {
      const body = { content: text, change_summary: changeSummary, metadata_: metadata };
      const path = paths.versions(addressable(promptId));
      const parse = (value: unknown) => toVersion(conform(VersionShape, value), promptId, 'prompt_id');
      return perform({ method: 'POST', path, body, once: true, promptId, parse });
    },
    updatePrompt: async (promptId, { key, name, description }) => {
      const path = paths.prompt(addressable(promptId));
      const parse = (value: unknown) => parsePrompt(value, promptId);
      return perform({ method: 'PATCH', path, body: { key, name, description }, once: false, promptId, parse });
    },
    setActive: async (promptId, environment, versionId) => {
      const body = { environment, version_id: versionId };
      const path = paths.setActive(addressable(promptId));
      const parse = (value: unknown) => {
        if (conform(SetActiveAnswerShape, value).updated) return;
        throw new ServiceError(makeProblem('service/not-updated', { environment }), 'rejected');
      };
      return perform({ method: 'POST', path, body, once: false, promptId, versionId, parse });
    },
  };
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
