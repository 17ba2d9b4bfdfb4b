import type { PromptFile } from './prompt-file.ts';

/** The codes of the warnings that the user accepted. Reports omit these warnings. */
export type AcceptedWarnings = {
  /** The codes that the configuration accepts for all prompts. */
  readonly everywhere: readonly string[];
  /** The codes that each prompt file accepts for its own prompt, by file path. */
  readonly byPath: ReadonlyMap<string, readonly string[]>;
};

export const NO_ACCEPTED_WARNINGS: AcceptedWarnings = { everywhere: [], byPath: new Map() };

/** Collects the accepted warnings. The configuration is null if promptsync could not read it. */
export function collectAcceptedWarnings(
  files: readonly Pick<PromptFile, 'path' | 'acceptWarnings'>[],
  config: { readonly acceptWarnings: readonly string[] } | null,
): AcceptedWarnings {
  return {
    everywhere: config?.acceptWarnings ?? [],
    byPath: new Map(files.map(({ path, acceptWarnings = [] }) => [path, acceptWarnings])),
  };
}
