import { lstat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { EditedPrompt } from '../domain/edits.ts';
import { literalSelector } from '../domain/text.ts';
import type { Observation, Observed } from '../domain/observed.ts';
import type { Environment } from '../domain/policy.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { firstFolder, promptMatcher } from '../files/find.ts';
import { fileNameOf, writeNewFile } from '../files/new-file.ts';
import { firstLink, leaves, slashed } from '../files/paths.ts';
import { chooseImport, type Chosen } from '../planning/choose-import.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** How prompts are imported into a workspace. */
export type ImportRules = {
  readonly config: Config;
  /** For new files, relative to the configuration's folder. */
  readonly folder: string;
  /** Those to pin, in promotion order. */
  readonly environments: readonly Environment[];
  /** Where the text comes from; null: the first environment that serves one. */
  readonly environment: string | null;
};

/** A new file that may be written, or why there is none. */
export type Import = {
  readonly prompt: EditedPrompt;
  /** Null unless the prompt is pending. */
  readonly source: string | null;
  readonly warnings: readonly Problem[];
};

/**
 * Makes the new files of prompts that were read. None takes the place of a file that is there, nor of another new one:
 * the first of two comes in.
 */
export async function makeImports(
  ids: readonly string[],
  observation: Observation,
  existing: readonly Named[],
  rules: ImportRules,
): Promise<readonly Import[]> {
  const made: Import[] = [];
  for (const id of ids) {
    const observed = observation.observed.get(id);
    const accepted = made.filter(({ source }) => source !== null).map(({ prompt }) => prompt);
    made.push(
      observed === undefined ? unread(id, observation) : await makeImport(observed, [...existing, ...accepted], rules),
    );
  }
  return made;
}

/** The new file of one prompt; what else there is in its place is looked at as well. */
async function makeImport(observed: Observed, others: readonly Named[], rules: ImportRules): Promise<Import> {
  const result = newFileOf(observed, rules);
  if (result.source === null) return result;
  const { prompt } = result;
  const problem = conflictWith(prompt, others) ?? (await obstacleAt(prompt.path, rules));
  return problem === null ? result : refused(prompt, 'blocked', problem);
}

/** The new file of one prompt, wherever it goes. */
export function newFileOf({ fields: prompt, active }: Observed, rules: ImportRules): Import {
  const { id, key, name, description } = prompt;
  const path = importPath(rules.folder, key, id);
  const named = { id, key, path };
  const { environments, environment } = rules;
  const chosen = chooseImport({ active }, environments, environment);
  if (chosen === null) {
    const asked = environment === null ? environments.map((one) => one.name) : [environment];
    const evidence = { environments: asked, named: environment !== null };
    return refused(named, 'blocked', makeProblem('import/nothing-active', evidence));
  }
  const { text, metadata } = chosen.content;
  const fields = { id, key, path, name, description };
  const { source, problems } = writeNewFile({ ...fields, text, metadata, pins: chosen.pins });
  if (source === null) return refused(named, 'blocked', ...problems);
  return { prompt: { ...named, status: 'pending', edits: editsOf(chosen), problems: [] }, source, warnings: problems };
}

function editsOf({ pins }: Chosen): EditedPrompt['edits'] {
  const pinned = pins.map(({ environment, pin }) => ({
    kind: 'set-pin' as const,
    ...{ environment, before: null, after: String(pin) },
  }));
  return [{ kind: 'create-file' }, ...pinned];
}

function refused(named: Named, status: 'blocked' | 'failed', ...problems: readonly Problem[]): Import {
  return { prompt: { ...named, status, edits: [], problems }, source: null, warnings: [] };
}

/** A prompt that could not be read has no key and no path that are known. */
function unread(id: string, { failed }: Observation): Import {
  const problem = failed.get(id) ?? makeProblem('internal/unexpected', { reason: 'the prompt was not read' });
  return refused({ path: '', id, key: id }, 'failed', problem);
}

/** Where a prompt's new file goes, and whose place it must not take. */
export type Named = Pick<PromptFile, 'path' | 'id' | 'key'>;

/** A configuration, and the folder for new files relative to its own. */
type Place = { readonly config: Config; readonly folder: string };

/** The folder for new files, relative to the configuration's; by default the one that the first pattern begins with. */
export function importFolder(config: Config, dir: string | undefined): string | Problem {
  const { folder, root } = config;
  const way = dir === undefined ? firstFolder(config) : slashed(relative(folder, resolve(folder, dir)));
  const outside = leaves(slashed(relative(root, resolve(folder, way))));
  return outside ? makeProblem('import/outside', { folder: dir ?? way }) : way;
}

export function importPath(folder: string, key: string, id: string): string {
  return inFolder(folder, fileNameOf(key, id));
}

function inFolder(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Why a new file cannot be where it would be, below a folder for new files; null where it can. */
export async function obstacleAt(path: string, { config, folder: below }: Place): Promise<Problem | null> {
  const { folder, root } = config;
  if (!promptMatcher(config)(path)) return makeProblem('import/not-matched', { path, ...wayOut(path, below, config) });
  const full = resolve(folder, path);
  const link = firstLink(root, dirname(full));
  if (link !== null) return makeProblem('import/symbolic-link', { path: slashed(relative(folder, link)) });
  const there = await lstat(full).catch(() => null);
  return there === null ? null : makeProblem('import/path-taken', { path });
}

/** What would match a new file: another folder for it, or a further pattern. */
function wayOut(path: string, below: string, { folder, patterns }: Config) {
  const name = slashed(relative(below, path));
  const further = inFolder(literalSelector(below), '**/*.md');
  const folders = patterns.map((pattern) => firstFolder({ folder, patterns: [pattern] }));
  const matches = promptMatcher({ folder, patterns });
  return {
    elsewhere: folders.find((one) => matches(inFolder(one, name))) ?? null,
    pattern: promptMatcher({ folder, patterns: [...patterns, further] })(path) ? further : null,
  };
}

/** What a file that is there, or is about to be, has of a new one: its id, its key or its path. */
export function conflictWith({ path, id, key }: Named, others: readonly Named[]): Problem | null {
  const sameId = others.find((other) => same(other.id, id));
  if (sameId !== undefined) {
    return makeProblem('import/known', { what: 'id', value: id, key: sameId.key, other: sameId.path });
  }
  const sameKey = others.find((other) => same(other.key, key));
  if (sameKey !== undefined) return makeProblem('import/known', { what: 'key', value: key, key, other: sameKey.path });
  // Many file systems ignore case.
  const samePath = others.find((other) => same(other.path.toLowerCase(), path.toLowerCase()));
  return samePath === undefined ? null : makeProblem('import/path-taken', { path: samePath.path });
}

function same(one: string, other: string): boolean {
  return one.normalize('NFC') === other.normalize('NFC');
}
