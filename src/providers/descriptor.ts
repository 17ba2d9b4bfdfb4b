import type { DigestedText } from '../domain/content.ts';
import type { ContentAtRef } from '../domain/plan.ts';
import type { Provider, ProviderRules } from '../domain/provider.ts';
import type { ConnectionOptions } from '../service/connection.ts';

/**
 * Everything that the rest of promptsync knows about one kind of service. Only `open` loads the code of the provider, so
 * `--help`, completion and `validate` start without its client.
 */
export type ProviderDescriptor = {
  /** The name of the service in help texts and messages. */
  readonly title: string;
  readonly rules: (trackingEnvironment: string) => ProviderRules;
  readonly keys: ProviderKeys;
  /** The paths of further settings that promptsync.yaml takes for this provider only, such as `service.embedded`. */
  readonly ownSettings: readonly string[];
  /** Null if promptsync.yaml or `PROMPTSYNC_BASE_URL` must name the address. */
  readonly defaultAddress: DefaultAddress | null;
  /** The path under which the service has its interface, such as `/v1/`. A base URL ends before it. */
  readonly interfacePath: string;
  /** Remarks for the JSON Schema of front matter. That of `id` is a clause, the others are sentences. */
  readonly fieldNotes: Readonly<Partial<Record<'id' | 'key' | 'name' | 'description', string>>>;
  /** The first lines of the example prompt file that `init` writes, from its comment to its last field before `pins`. */
  readonly exampleFrontMatter: readonly string[];
  /** Connects to the service. Sends nothing. */
  readonly open: (opening: ProviderOpening) => Promise<OpenedProvider>;
};

/** A provider that `service.provider` and `--provider` can name. */
export type NamedProviderDescriptor = ProviderDescriptor & { readonly defaultAddress: DefaultAddress };

type ProviderKeys = {
  /** The key that no output may contain. */
  readonly secret: KeySetting;
  /** Null if the service has a single key. */
  readonly public: KeySetting | null;
};

/** A setting below `service` in promptsync.yaml that names the variable of a key. */
export type KeySetting = {
  readonly name: KeySettingName;
  /** The variable if promptsync.yaml leaves the setting out. */
  readonly defaultVariable: string;
  /** Explains the setting in the JSON Schema. */
  readonly description: string;
};

export type KeySettingName = `${string}_key_env`;

/** Where the service is if nobody names an address. */
export type DefaultAddress = {
  /** The variable that replaces a `service.base_url` that is not set. */
  readonly variable: string;
  /** The address that `init` suggests if that variable is not set. */
  readonly url: string;
  /** Explains both in the help of `init --url`, such as `EXAMPLE_HOST, else its cloud`. */
  readonly help: string;
};

/** What a provider receives to connect to its service. */
export type ProviderOpening = {
  readonly connection: ConnectionOptions;
  readonly secretKey: string;
  /** Null if the provider has no public key. */
  readonly publicKey: string | null;
  readonly trackingEnvironment: string;
  /** Returns a text that is unique to each call. */
  readonly newOperation: () => string;
  /** Returns the content of a prompt file at a commit. Returns null if git does not have it. */
  readonly textAt: (commit: string, path: string) => Promise<DigestedText | null>;
  /**
   * Returns every content that a prompt file had up to a commit or up to HEAD, each with the commit that left it. Returns
   * null if git may not have all of them, as in a shallow clone.
   */
  readonly readFormerContents: (commit: string, path: string) => Promise<readonly ContentAtRef[] | null>;
  /** Waits that many milliseconds. Rejects if the run is interrupted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** A provider with the connections that its caller has to close. */
export type OpenedProvider = {
  readonly provider: Provider;
  readonly close: () => Promise<void>;
};
