import { afterAll, beforeAll } from 'vitest';
import { connectLangfuse } from '../../src/providers/langfuse/client.ts';
import { makeLangfuseProvider } from '../../src/providers/langfuse/provider.ts';
import { describeProviderContract } from '../doubles/provider-contract.ts';
import { openLangfuseServer, type LangfuseServer, type ServerVersion } from './server.ts';
import { setTimeout } from 'node:timers/promises';

let server: LangfuseServer;
beforeAll(async () => void (server = await openLangfuseServer()));
afterAll(() => server.close());

const sleep = (milliseconds: number): Promise<void> => setTimeout(milliseconds);
const connection = { concurrency: 4, timeoutSeconds: 15, environment: {}, now: Date.now, random: Math.random, sleep };

describeProviderContract({
  name: 'Langfuse, through its public API',
  createsPrompts: true,
  open: async () => {
    const promptId = server.newName();
    const findActive = async (label: string): Promise<ServerVersion | null> =>
      (await server.versions(promptId)).find(({ labels }) => labels.includes(label)) ?? null;
    return {
      ...{ baseUrl: server.baseUrl, promptId, active: findActive },
      versions: () => server.versions(promptId),
      add: (text, label) => server.create(promptId, text, label === undefined ? [] : [label]),
      close: async () => {},
    };
  },
  connectTo: (baseUrl) => {
    const service = connectLangfuse({ ...connection, baseUrl }, server.keys);
    return {
      provider: makeLangfuseProvider({ service, sleep, findUnselectedFile: () => null }),
      close: service.close,
    };
  },
});
