import { connectLangfuse } from '../../src/providers/langfuse/client.ts';
import { makeLangfuseProvider } from '../../src/providers/langfuse/provider.ts';
import { makeFourCallProvider } from '../../src/providers/four-call/provider.ts';
import { connectPromptService } from '../../src/providers/four-call/client.ts';
import { MAIN, type Service } from '../faults/calls.ts';
import { integration } from '../faults/integration.ts';
import { langfuse } from '../faults/langfuse.ts';
import { KEY } from '../support/service.ts';
import { PUBLIC_KEY, SECRET_KEY } from './langfuse-server.ts';
import { describeProviderContract, type ContractPrompt } from './provider-contract.ts';

let operations = 0;
const sleep = async () => {};
const connection = { concurrency: 4, timeoutSeconds: 5, environment: {}, now: () => 0, random: () => 0, sleep };

/** Opens a double and its main prompt. */
async function openDouble({ open }: Service): Promise<ContractPrompt> {
  const double = await open();
  return {
    ...{ baseUrl: double.baseUrl, promptId: MAIN, close: double.close },
    versions: async () => double.versions(),
    active: async (environment) => double.active(MAIN, environment),
    add: async (text, environment) => double.add(text, environment),
  };
}

describeProviderContract({
  name: integration.name,
  createsPrompts: false,
  open: () => openDouble(integration),
  connectTo: (baseUrl) => {
    const service = connectPromptService({ ...connection, baseUrl, apiKey: KEY });
    const system = { newOperation: () => `op_${++operations}`, textAt: async () => null };
    return { provider: makeFourCallProvider({ ...system, service, sleep }), close: service.close };
  },
});

describeProviderContract({
  name: langfuse.name,
  createsPrompts: true,
  open: () => openDouble(langfuse),
  connectTo: (baseUrl) => {
    const keys = { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY };
    const service = connectLangfuse({ ...connection, baseUrl }, keys);
    return {
      provider: makeLangfuseProvider({ service, sleep, findUnselectedFile: () => null }),
      close: service.close,
    };
  },
});
