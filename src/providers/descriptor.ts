import type { DigestedText } from '../domain/content.ts';
import type { ContentAtRef } from '../domain/plan.ts';
import type { Provider, ProviderRules } from '../domain/provider.ts';
import type { ConnectionOptions } from '../service/connection.ts';

/**
 * Everything that the rest of promptsync knows about one kind of service. Only `open` loads the code of the provider,
 * so `--help`, completion and `validate` start without its client.
 */
export type ProviderDescriptor = {
  /** The name of the service in help texts and messages. */
  readonly title: string;
  /** Returns the rules of the service for ids and environments. */
  readonly rules: (trackingEnvironment: string) => ProviderRules;
  /** The settings in promptsync.yaml that name the variables of the keys. */
  readonly keys: ProviderKeys;
  /** The paths of other settings that only this provider has in promptsync.yaml, such as `service.embedded`. */
  readonly ownSettings: readonly string[];
  /** The address of the service if the user sets none. Null if the user must set `service.base_url`. */
  readonly defaultAddress: DefaultAddress | null;
  /** The path under which the service has its interface, such as `/v1/`. A base URL ends before it. */
  readonly interfacePath: string;
  /**
   * Remarks for the JSON Schema of front matter. The remark on `id` is a clause, and the other remarks are sentences.
   */
  readonly fieldNotes: Readonly<Partial<Record<'id' | 'key' | 'name' | 'description', string>>>;
  /**
   * The first lines of the example prompt file that `init` writes, from its comment to its last field before `pins`.
   */
  readonly exampleFrontMatter: readonly string[];
  /** Connects to the service. Sends nothing. */
  readonly open: (opening: ProviderOpening) => Promise<OpenedProvider>;
};

/** A provider that `service.provider` and `--provider` can name. */
export type NamedProviderDescriptor = ProviderDescriptor & { readonly defaultAddress: DefaultAddress };

type ProviderKeys = {
  /** The setting for the secret key. No output may contain this key. */
  readonly secret: KeySetting;
  /** The setting for the public key. Null if the service has only a secret key. */
  readonly public: KeySetting | null;
};

/** A setting under `service` in promptsync.yaml that names the environment variable of a key. */
export type KeySetting = {
  readonly name: KeySettingName;
  /** The environment variable that promptsync reads if promptsync.yaml does not have the setting. */
  readonly defaultVariable: string;
  /** The description of the setting in the JSON Schema. */
  readonly description: string;
};

export type KeySettingName = `${string}_key_env`;

/** The address of a service if the user sets none. */
export type DefaultAddress = {
  /** The environment variable that promptsync reads if `service.base_url` is not set. */
  readonly variable: string;
  /** The address that `init` suggests if the environment variable is not set. */
  readonly url: string;
  /** The default address in the help of `init --url`, such as `EXAMPLE_HOST, or else Example Cloud`. */
  readonly help: string;
};

/** The input that a provider needs to connect to its service. */
export type ProviderOpening = {
  readonly connection: ConnectionOptions;
  readonly secretKey: string;
  /** Null if the provider has no public key. */
  readonly publicKey: string | null;
  readonly trackingEnvironment: string;
  /** Returns a text that is unique to each call. */
  readonly newOperation: () => string;
  /** Returns the text of a prompt file at a commit. Returns null if git does not have the file at that commit. */
  readonly textAt: (commit: string, path: string) => Promise<DigestedText | null>;
  /**
   * Returns every content that a prompt file had up to a commit or up to HEAD, each with the commit that wrote it.
   * Returns null if git may lack some of these contents, as in a shallow clone.
   */
  readonly readFormerContents: (commit: string, path: string) => Promise<readonly ContentAtRef[] | null>;
  /** Waits for the given number of milliseconds. Rejects if the run is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** A provider with the connections that its caller has to close. */
export type OpenedProvider = {
  readonly provider: Provider;
  readonly close: () => Promise<void>;
};
