import type { PromptFile } from './prompt-file.ts';

/** Codes of the warnings that a report leaves out. */
export type AcceptedWarnings = {
  /** Accepted by the configuration, for every prompt. */
  readonly everywhere: readonly string[];
  /** Accepted by a prompt file, by its path. */
  readonly byPath: ReadonlyMap<string, readonly string[]>;
};

export const NO_ACCEPTED_WARNINGS: AcceptedWarnings = { everywhere: [], byPath: new Map() };

/** Returns what the configuration and each prompt file accept of their own warnings. */
export function collectAcceptedWarnings(
  files: readonly Pick<PromptFile, 'path' | 'acceptWarnings'>[],
  config: { readonly acceptWarnings: readonly string[] } | null,
): AcceptedWarnings {
  return {
    everywhere: config?.acceptWarnings ?? [],
    byPath: new Map(files.map(({ path, acceptWarnings = [] }) => [path, acceptWarnings])),
  };
}
