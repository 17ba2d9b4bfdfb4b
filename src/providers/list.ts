import { LANGFUSE } from '../langfuse/descriptor.ts';
import { FOUR_CALL_SERVICE } from '../ledger/descriptor.ts';
import type { KeySetting, NamedProviderDescriptor, ProviderDescriptor } from './descriptor.ts';

/** The providers that `service.provider` can name, by that name. A new provider is one row here. */
export const NAMED_PROVIDERS = {
  langfuse: LANGFUSE,
} as const satisfies Readonly<Record<string, NamedProviderDescriptor>>;

/** The provider of a configuration without `service.provider`, and of the embedded service. */
export const DEFAULT_PROVIDER = 'integration';

export type NamedProviderName = keyof typeof NAMED_PROVIDERS;
export type ProviderName = typeof DEFAULT_PROVIDER | NamedProviderName;

export const PROVIDERS: Readonly<Record<ProviderName, ProviderDescriptor>> = {
  [DEFAULT_PROVIDER]: FOUR_CALL_SERVICE,
  ...NAMED_PROVIDERS,
};

/** The names that `service.provider` and `--provider` take. */
export const PROVIDER_CHOICES: readonly NamedProviderName[] = Object.keys(NAMED_PROVIDERS).filter(isNamedProvider);

/** Whether `service.provider` may have this value. */
export function isNamedProvider(name: unknown): name is NamedProviderName {
  return typeof name === 'string' && Object.hasOwn(NAMED_PROVIDERS, name);
}

/** The variable of the four-call service's key if promptsync.yaml names no other. `serve` reads its key from it, too. */
export const DEFAULT_KEY_VARIABLE = FOUR_CALL_SERVICE.keys.secret.defaultVariable;

/** Returns the key settings of a provider in the order in which `init` writes them: the public key comes first. */
export function listKeySettings({ keys }: ProviderDescriptor): readonly KeySetting[] {
  return [...(keys.public === null ? [] : [keys.public]), keys.secret];
}

/** The key settings of all providers. */
export const KEY_SETTINGS: readonly KeySetting[] = Object.values(PROVIDERS).flatMap(listKeySettings);

/** Returns what the providers say about a field of front matter, for its description. */
export function listFieldNotes(field: keyof ProviderDescriptor['fieldNotes']): readonly string[] {
  return Object.values(PROVIDERS).flatMap(({ fieldNotes }) => fieldNotes[field] ?? []);
}
