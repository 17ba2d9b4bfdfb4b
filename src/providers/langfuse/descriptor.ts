import type { NamedProviderDescriptor } from '../provider-descriptor.ts';
import { LANGFUSE_WORDS, langfuseFileRules } from './file-rules.ts';

export const LANGFUSE: NamedProviderDescriptor = {
  title: 'Langfuse',
  words: LANGFUSE_WORDS,
  rules: langfuseFileRules,
  keys: {
    secret: {
      name: 'secret_key_env',
      defaultVariable: 'LANGFUSE_SECRET_KEY',
      description: 'The name of the environment variable that contains the secret key for Langfuse.',
    },
    public: {
      name: 'public_key_env',
      defaultVariable: 'LANGFUSE_PUBLIC_KEY',
      description: 'The name of the environment variable that contains the public key for Langfuse.',
    },
    secretPrefix: 'sk-lf-',
  },
  ownSettings: [],
  defaultAddress: {
    // Langfuse's key page and newer SDKs use the first name, and older SDKs use the second.
    variables: ['LANGFUSE_BASE_URL', 'LANGFUSE_HOST'],
    suggestedUrl: 'https://cloud.langfuse.com',
  },
  fieldNotes: {
    id: 'It is required, except with Langfuse. There, the id is the name of the prompt, including its folders, and by default, promptsync derives it from the path of the file.',
    key: 'It is required, except with Langfuse.',
    type: 'Only Langfuse has chat prompts.',
    name: 'It is required, except with Langfuse: omit it there, because the id serves as the name.',
    description: 'With Langfuse, omit this field, because prompts have no description there.',
  },
  exampleFrontMatter: ['# Example: a sync creates this prompt in Langfuse.', 'id: example/greeting'],
  exampleChatFrontMatter: [
    '# Example of a chat prompt: the application replaces the placeholder with the messages of the conversation.',
    'id: example/agent',
    'type: chat',
  ],
  importArguments: "'**'",
  open: async ({ connection, secretKey, publicKey, findUnselectedFile }) => {
    const { connectLangfuse } = await import('./client.ts');
    const { makeLangfuseProvider } = await import('./provider.ts');
    const service = connectLangfuse(connection, { publicKey: publicKey ?? '', secretKey });
    const provider = makeLangfuseProvider({ service, sleep: connection.sleep, findUnselectedFile });
    return { provider, close: service.close };
  },
};
