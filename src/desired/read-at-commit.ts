import { extname } from 'node:path';
import { matchesDigest } from '../domain/content.ts';
import type { DesiredState } from '../domain/desired-state.ts';
import type { ContentAtRef } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { parsePromptFile, type ParseResult } from '../files/parse-prompt-file.ts';
import { batchCalls, type BatchedCall } from '../git/open-git.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import type { Repository } from '../git/open-repository.ts';
import { isError, makeProblem, type Place } from '../problem.ts';

/** A prompt file (from the repository's root) as a commit has it; null where no regular file is there. */
export async function parseFileAtCommit(
  repository: Repository,
  { commit, path }: FileAtCommit,
): Promise<ParseResult | null> {
  const blob = await repository.findBlobId(commit, path);
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
export async function readFileFromGit(
  repository: Repository | null,
  commit: string,
  path: string,
): Promise<PromptFile | null> {
  if (repository === null) return null;
  try {
    const resolved = await repository.resolveRef(commit);
    return resolved === null ? null : ((await parseFileAtCommit(repository, { commit: resolved, path }))?.file ?? null);
  } catch {
    return null;
  }
}

/** Returns the file that a version says it was made from, or null if git has no file there that holds the version's text. */
export async function readSourceFile(
  { source, digest }: KnownVersion,
  repository: Repository | null,
): Promise<PromptFile | null> {
  const { commit, path } = source ?? {};
  const then = commit === undefined || path === undefined ? null : await readFileFromGit(repository, commit, path);
  return then !== null && matchesDigest(digest, then.content) ? then : null;
}

/**
 * Reads the content of each prompt at the refs that its `git:` pins name, by prompt id and ref. If a prompt has several
 * files (the one of the work tree and the one of the base), the first one decides what a ref means.
 */
export async function readContentsAtRefs(
  files: readonly PromptFile[],
  repository: Repository | null,
): Promise<DesiredState['contentsAtRefs']> {
  const pinned = files.flatMap((file) =>
    file.pins.flatMap(({ pin, line, column }) => {
      return pin.kind === 'git' ? [{ file, ref: pin.ref, place: { path: file.path, line, column } }] : [];
    }),
  );
  const read = await Promise.all(
    pinned.map(async (one) => ({ ...one, at: await readContentAtRef(one.file, one.ref, repository, one.place) })),
  );
  const byId = Map.groupBy(read, ({ file }) => file.id);
  return new Map([...byId].map(([id, all]) => [id, new Map(all.toReversed().map(({ ref, at }) => [ref, at]))]));
}

async function readContentAtRef(
  file: PromptFile,
  ref: string,
  repository: Repository | null,
  place: Place,
): Promise<Result<ContentAtRef>> {
  if (repository === null) {
    return makeFailure(makeProblem('git/needs-repository', { what: `The pin git:${ref}` }, place));
  }
  const commit = await repository.resolveRef(ref);
  if (commit === null) return makeFailure(makeProblem('pin/unknown-ref', { ref }, place));
  const found = await findFileAtCommit({ id: file.id, path: repository.toRootPath(file.path) }, commit, repository);
  if (found.kind === 'missing') {
    return makeFailure(makeProblem('pin/no-prompt-at-ref', { ref, reason: found.reason }, place));
  }
  const last = await repository.findLastCommit(commit, found.path);
  const summary = last?.changeSummary;
  const provenance = { commit, path: found.path, ...(summary === undefined ? {} : { changeSummary: summary }) };
  return makeSuccess({ content: found.file.content, provenance });
}

export type PromptLocation = Pick<PromptFile, 'id' | 'path'>;

/** A prompt's file at a commit, with its path there from the repository's root. Or the reason why the commit has none. */
type FileSearch =
  | { readonly kind: 'found'; readonly file: PromptFile; readonly path: string }
  | { readonly kind: 'missing'; readonly reason: string };

/**
 * Finds a prompt by its id in a commit: at the path (from the repository's root), or wherever the file was then. Searches
 * for each prompt once, because a commit never changes.
 */
export function findFileAtCommit(located: PromptLocation, commit: string, repository: Repository): Promise<FileSearch> {
  const finder = finders.get(repository) ?? makeFinder(repository);
  finders.set(repository, finder);
  const key = [commit, located.id, located.path].join('\0');
  const found = finder.found.get(key) ?? findInTrees(located, commit, repository, finder);
  finder.found.set(key, found);
  return found;
}

type Candidate = { readonly path: string; readonly parsed: ParseResult };

type Finder = {
  readonly found: Map<string, Promise<FileSearch>>;
  /** Finds the files of a prompt by root tree and prompt id. The group is the ending of the file names. */
  readonly search: BatchedCall<ReadonlyMap<string, readonly Candidate[]>>;
  /** The root trees that a run has searched, each together with the ending of the file names. */
  readonly searched: Set<string>;
};

/** git reads every file of a tree to find a moved prompt. For 200 trees with 100,000 files each, this takes 30 seconds. */
const MAX_SEARCHED_TREES = 200;

const finders = new WeakMap<Repository, Finder>();

function makeFinder(repository: Repository): Finder {
  const search = batchCalls(async (wanted, ending = '') => {
    const places = wanted.map((one) => one.split('\0'));
    const trees = new Set(places.map(([tree = '']) => tree));
    const ids = new Set(places.map(([, id = '']) => id));
    const files = await repository.findFilesContaining([...trees], [...ids], ending);
    const found = files.map(async ({ commit: tree, path }) => {
      const candidates = await readCandidate(repository, tree, path);
      return candidates.map((candidate) => ({ tree, candidate }));
    });
    const byPlace = Map.groupBy((await Promise.all(found)).flat(), ({ tree, candidate: { parsed } }) => {
      return [tree, parsed.file?.id ?? parsed.outline?.id?.value].join('\0');
    });
    return new Map([...byPlace].map(([place, all]) => [place, all.map(({ candidate }) => candidate)]));
  });
  return { found: new Map(), search, searched: new Set() };
}

async function readCandidate(repository: Repository, commit: string, path: string): Promise<readonly Candidate[]> {
  const parsed = await parseFileAtCommit(repository, { commit, path });
  return parsed === null ? [] : [{ path, parsed }];
}

async function findInTrees(
  located: PromptLocation,
  commit: string,
  repository: Repository,
  finder: Finder,
): Promise<FileSearch> {
  const { id, path: own } = located;
  const inPlace = chooseCandidate(await readCandidate(repository, commit, own), located);
  if (inPlace?.kind === 'found') return inPlace;
  const tree = await repository.readRootTreeId(commit);
  const ending = extname(own);
  if (!maySearch(tree, ending, finder)) {
    const reason = `it is not at ${own}, and a run searches at most ${MAX_SEARCHED_TREES} commits for moved prompts`;
    return { kind: 'missing', reason };
  }
  const place = [tree, id].join('\0');
  const candidates = (await finder.search(place, ending)).get(place) ?? [];
  const others = candidates.filter(({ path }) => path !== own);
  return chooseCandidate(others, located) ?? inPlace ?? { kind: 'missing', reason: 'no file with its id' };
}

function maySearch(tree: string, ending: string, { searched }: Finder): boolean {
  const key = [tree, ending].join('\0');
  if (searched.size < MAX_SEARCHED_TREES) searched.add(key);
  return searched.has(key);
}

/** Returns the prompt's file, or why the last one of the candidates is invalid. Null if none of them stands for the prompt. */
function chooseCandidate(candidates: readonly Candidate[], { id, path: own }: PromptLocation): FileSearch | null {
  let reason: string | null = null;
  for (const { path, parsed } of candidates) {
    if (parsed.file?.id === id) return { kind: 'found', file: parsed.file, path };
    reason = describeInvalidFile(parsed, path, id, path === own) ?? reason;
  }
  return reason === null ? null : { kind: 'missing', reason };
}

/** Why a file that is not readable stands in for the prompt: it has the prompt's id, or its place and no other id. */
function describeInvalidFile(
  { outline, problems }: ParseResult,
  path: string,
  id: string,
  inPlace: boolean,
): string | null {
  const invalid = problems.find(isError);
  const other = outline?.id?.value ?? (inPlace ? id : null);
  return invalid === undefined || other !== id ? null : `${path} is not valid: ${invalid.message}`;
}
