import picomatch from 'picomatch';
import type { PromptFile } from '../domain/prompt-file.ts';
import { suggest } from '../domain/suggest.ts';
import { makeProblem, type Problem } from '../problem.ts';

export type Selection = { readonly files: readonly PromptFile[]; readonly problems: readonly Problem[] };

/** The files that any of the selectors names by key, path, or a pattern of either; all of them without a selector. */
export function selectFiles(files: readonly PromptFile[], selectors: readonly string[]): Selection {
  if (selectors.length === 0) return { files, problems: [] };
  const matchers = selectors.map((selector) => ({ selector, matches: matcherOf(selector) }));
  const problems = matchers
    .filter(({ matches }) => !files.some(matches))
    .map(({ selector }) => makeProblem('usage/nothing-selected', { selector, suggestion: nearest(selector, files) }));
  return { files: files.filter((file) => matchers.some(({ matches }) => matches(file))), problems };
}

function matcherOf(selector: string): (file: PromptFile) => boolean {
  const glob = globOf(selector);
  return ({ key, path }) => key === selector || path === selector || glob(key) || glob(path);
}

/** What picomatch does not take for a pattern, such as an empty text, matches nothing. */
function globOf(selector: string): (text: string) => boolean {
  try {
    return picomatch(selector);
  } catch {
    return () => false;
  }
}

function nearest(selector: string, files: readonly PromptFile[]): string | undefined {
  return suggest(
    selector,
    files.flatMap(({ key, path }) => [key, path]),
  );
}
