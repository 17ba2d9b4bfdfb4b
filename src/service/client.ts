import { createVersionCall, readPromptCall, setActiveCall, updatePromptCall } from './calls.ts';
import { openConnection, type Connection, type ConnectionOptions } from './connection.ts';
import type { PromptService } from './prompt-service.ts';
import { API_KEY_HEADER } from './wire.ts';

export type ClientOptions = ConnectionOptions & { readonly apiKey: string };

/** A service with connections of its own, which have to be closed. */
export type ConnectedService = PromptService & Pick<Connection, 'close'>;

/** The prompt service over HTTP (interface sections 4 and 5). */
export function connect({ apiKey, ...options }: ClientOptions): ConnectedService {
  const { perform, close } = openConnection(options, { header: { [API_KEY_HEADER]: apiKey }, secrets: [apiKey] });
  return {
    readPrompt: async (promptId, environment) => perform(readPromptCall(promptId, environment)),
    createVersion: async (promptId, version) => perform(createVersionCall(promptId, version)),
    updatePrompt: async (promptId, fields) => perform(updatePromptCall(promptId, fields)),
    setActive: async (promptId, environment, versionId) => perform(setActiveCall(promptId, environment, versionId)),
    close,
  };
}
