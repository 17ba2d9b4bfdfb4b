import { LANGFUSE } from '../langfuse/descriptor.ts';
import { FOUR_CALL_SERVICE } from '../ledger/descriptor.ts';
import type { KeySetting, NamedProviderDescriptor, ProviderDescriptor } from './descriptor.ts';

/** The providers that `service.provider` can name, by name. To add a provider, add one row. */
export const NAMED_PROVIDERS = {
  langfuse: LANGFUSE,
} as const satisfies Readonly<Record<string, NamedProviderDescriptor>>;

/** The provider of a configuration without `service.provider`, and of the embedded service. */
export const DEFAULT_PROVIDER = 'integration';

export type NamedProviderName = keyof typeof NAMED_PROVIDERS;
export type ProviderName = typeof DEFAULT_PROVIDER | NamedProviderName;

/** The descriptors of all providers, by name. */
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

/**
 * The default variable for the key of a four-call service. `promptsync serve` also reads its key from this variable.
 */
export const DEFAULT_KEY_VARIABLE = FOUR_CALL_SERVICE.keys.secret.defaultVariable;

/** Returns the key settings of a provider in the order in which `init` writes them: the public key comes first. */
export function listKeySettings({ keys }: ProviderDescriptor): readonly KeySetting[] {
  return [...(keys.public === null ? [] : [keys.public]), keys.secret];
}

/** The key settings of all providers. */
export const KEY_SETTINGS: readonly KeySetting[] = Object.values(PROVIDERS).flatMap(listKeySettings);

/** Returns the remarks of all providers on a field of front matter, for the description of the field. */
export function listFieldNotes(field: keyof ProviderDescriptor['fieldNotes']): readonly string[] {
  return Object.values(PROVIDERS).flatMap(({ fieldNotes }) => fieldNotes[field] ?? []);
}
