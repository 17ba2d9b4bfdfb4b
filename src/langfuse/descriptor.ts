import type { NamedProviderDescriptor } from '../providers/descriptor.ts';
import { langfuseRules } from './rules.ts';

/** Langfuse as the rest of promptsync knows it. */
export const LANGFUSE: NamedProviderDescriptor = {
  title: 'Langfuse',
  rules: () => langfuseRules,
  keys: {
    secret: {
      name: 'secret_key_env',
      defaultVariable: 'LANGFUSE_SECRET_KEY',
      description: "The NAME of the variable that holds Langfuse's secret key.",
    },
    public: {
      name: 'public_key_env',
      defaultVariable: 'LANGFUSE_PUBLIC_KEY',
      description: "The NAME of the variable that holds Langfuse's public key.",
    },
  },
  ownSettings: [],
  defaultAddress: {
    variable: 'LANGFUSE_HOST',
    url: 'https://cloud.langfuse.com',
    help: 'LANGFUSE_HOST, else its cloud',
  },
  interfacePath: '/api/public/',
  fieldNotes: {
    id: 'in Langfuse its name, with its folders',
    key: 'With Langfuse optional.',
    name: 'Not for Langfuse.',
    description: 'Not for Langfuse.',
  },
  exampleFrontMatter: [
    '# An example, which a sync creates in Langfuse. `promptsync import <name>` writes the file of a prompt that is there.',
    'id: example/greeting',
  ],
  open: async ({ connection, secretKey, publicKey, readFormerContents, sleep }) => {
    const { connectLangfuse } = await import('./client.ts');
    const { makeLangfuseProvider: langfuseProvider } = await import('./provider.ts');
    const service = connectLangfuse(connection, { publicKey: publicKey ?? '', secretKey });
    return { provider: langfuseProvider({ service, readFormerContents, sleep }), close: service.close };
  },
};
