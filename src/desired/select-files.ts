import type { PromptFile } from '../domain/prompt-file.ts';
import { suggest } from '../domain/suggest.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { makeGlob } from '../files/glob.ts';

type Named = Pick<PromptFile, 'path' | 'key'>;

export type Selection<File = PromptFile> = { readonly files: readonly File[]; readonly problems: readonly Problem[] };

/** The files that any of the selectors names by key, path, or a pattern of either; all of them without a selector. */
export function selectFiles<File extends Named>(files: readonly File[], selectors: readonly string[]): Selection<File> {
  if (selectors.length === 0) return { files, problems: [] };
  const matchers = selectors.map((selector) => ({ selector, matches: matcherOf(selector) }));
  const problems = matchers
    .filter(({ matches }) => !files.some(matches))
    .map(({ selector }) => makeProblem('usage/nothing-selected', { selector, suggestion: nearest(selector, files) }));
  return { files: files.filter((file) => matchers.some(({ matches }) => matches(file))), problems };
}

/** Keys, paths or patterns of either; empty: all. */
export type Selectors = {
  /** As given with `--only`. */
  readonly only: readonly string[];
  /** As given as arguments. */
  readonly named?: readonly string[] | undefined;
};

/** The files that are named and that `--only` selects as well: what narrows a command adds nothing to it. */
export function selectNamed<File extends Named>(
  files: readonly File[],
  { only, named = [] }: Selectors,
): Selection<File> {
  const [within, wanted] = [selectFiles(files, only), selectFiles(files, named)];
  const selected = new Set(within.files);
  const both = wanted.files.filter((file) => selected.has(file));
  const problems = [...within.problems, ...wanted.problems];
  if (both.length > 0 || problems.length > 0 || files.length === 0) return { files: both, problems };
  return {
    files: [],
    problems: named.map((selector) => makeProblem('usage/nothing-selected', { selector, within: only })),
  };
}

function matcherOf(selector: string): (file: Named) => boolean {
  const glob = makeGlob(selector);
  return ({ key, path }) => key === selector || path === selector || glob(key) || glob(path);
}

function nearest(selector: string, files: readonly Named[]): string | undefined {
  return suggest(
    selector,
    files.flatMap(({ key, path }) => [key, path]),
  );
}
