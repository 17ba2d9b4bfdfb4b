import { isPathSegment } from '../../text.ts';
import { makeProblem } from '../../problem.ts';
import { parseResponse, InvalidResponse } from '../../http/service-call.ts';
import { openConnection, type Connection, type ConnectionOptions } from '../../http/connection.ts';
import type { PromptService, ServicePrompt, ServiceVersion } from './prompt-service.ts';
import { ServiceError } from '../../http/service-error.ts';
import {
  API_KEY_HEADER,
  servicePaths,
  PromptShape,
  SetActiveResponseShape,
  VersionShape,
  type WireVersion,
} from './api-shapes.ts';

export type ClientOptions = ConnectionOptions & { readonly apiKey: string };

/** A client for a four-call service with open connections. The caller must call `close`. */
export type ConnectedService = PromptService & Pick<Connection, 'close'>;

/** Creates a client that calls a four-call service over HTTP (interface sections 4 and 5). Does not send a request. */
export function connectPromptService({ apiKey, ...options }: ClientOptions): ConnectedService {
  const { perform, close } = openConnection(options, { header: { [API_KEY_HEADER]: apiKey }, secrets: [apiKey] });
  return { ...makePromptService(perform), close };
}

function makePromptService(perform: Connection['perform']): PromptService {
  return {
    readPrompt: async (promptId, environment) => {
      const path = servicePaths.prompt(requireAddressableId(promptId)) + makeEnvironmentQuery(environment);
      const parse = (value: unknown) => parsePrompt(value, promptId);
      return perform({ method: 'GET', path, body: null, isSentOnce: false, promptId, parse });
    },
    createVersion: async (promptId, { content: { text, metadata }, changeSummary }) => {
      const body = { content: text, change_summary: changeSummary, metadata_: metadata };
      const path = servicePaths.versions(requireAddressableId(promptId));
      const parse = (value: unknown) => parseServiceVersion(parseResponse(VersionShape, value), promptId, 'prompt_id');
      return perform({ method: 'POST', path, body, isSentOnce: true, promptId, parse });
    },
    updatePrompt: async (promptId, { key, name, description }) => {
      const path = servicePaths.prompt(requireAddressableId(promptId));
      const parse = (value: unknown) => parsePrompt(value, promptId);
      return perform({ method: 'PATCH', path, body: { key, name, description }, isSentOnce: false, promptId, parse });
    },
    setActive: async (promptId, environment, versionId) => {
      const body = { environment, version_id: versionId };
      const path = servicePaths.setActive(requireAddressableId(promptId));
      const parse = (value: unknown) => {
        if (parseResponse(SetActiveResponseShape, value).updated) return;
        throw new ServiceError(makeProblem('service/not-updated', { environment }), 'rejected');
      };
      return perform({ method: 'POST', path, body, isSentOnce: false, promptId, versionId, parse });
    },
  };
}

function makeEnvironmentQuery(environment: string | undefined): string {
  return environment === undefined ? '' : `?environment=${encodeURIComponent(requireWellFormedText(environment))}`;
}

/** Throws a `ServiceError` if the prompt id cannot be sent as a segment of a URL path. */
function requireAddressableId(promptId: string): string {
  if (!isPathSegment(promptId)) throw makeUnaddressableError(promptId);
  return requireWellFormedText(promptId);
}

/** Throws a `ServiceError` if the text contains a lone surrogate, which cannot be percent-encoded. */
function requireWellFormedText(text: string): string {
  if (!text.isWellFormed()) throw makeUnaddressableError(text);
  return text;
}

function makeUnaddressableError(name: string): ServiceError {
  return new ServiceError(makeProblem('service/unaddressable', { name }), 'not-sent');
}

/** Throws if the response contains a different prompt. */
function parsePrompt(value: unknown, promptId: string): ServicePrompt {
  const wire = parseResponse(PromptShape, value);
  if (wire.id !== promptId) throw new InvalidResponse('"id" belongs to a different prompt');
  return {
    id: wire.id,
    key: wire.key,
    name: wire.name,
    description: wire.description ?? '',
    latestVersionId: wire.latest_version_id ?? null,
    activeVersion: wire.active_version
      ? parseServiceVersion(wire.active_version, promptId, 'active_version.prompt_id')
      : null,
  };
}

/** Throws if the version belongs to a different prompt. The error names the `field` with its prompt id. */
function parseServiceVersion(wire: WireVersion, promptId: string, field: string): ServiceVersion {
  if (wire.prompt_id !== promptId) throw new InvalidResponse(`"${field}" belongs to a different prompt`);
  const content = { type: 'text', text: wire.content, metadata: wire.metadata_ ?? {} } as const;
  const createdAt = Date.parse(wire.created_at ?? '');
  return { id: wire.id, number: wire.version_number, content, ...(Number.isFinite(createdAt) && { createdAt }) };
}
