import { connectPromptService } from '../../src/providers/four-call/client.ts';
import { makeFourCallProvider } from '../../src/providers/four-call/provider.ts';
import { MAIN } from '../faults/calls.ts';
import { integration } from '../faults/integration.ts';
import { KEY } from '../support/service.ts';
import { describeProviderContract } from './provider-contract.ts';

let operations = 0;
const sleep = async () => {};
const connection = { concurrency: 4, timeoutSeconds: 5, environment: {}, now: () => 0, random: () => 0, sleep };

describeProviderContract({
  name: integration.name,
  createsPrompts: false,
  open: async () => {
    const double = await integration.open();
    return {
      ...{ baseUrl: double.baseUrl, promptId: MAIN, close: double.close },
      versions: async () => double.versions(),
      active: async (environment) => double.active(MAIN, environment),
      add: async (text, environment) => double.add(text, environment),
    };
  },
  connectTo: (baseUrl) => {
    const service = connectPromptService({ ...connection, baseUrl, apiKey: KEY });
    const system = { newOperation: () => `op_${++operations}`, textAt: async () => null };
    return { provider: makeFourCallProvider({ ...system, service, sleep }), close: service.close };
  },
});
