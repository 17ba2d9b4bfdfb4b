import { LANGFUSE } from './langfuse/descriptor.ts';
import { FOUR_CALL_SERVICE } from './four-call/descriptor.ts';
import type { KeySetting, NamedProviderDescriptor, ProviderDescriptor } from './provider-descriptor.ts';

/** The providers that users can select with `service.provider`, by name. To add a provider, add an entry here. */
export const NAMED_PROVIDERS = {
  langfuse: LANGFUSE,
} as const satisfies Readonly<Record<string, NamedProviderDescriptor>>;

/** The provider that promptsync uses if `service.provider` is not set, and for the embedded service. */
export const DEFAULT_PROVIDER = 'integration';

export type NamedProviderName = keyof typeof NAMED_PROVIDERS;
export type ProviderName = typeof DEFAULT_PROVIDER | NamedProviderName;

export const PROVIDERS: Readonly<Record<ProviderName, ProviderDescriptor>> = {
  [DEFAULT_PROVIDER]: FOUR_CALL_SERVICE,
  ...NAMED_PROVIDERS,
};

/** The provider names that `service.provider` and `--provider` accept. */
export const PROVIDER_CHOICES: readonly NamedProviderName[] = Object.keys(NAMED_PROVIDERS).filter(isNamedProvider);

export function isNamedProvider(name: unknown): name is NamedProviderName {
  return typeof name === 'string' && Object.hasOwn(NAMED_PROVIDERS, name);
}

/** The default variable for the key of a four-call service. `promptsync serve` also reads its key from it. */
export const DEFAULT_KEY_VARIABLE = FOUR_CALL_SERVICE.keys.secret.defaultVariable;

/** Returns the settings in the order in which `init` writes them. */
export function listKeySettings({ keys }: ProviderDescriptor): readonly KeySetting[] {
  return [...(keys.public === null ? [] : [keys.public]), keys.secret];
}

export const KEY_SETTINGS: readonly KeySetting[] = Object.values(PROVIDERS).flatMap(listKeySettings);

/** Returns the notes of all providers about one front matter field, for its description in the JSON Schema. */
export function listFieldNotes(field: keyof ProviderDescriptor['fieldNotes']): readonly string[] {
  return Object.values(PROVIDERS).flatMap(({ fieldNotes }) => fieldNotes[field] ?? []);
}
