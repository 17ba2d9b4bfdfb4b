import { DEFAULT_WORDS } from '../../service-words.ts';
import type { ProviderDescriptor } from '../provider-descriptor.ts';
import { fourCallFileRules } from './file-rules.ts';

export const FOUR_CALL_SERVICE: ProviderDescriptor = {
  title: 'a four-call service',
  words: DEFAULT_WORDS,
  rules: fourCallFileRules,
  keys: {
    secret: {
      name: 'api_key_env',
      defaultVariable: 'PROMPTSYNC_API_KEY',
      description: 'The name of the environment variable that contains the API key. Do not write the key itself here.',
    },
    public: null,
    secretPrefix: null,
  },
  ownSettings: ['service.embedded'],
  defaultAddress: null,
  fieldNotes: {},
  exampleFrontMatter: [
    'id: prm_example_greeting',
    'key: example/greeting',
    'name: Example greeting',
    'description: First message a customer sees.',
  ],
  exampleChatFrontMatter: null,
  importArguments: 'ID…',
  open: async ({ connection, secretKey, newOperation, textAt }) => {
    const { connectPromptService } = await import('./client.ts');
    const { makeFourCallProvider } = await import('./provider.ts');
    const service = connectPromptService({ ...connection, apiKey: secretKey });
    const provider = makeFourCallProvider({
      service,
      newOperation,
      textAt,
      sleep: connection.sleep,
    });
    return { provider, close: service.close };
  },
};
