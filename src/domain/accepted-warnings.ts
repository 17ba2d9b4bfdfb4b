import type { PromptFile } from './prompt-file.ts';

/** The codes of the warnings that a report omits, because the user accepted them. */
export type AcceptedWarnings = {
  /** The codes that the configuration accepts for every prompt. */
  readonly everywhere: readonly string[];
  /** The codes that each prompt file accepts for itself, by the path of the file. */
  readonly byPath: ReadonlyMap<string, readonly string[]>;
};

export const NO_ACCEPTED_WARNINGS: AcceptedWarnings = { everywhere: [], byPath: new Map() };

/**
 * Collects the codes of the warnings that the configuration and the prompt files accept.
 * @param config the configuration; null if promptsync could not read it
 */
export function collectAcceptedWarnings(
  files: readonly Pick<PromptFile, 'path' | 'acceptWarnings'>[],
  config: { readonly acceptWarnings: readonly string[] } | null,
): AcceptedWarnings {
  return {
    everywhere: config?.acceptWarnings ?? [],
    byPath: new Map(files.map(({ path, acceptWarnings = [] }) => [path, acceptWarnings])),
  };
}
