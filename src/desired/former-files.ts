import type { FormerPin, FormerPins } from '../domain/history.ts';
import { pinText, type Content, type EnvironmentPin, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import type { FileAtCommit } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { findAt, parseAt } from './at-commit.ts';

/** How many earlier states of a file are read. */
const LONGEST_HISTORY = 100;

/** A prompt's file as a commit has left it. */
export type FormerFile = { readonly commit: string; readonly file: PromptFile };

/** The states of a prompt's file up to a commit, under earlier names as well; newest first. */
export async function readFormerFiles(
  { id, path }: Pick<PromptFile, 'id' | 'path'>,
  commit: string,
  repository: Repository,
  most = LONGEST_HISTORY,
): Promise<readonly FormerFile[]> {
  return parseFiles(id, (await repository.whereTouched(commit, repository.fromRoot(path))).slice(0, most), repository);
}

/** How many are read of the branch itself: somebody waits for it, and 500 take two seconds. */
const LONGEST_BRANCH = 500;

/**
 * The states of a prompt's file on the branch of a commit itself, one after the other, newest first; and whether nothing
 * was before the oldest of them.
 */
export async function readMergedFiles(
  { id, path }: Pick<PromptFile, 'id' | 'path'>,
  commit: string,
  repository: Repository,
): Promise<{ readonly files: readonly FormerFile[]; readonly whole: boolean }> {
  const places = (await repository.whereMerged(commit, repository.fromRoot(path))).slice(0, LONGEST_BRANCH);
  const cut = places.length === LONGEST_BRANCH || (await isAtEdge(places.at(-1)?.commit, repository));
  return { files: await parseFiles(id, places, repository), whole: !cut };
}

/** At the edge of a shallow clone every file looks as if it were new. */
async function isAtEdge(commit: string | undefined, repository: Repository): Promise<boolean> {
  return commit !== undefined && repository.shallow && (await repository.resolveRef(`${commit}^`)) === null;
}

/**
 * How each environment of a prompt was pinned up to a commit, newest first. What a branch had before it was merged was
 * asked of no service: it counts by its merge.
 */
export async function readFormerPins(
  { id, path }: Pick<PromptFile, 'id' | 'path'>,
  commit: string,
  repository: Repository,
): Promise<FormerPins> {
  const places = await repository.whereMerged(commit, repository.fromRoot(path));
  return pinsOf(await parseFiles(id, places.slice(0, LONGEST_HISTORY), repository), repository);
}

async function parseFiles(id: string, places: readonly FileAtCommit[], repository: Repository) {
  const parsed = await Promise.all(
    places.map(async ({ commit, path }): Promise<readonly FormerFile[]> => {
      const file = (await parseAt(repository, commit, path))?.file ?? null;
      return file?.id === id ? [{ commit, file }] : [];
    }),
  );
  return parsed.flat();
}

/** How each environment was pinned in these states of a file. */
export async function pinsOf(states: readonly FormerFile[], repository: Repository | null): Promise<FormerPins> {
  const pins = await Promise.all(states.map((state, age) => pinsAt(state, age, repository)));
  const all = Map.groupBy(pins.flat(), ({ environment }) => environment);
  return new Map([...all].map(([environment, list]) => [environment, list.map(({ former }) => former)]));
}

/** How each environment was pinned in one state of a file. */
export function pinsAt(state: FormerFile, age: number, repository: Repository | null) {
  return Promise.all(state.file.pins.map((pin) => formerPin(pin, state, age, repository)));
}

async function formerPin(
  { environment, pin }: EnvironmentPin,
  { commit, file }: FormerFile,
  age: number,
  repository: Repository | null,
) {
  const former: FormerPin = { commit, age, pin, content: await contentOf(pin, file, repository) };
  return { environment, former };
}

async function contentOf(pin: Pin, file: PromptFile, repository: Repository | null): Promise<Content | null> {
  if (pin.kind === 'latest') return file.content;
  if (pin.kind !== 'git' || repository === null) return null;
  const commit = await repository.resolveRef(pin.ref);
  const found = commit === null ? null : await findAt(file, commit, repository);
  return found === null || typeof found === 'string' ? null : found.file.content;
}

/**
 * Without what HEAD itself says where the file says it still: that is no earlier state. Where the file pins more than
 * HEAD does, it is.
 */
export function withoutHead(former: FormerPins, { pins, content }: PromptFile, head: string | null): FormerPins {
  const atHead = new Set([...former].flatMap(([name, [newest]]) => (newest?.commit === head ? [name] : [])));
  if (!pins.every(({ environment }) => atHead.has(environment))) return former;
  const isNow = (environment: string, one: FormerPin): boolean => {
    const now = pins.find((pin) => pin.environment === environment)?.pin;
    const same = now !== undefined && pinText(now) === pinText(one.pin);
    return one.commit === head && same && (one.pin.kind !== 'latest' || one.content?.digest === content.digest);
  };
  return new Map(
    [...former].map(([environment, list]) => {
      return [environment, list.filter((one, index) => index > 0 || !isNow(environment, one))];
    }),
  );
}
