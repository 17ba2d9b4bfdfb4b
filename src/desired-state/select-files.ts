import { resolve } from 'node:path';
import type { Config } from '../workspace/config.ts';
import type { PromptIdentity } from '../domain/prompt-file.ts';
import { suggestNames } from '../domain/suggest-name.ts';
import type { System } from '../domain/system.ts';
import { makeGlobMatcher } from '../workspace/glob.ts';
import { leavesFolder, makeRelativePath } from '../workspace/paths.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** An argument that selects prompts. */
export type Selector = {
  /** The argument as the user typed it: a key, a path, a folder, or a pattern that matches keys or paths. */
  readonly text: string;
  /** Read from the working directory, and then made relative to the folder of the configuration. */
  readonly pathFromHere: string;
};

export function parseSelector(
  text: string,
  { folder }: Pick<Config, 'folder'>,
  { workingDirectory }: Pick<System, 'workingDirectory'>,
): Selector {
  return { text, pathFromHere: makeRelativePath(folder, resolve(workingDirectory, text)) };
}

export type Selection<File> = { readonly files: readonly File[]; readonly unmatched: readonly string[] };

type SelectorTest = (file: PromptIdentity) => boolean;

/**
 * Selects the files that match at least one selector, or all files if there are no selectors. A selector is tried as a
 * key, a pattern of keys, and a folder of keys. Then it is tried as a path, a pattern of paths, and a folder: first
 * from the working directory, then from the folder of the configuration. The first meaning that matches any file
 * decides.
 */
export function selectFiles<File extends PromptIdentity>(
  files: readonly File[],
  selectors: readonly Selector[],
): Selection<File> {
  return selectByTests(files, selectors, ({ text, pathFromHere }) => [
    makeNameTest(text, 'key'),
    makeFolderTest(text, 'key'),
    makeNameTest(pathFromHere, 'path'),
    makeFolderTest(pathFromHere, 'path'),
    makeNameTest(text, 'path'),
    makeFolderTest(text, 'path'),
  ]);
}

/** Selects the prompts whose keys match at least one name or pattern. An empty list selects all prompts. */
export function selectKeys<Prompt extends PromptIdentity>(
  prompts: readonly Prompt[],
  patterns: readonly string[],
): Selection<Prompt> {
  const selectors = patterns.map((text) => ({ text, pathFromHere: text }));
  return selectByTests(prompts, selectors, ({ text }) => [makeNameTest(text, 'key')]);
}

/** The first test that any file passes decides. An empty argument, usually an unset variable, selects nothing. */
function selectByTests<File extends PromptIdentity>(
  files: readonly File[],
  selectors: readonly Selector[],
  listTests: (selector: Selector) => readonly SelectorTest[],
): Selection<File> {
  if (selectors.length === 0) return { files, unmatched: [] };
  const selections = selectors.map((selector) => {
    const firstTest = selector.text === '' ? undefined : listTests(selector).find((test) => files.some(test));
    return { selector, selected: firstTest === undefined ? [] : files.filter(firstTest) };
  });
  const selectedFiles = new Set(selections.flatMap(({ selected }) => selected));
  return {
    files: files.filter((file) => selectedFiles.has(file)),
    unmatched: selections.filter(({ selected }) => selected.length === 0).map(({ selector }) => selector.text),
  };
}

/** The user may have meant one of `invalidPaths`, because the key of an invalid file may be unreadable. */
export function makeUnmatchedProblems(
  { unmatched }: Pick<Selection<unknown>, 'unmatched'>,
  files: readonly PromptIdentity[],
  selects: 'files' | 'names',
  invalidPaths: readonly string[] = [],
): readonly Problem[] {
  return unmatched.map((selector) => {
    const suggestions = suggestSelectors(selector, files);
    return makeProblem('usage/nothing-selected', { selector, suggestions, selects, invalidPaths });
  });
}

/** Suggests the key for an id of a prompt. Users try ids, because `import` accepts them. */
function suggestSelectors(selector: string, files: readonly PromptIdentity[]): readonly string[] {
  const fileWithId = files.find(({ id }) => id === selector);
  if (fileWithId !== undefined) return [fileWithId.key];
  const names = files.flatMap(({ key, path }) => [key, path]).filter((name) => name !== '');
  return suggestNames(selector, [...new Set([...names, ...names.flatMap(listParentFolders)])]);
}

/** Returns all folders above a key or a path, such as `team` and `team/support` for `team/support/refund`. */
function listParentFolders(name: string): readonly string[] {
  const folders = name.split('/').slice(0, -1);
  return folders.map((_, index) => folders.slice(0, index + 1).join('/'));
}

/** Wildcards match a dot at the start of a name, because prompts in the service may have such names. */
function makeNameTest(name: string, field: 'key' | 'path'): SelectorTest {
  const glob = makeGlobMatcher(name, 'matched');
  return ({ [field]: text }) => text === name || glob(text);
}

/** The folder `.` contains every path that does not lead out of the folder of the configuration. */
function makeFolderTest(folder: string, field: 'key' | 'path'): SelectorTest {
  if (folder === '' && field === 'path') return ({ path }) => !leavesFolder(path);
  const prefix = `${folder.replace(/^(?:\.\/)+/, '').replace(/(?<!\/)\/+$/, '')}/`;
  return ({ [field]: text }) => text.startsWith(prefix);
}
