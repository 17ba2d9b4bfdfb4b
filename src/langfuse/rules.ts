import type { ProviderRules } from '../domain/provider.ts';

/**
 * What Langfuse takes, from its API reference and from how it behaves. Its check of labels does not cover those that are
 * added to a version, so that it is made here for all.
 */
export const langfuseRules: ProviderRules = {
  findIdFault: (id) => NAME_FAULTS.find(({ is }) => is(id))?.fault ?? null,
  findEnvironmentFault: (environment) => {
    if (environment === 'latest') return 'Langfuse moves this label itself, to each new version';
    return /^[a-z0-9_.-]{1,36}$/.test(environment) ? null : 'a label has 1 to 36 of a-z, 0-9, "_", "." and "-"';
  },
  reservedEnvironments: [],
  hasFields: false,
  canPinIds: false,
};

/** A prompt is addressed by its name as one segment of a path, in which a service or gateway takes steps for what they are. */
const NAME_FAULTS: readonly { readonly is: (name: string) => boolean; readonly fault: string }[] = [
  { is: (name) => name === '.' || name === '..', fault: 'it is a step in a path' },
  { is: (name) => ['new', 'metrics', 'prompt-detail'].includes(name), fault: 'Langfuse keeps this name for itself' },
  { is: (name) => /^\/|\/$|\/\//.test(name), fault: 'expected folders and a name between single slashes' },
  { is: (name) => name.includes('|'), fault: 'it holds "|", which parts names in prompts that are composed' },
  { is: (name) => /<[^>]*>/.test(name), fault: 'it holds an HTML tag' },
  { is: (name) => name !== name.trim(), fault: 'it begins or ends with a blank' },
];
