import type { ProviderRules } from '../domain/provider.ts';

/**
 * The rules of Langfuse, from its API reference and from tests against a server. Langfuse checks labels only when it
 * creates a version, not when a label is added to an existing version. Therefore promptsync checks all labels itself.
 */
export const langfuseRules: ProviderRules = {
  findIdFault: (id) => NAME_FAULTS.find(({ hasFault }) => hasFault(id))?.fault ?? null,
  findEnvironmentFault: (environment) => {
    if (environment === 'latest') return 'Langfuse itself moves this label to each new version';
    return /^[a-z0-9_.-]{1,36}$/.test(environment)
      ? null
      : 'expected 1 to 36 characters from a-z, 0-9, "_", "." and "-"';
  },
  reservedEnvironments: [],
  hasFields: false,
  canPinIds: false,
};

/** A check that finds one fault of a prompt name. */
type NameFault = {
  readonly hasFault: (name: string) => boolean;
  /** The clause that a message shows if the name has the fault. */
  readonly fault: string;
};

/**
 * The faults of prompt names. A name is one segment of a URL path, in which servers and gateways resolve "." and "..".
 */
const NAME_FAULTS: readonly NameFault[] = [
  { hasFault: (name) => name === '.' || name === '..', fault: '"." and ".." have a special meaning in a URL path' },
  { hasFault: (name) => ['new', 'metrics', 'prompt-detail'].includes(name), fault: 'Langfuse reserves this name' },
  { hasFault: (name) => /^\/|\/$|\/\//.test(name), fault: 'expected folders and a name, separated by single slashes' },
  { hasFault: (name) => name.includes('|'), fault: 'it contains "|", which separates the parts of composition tags' },
  { hasFault: (name) => /<[^>]*>/.test(name), fault: 'it contains an HTML tag' },
  { hasFault: (name) => name !== name.trim(), fault: 'it begins or ends with white space' },
];
