import type { DigestedText } from '../domain/content.ts';
import type { Provider, FileRules } from './provider-interface.ts';
import type { Words } from '../service-words.ts';
import type { ConnectionOptions } from '../http/connection.ts';

/**
 * Everything that the rest of promptsync knows about one kind of service. Only `open` loads the code of the provider,
 * so `--help`, shell completion and `validate` start without it.
 */
export type ProviderDescriptor = {
  /** The name of the service in help texts and messages. */
  readonly title: string;
  readonly words: Words;
  readonly rules: FileRules;
  /** The settings in promptsync.yaml that specify which environment variables contain the keys. */
  readonly keys: ProviderKeys;
  /** The paths of other settings in promptsync.yaml that only this provider supports, such as `service.embedded`. */
  readonly ownSettings: readonly string[];
  /** Null if the service's own tools have no environment variable for its address. */
  readonly defaultAddress: DefaultAddress | null;
  /** Notes for the JSON Schema. The note about `id` is a clause. The others are full sentences. */
  readonly fieldNotes: Readonly<Partial<Record<'id' | 'key' | 'name' | 'type' | 'description', string>>>;
  /** The lines of front matter before `pins` that `init` writes to the example prompt file. */
  readonly exampleFrontMatter: readonly string[];
  /** The same for the example of a chat prompt. Null if the service has no chat prompts. */
  readonly exampleChatFrontMatter: readonly string[] | null;
  /** The arguments of `promptsync import` in messages. They select all prompts if the service can list its prompts. */
  readonly importArguments: string;
  /** Loads the code of the provider and creates its client. Sends no request. */
  readonly open: (opening: ProviderOpening) => Promise<OpenedProvider>;
};

/** The descriptor of a provider that users can select with `service.provider` or `--provider`. */
export type NamedProviderDescriptor = ProviderDescriptor & { readonly defaultAddress: DefaultAddress };

type ProviderKeys = {
  /** The key itself must not appear in any output. */
  readonly secret: KeySetting;
  /** Null if the service has only a secret key. */
  readonly public: KeySetting | null;
  /** The first characters of every secret key. Null if secret keys have no common beginning. */
  readonly secretPrefix: string | null;
};

/** A setting under `service` in promptsync.yaml that names the environment variable with a key. */
export type KeySetting = {
  readonly name: KeySettingName;
  /** The environment variable that promptsync reads if promptsync.yaml does not contain the setting. */
  readonly defaultVariable: string;
  /** The description of the setting in the JSON Schema. */
  readonly description: string;
};

export type KeySettingName = `${string}_key_env`;

/** The default source of a service's address if `service.base_url` is not set. */
export type DefaultAddress = {
  /** In order of precedence. All variables that are set must contain the same address. */
  readonly variables: readonly string[];
  /** The address that questions and hints suggest. promptsync uses it only if the user chooses it. */
  readonly suggestedUrl: string;
};

export type ProviderOpening = {
  readonly connection: ConnectionOptions;
  readonly secretKey: string;
  /** Null if the provider has no public key. */
  readonly publicKey: string | null;
  /** Returns a new unique id for each create call. */
  readonly newOperation: () => string;
  /** Returns the text of a prompt file at a commit, or null if git does not have the file at that commit. */
  readonly textAt: (commit: string, path: string) => Promise<DigestedText | null>;
  /** Returns the path of the file of a prompt that the user did not select. */
  readonly findUnselectedFile: (promptId: string) => string | null;
};

/** A provider with open connections. The caller must call `close`. */
export type OpenedProvider = {
  readonly provider: Provider;
  readonly close: () => Promise<void>;
};
