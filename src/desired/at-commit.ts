import { extname } from 'node:path';
import { isDigestOf } from '../domain/digest.ts';
import type { ContentAtRef } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { parsePromptFile, type ParseResult } from '../files/parse.ts';
import { gathered, type Gathered } from '../git/driver.ts';
import type { FileAtCommit } from '../git/trees.ts';
import type { Repository } from '../git/repository.ts';
import { isError, makeProblem, type Place, type Problem } from '../problem.ts';

/** A prompt file (from the repository's root) as a commit has it; null where no regular file is there. */
export async function parseAt(repository: Repository, { commit, path }: FileAtCommit): Promise<ParseResult | null> {
  const blob = await repository.blobAt(commit, path);
  if (blob === null) return null;
  const parsed = parsedFiles.get(repository) ?? new Map<string, Promise<ParseResult>>();
  parsedFiles.set(repository, parsed);
  const key = [blob, path].join('\0');
  const result = parsed.get(key) ?? repository.readBlob(blob).then((bytes) => parsePromptFile(bytes, path));
  parsed.set(key, result);
  return result;
}

/** Parsed files, by blob and path. Many commits have the same content, and a large file takes some 20 ms to parse. */
const parsedFiles = new WeakMap<Repository, Map<string, Promise<ParseResult>>>();

/**
 * A prompt file as it was at a commit; null where git has no valid one there. Commit and path (from the repository's
 * root) may come from the service: whatever git makes of them, this does not throw.
 */
export async function fileInGit(repository: Repository | null, commit: string, path: string) {
  if (repository === null) return null;
  try {
    const resolved = await repository.resolveRef(commit);
    return resolved === null ? null : ((await parseAt(repository, { commit: resolved, path }))?.file ?? null);
  } catch {
    return null;
  }
}

/** The file that a version says it was made from, where git has one there that holds the version's text. */
export async function fileOfVersion({ source, digest }: KnownVersion, repository: Repository | null) {
  const { commit, path } = source ?? {};
  const then = commit === undefined || path === undefined ? null : await fileInGit(repository, commit, path);
  return then !== null && isDigestOf(digest, then.content) ? then : null;
}

/**
 * By prompt id and ref: each prompt's content at the refs that its `git:` pins name, or why there is none. Of a prompt
 * with several files (of now, of the base commit) the first has the say.
 */
export async function readContentsAtRefs(files: readonly PromptFile[], repository: Repository | null) {
  const pinned = files.flatMap((file) =>
    file.pins.flatMap(({ pin, line, column }) => {
      return pin.kind === 'git' ? [{ file, ref: pin.ref, place: { path: file.path, line, column } }] : [];
    }),
  );
  const read = await Promise.all(
    pinned.map(async (one) => ({ ...one, at: await contentAt(one.file, one.ref, repository, one.place) })),
  );
  const byId = Map.groupBy(read, ({ file }) => file.id);
  return new Map([...byId].map(([id, all]) => [id, new Map(all.toReversed().map(({ ref, at }) => [ref, at]))]));
}

async function contentAt(
  file: PromptFile,
  ref: string,
  repository: Repository | null,
  place: Place,
): Promise<ContentAtRef | Problem> {
  if (repository === null) return makeProblem('git/needs-repository', { what: `The pin git:${ref}` }, place);
  const commit = await repository.resolveRef(ref);
  if (commit === null) return makeProblem('pin/unknown-ref', { ref }, place);
  const found = await findAt({ id: file.id, path: repository.fromRoot(file.path) }, commit, repository);
  if (typeof found === 'string') return makeProblem('pin/no-prompt-at-ref', { ref, reason: found }, place);
  const last = await repository.lastCommitAt(commit, found.path);
  const summary = last?.changeSummary;
  const provenance = { commit, path: found.path, ...(summary === undefined ? {} : { changeSummary: summary }) };
  return { content: found.file.content, provenance };
}

export type Located = Pick<PromptFile, 'id' | 'path'>;

/** A prompt's file at a commit, and its path there from the repository's root. */
type Found = { readonly file: PromptFile; readonly path: string };

