import { PROMPT_TYPES } from '../../domain/chat.ts';
import type { FileRules } from '../provider-interface.ts';
import type { Words } from '../../service-words.ts';

export const LANGFUSE_WORDS: Words = { service: 'Langfuse', environment: 'label' };

/** The label that Langfuse itself moves to each new version. */
export const LATEST_LABEL = 'latest';

/** The maximum length of a version's commit message, in UTF-16 code units. */
export const MAX_MESSAGE_LENGTH = 500;

/**
 * The rules come from Langfuse's API reference and from tests against a server. Langfuse does not validate a label that
 * is added to an existing version, so promptsync validates all labels itself.
 */
export const langfuseFileRules: FileRules = {
  findIdFault: (id) => NAME_FAULTS.find(({ hasFault }) => hasFault(id))?.fault ?? null,
  findEnvironmentFault: (environment) => {
    if (environment === LATEST_LABEL) return 'Langfuse itself moves this label to each new version';
    return /^[a-z0-9_.-]{1,36}$/.test(environment)
      ? null
      : 'expected 1 to 36 characters from a-z, 0-9, "_", ".", and "-"';
  },
  reservedEnvironments: [],
  hasFields: false,
  findsPromptsByName: true,
  placeholderId: null,
  promptTypes: PROMPT_TYPES,
  canPinIds: false,
  listParts: (text) =>
    [...text.matchAll(COMPOSITION_TAG)].map(([, promptId = '', label = null]) =>
      label === LATEST_LABEL
        ? { promptId, environment: null, isNewest: true }
        : { promptId, environment: label, isNewest: false },
    ),
};

/**
 * Matches a composition tag, such as `@@@langfusePrompt:name=tone|label=production@@@`, which Langfuse replaces with
 * the text of that version. A tag selects a version by a label or a number. A name may contain `@`, but not the
 * characters that end a tag.
 */
const COMPOSITION_TAG = /@@@langfusePrompt:name=((?:(?!@@@)[^|])+)\|(?:version=[0-9]+|label=((?:(?!@@@)[^|])+))@@@/g;

type NameFault = {
  readonly hasFault: (name: string) => boolean;
  /** The clause that describes the fault in a message. */
  readonly fault: string;
};

/** The name is one segment of a URL path. Servers and gateways resolve the segments "." and ".." to other paths. */
const NAME_FAULTS: readonly NameFault[] = [
  { hasFault: (name) => name === '.' || name === '..', fault: '"." and ".." have a special meaning in a URL path' },
  { hasFault: (name) => ['new', 'metrics', 'prompt-detail'].includes(name), fault: 'Langfuse reserves this name' },
  { hasFault: (name) => /^\/|\/$|\/\//.test(name), fault: 'expected folders and a name, separated by single slashes' },
  { hasFault: (name) => name.includes('|'), fault: 'it contains "|", which separates the parts of composition tags' },
  { hasFault: (name) => /<[^>]*>/.test(name), fault: 'it contains an HTML tag' },
  { hasFault: (name) => name !== name.trim(), fault: 'it begins or ends with white space' },
];