/**
 * A prompt as it was at a commit, found by its id: at the path (from the repository's root), or wherever the file was
 * then. A text says why it is not. Each is looked for once: a commit never changes.
 */
export function findAt(located: Located, commit: string, repository: Repository): Promise<Found | string> {
  const finder = finders.get(repository) ?? makeFinder(repository);
  finders.set(repository, finder);
  const key = [commit, located.id, located.path].join('\0');
  const found = finder.found.get(key) ?? find(located, commit, repository, finder);
  finder.found.set(key, found);
  return found;
}

type Candidate = { readonly path: string; readonly parsed: ParseResult };

type Finder = {
  readonly found: Map<string, Promise<Found | string>>;
  /** Finds the files of a prompt by root tree and prompt id. The group is the ending of the file names. */
  readonly search: Gathered<ReadonlyMap<string, readonly Candidate[]>>;
  /** The root trees that a run has searched, each together with the ending of the file names. */
  readonly searched: Set<string>;
};

/** git reads every file of a tree to find a moved prompt. For 200 trees with 100,000 files each, this takes 30 seconds. */
const MAX_SEARCHED_TREES = 200;

const finders = new WeakMap<Repository, Finder>();

function makeFinder(repository: Repository): Finder {
  const search = gathered(async (wanted, ending = '') => {
    const places = wanted.map((one) => one.split('\0'));
    const trees = new Set(places.map(([tree = '']) => tree));
    const ids = new Set(places.map(([, id = '']) => id));
    const files = await repository.filesHolding([...trees], [...ids], ending);
    const found = files.map(async ({ commit: tree, path }) => {
      const candidates = await candidateAt(repository, tree, path);
      return candidates.map((candidate) => ({ tree, candidate }));
    });
    const byPlace = Map.groupBy((await Promise.all(found)).flat(), ({ tree, candidate: { parsed } }) => {
      return [tree, parsed.file?.id ?? parsed.outline?.id?.value].join('\0');
    });
    return new Map([...byPlace].map(([place, all]) => [place, all.map(({ candidate }) => candidate)]));
  });
  return { found: new Map(), search, searched: new Set() };
}

async function candidateAt(repository: Repository, commit: string, path: string): Promise<readonly Candidate[]> {
  const parsed = await parseAt(repository, { commit, path });
  return parsed === null ? [] : [{ path, parsed }];
}

async function find(located: Located, commit: string, repository: Repository, finder: Finder) {
  const { id, path: own } = located;
  const inPlace = chooseCandidate(await candidateAt(repository, commit, own), located);
  if (inPlace !== null && typeof inPlace !== 'string') return inPlace;
  const tree = await repository.rootTreeAt(commit);
  const ending = extname(own);
  if (!maySearch(tree, ending, finder)) {
    return `it is not at ${own}, and a run searches at most ${MAX_SEARCHED_TREES} commits for moved prompts`;
  }
  const place = [tree, id].join('\0');
  const candidates = (await finder.search(place, ending)).get(place) ?? [];
  const others = candidates.filter(({ path }) => path !== own);
  return chooseCandidate(others, located) ?? inPlace ?? 'no file with its id';
}

function maySearch(tree: string, ending: string, { searched }: Finder): boolean {
  const key = [tree, ending].join('\0');
  if (searched.size < MAX_SEARCHED_TREES) searched.add(key);
  return searched.has(key);
}

/** Returns the prompt's file, or why the last one of the candidates is invalid. Null if none of them stands for the prompt. */
function chooseCandidate(candidates: readonly Candidate[], { id, path: own }: Located): Found | string | null {
  let reason: string | null = null;
  for (const { path, parsed } of candidates) {
    if (parsed.file?.id === id) return { file: parsed.file, path };
    reason = invalidity(parsed, path, id, path === own) ?? reason;
  }
  return reason;
}

/** Why a file that is not readable stands in for the prompt: it has the prompt's id, or its place and no other id. */
function invalidity({ outline, problems }: ParseResult, path: string, id: string, inPlace: boolean): string | null {
  const invalid = problems.find(isError);
  const other = outline?.id?.value ?? (inPlace ? id : null);
  return invalid === undefined || other !== id ? null : `${path} is not valid: ${invalid.message}`;
}
