import { extname } from 'node:path';
import type { DesiredState } from '../domain/desired-state.ts';
import type { ContentAtRef } from '../domain/plan.ts';
import { locatePin, type PromptFile } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { KnownVersion } from '../domain/versions.ts';
import type { FormerSettings } from '../workspace/load-config.ts';
import {
  type FileSettings,
  makeLenientSettings,
  parsePromptFile,
  type ParseResult,
} from '../workspace/parse-prompt-file.ts';
import { batchCalls, type BatchedCall } from '../git/run-git.ts';
import type { Repository } from '../git/open-repository.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import type { PinnedRef } from '../git/resolve-refs.ts';
import { isError, makeProblem, type Place, type Problem } from '../problem.ts';

/** Reads and parses prompt files at any commit. */
export type PromptRepository = Repository & {
  readonly fileSettings: FileSettings;
  /** Reads the configuration at a commit, which determines the default pins and the ids from paths. */
  readonly readConfigAt: (commit: string) => Promise<FormerConfig>;
  /** Records that the configuration at a commit equals the one in the work tree, so that it is not read again. */
  readonly rememberConfig: (commit: string) => void;
};

/** The configuration at a commit. */
export type FormerConfig = Pick<FormerSettings, 'patterns' | 'acceptWarnings'> & {
  /**
   * The repository with the settings of this configuration. If this configuration interprets prompt files in the same
   * way as the one in the work tree, it is the original repository object.
   */
  readonly repository: PromptRepository;
};

/** Both paths are relative to the repository root. Returns null if the commit has no regular file there. */
export async function parseFileAtCommit(
  repository: PromptRepository,
  { commit, path }: FileAtCommit,
): Promise<ParseResult | null> {
  const blob = await repository.findBlobId(commit, path);
  return blob === null ? null : parseBlob(repository, blob, path);
}

/** The path is relative to the repository root. */
export function parseBlob(repository: PromptRepository, blob: string, path: string): Promise<ParseResult> {
  const results = parsedFiles.get(repository) ?? new Map<string, Promise<ParseResult>>();
  parsedFiles.set(repository, results);
  const key = [blob, path].join('\0');
  const result = results.get(key) ?? readAndParse(repository, blob, path);
  results.set(key, result);
  return result;
}

async function readAndParse(repository: PromptRepository, blob: string, path: string): Promise<ParseResult> {
  const { fileSettings } = repository;
  const { pathIds } = fileSettings;
  return parsePromptFile(await repository.readCheckedOutFile(blob, path), path, {
    ...makeLenientSettings(fileSettings),
    pathIds: pathIds && { ...pathIds, findId: (rootPath) => pathIds.findId(repository.toFolderPath(rootPath)) },
  });
}

/** The parsed files by blob id and path. Many commits have the same blob, and parsing a large file takes 20 ms. */
const parsedFiles = new WeakMap<PromptRepository, Map<string, Promise<ParseResult>>>();

/** Returns null if there is no valid file, or if git fails: the commit and the path may come from the service. */
export async function readFileFromGit(
  repository: PromptRepository | null,
  commit: string,
  path: string,
): Promise<PromptFile | null> {
  if (repository === null) return null;
  try {
    const resolvedCommit = await repository.resolveRef(commit);
    if (resolvedCommit === null) return null;
    const parsed = await parseFileAtCommit(await openForContent(repository, resolvedCommit), {
      commit: resolvedCommit,
      path,
    });
    return parsed?.file ?? null;
  } catch {
    return null;
  }
}

/** Reads the configuration only if files can take ids from their paths. Default pins do not affect the content. */
async function openForContent(repository: PromptRepository, commit: string): Promise<PromptRepository> {
  return repository.fileSettings.pathIds === null ? repository : (await repository.readConfigAt(commit)).repository;
}

/**
 * Reads the prompt file from which a version was created. Returns null if the version records no source, if git has no
 * valid file there, or if the text of that file differs from the text of the version.
 */
export async function readSourceFile(
  { source, digest }: KnownVersion,
  repository: PromptRepository | null,
): Promise<PromptFile | null> {
  const { commit, path } = source ?? {};
  if (commit === undefined || path === undefined) return null;
  const file = await readFileFromGit(repository, commit, path);
  return file?.content.digest === digest ? file : null;
}

/** Returns the content by prompt id and by ref. If two files of a prompt pin the same ref, the first file wins. */
export async function readContentsAtRefs(
  files: readonly PromptFile[],
  repository: PromptRepository | null,
): Promise<DesiredState['contentsAtRefs']> {
  const gitPins = files.flatMap((file) =>
    file.pins.flatMap((environmentPin) => {
      const { pin } = environmentPin;
      return pin.kind === 'git' ? [{ file, ref: pin.ref, place: locatePin(environmentPin, file) }] : [];
    }),
  );
  const contents = await Promise.all(
    gitPins.map(async ({ file, ref, place }) => {
      return { id: file.id, ref, content: await readContentAtRef(file, ref, repository, place) };
    }),
  );
  const byId = Map.groupBy(contents, ({ id }) => id);
  return new Map(
    [...byId].map(([id, contentsOfPrompt]) => {
      // `Map` keeps the last entry for each ref. Reverse the entries so that the first file wins.
      const entries = contentsOfPrompt.toReversed().map(({ ref, content }) => [ref, content] as const);
      return [id, new Map(entries)];
    }),
  );
}

async function readContentAtRef(
  file: PromptFile,
  ref: string,
  repository: PromptRepository | null,
  place: Place,
): Promise<Result<ContentAtRef>> {
  if (repository === null) {
    return makeFailure(makeProblem('git/needs-repository', { what: `The pin git:${ref}` }, place));
  }
  const pinned = await repository.resolvePinnedRef(ref);
  if (pinned.kind !== 'found') return makeFailure(makeUnresolvedProblem(ref, pinned, place));
  const { commit } = pinned;
  const location = { id: file.id, type: file.type, path: repository.toRootPath(file.path) };
  const result = await findContentAtCommit(location, commit, repository);
  if (result.kind === 'missing') {
    return makeFailure(makeProblem('pin/no-prompt-at-ref', { ref, reason: result.reason }, place));
  }
  return makeSuccess({ content: result.file.content, provenance: { commit, path: result.path } });
}

function makeUnresolvedProblem(ref: string, pinned: Exclude<PinnedRef, { kind: 'found' }>, place: Place): Problem {
  if (pinned.kind === 'unknown') return makeProblem('pin/unknown-ref', { ref }, place);
  const code = pinned.kind === 'short-id' ? 'pin/short-commit-id' : 'pin/ambiguous-commit-id';
  return makeProblem(code, { ref, commits: pinned.commits }, place);
}

export async function findMovingRefs(
  files: readonly PromptFile[],
  repository: PromptRepository | null,
): Promise<ReadonlySet<string>> {
  if (repository === null) return new Set();
  const refs = new Set(files.flatMap(({ pins }) => pins.flatMap(({ pin }) => (pin.kind === 'git' ? pin.ref : []))));
  const resolved = await Promise.all(
    [...refs].map(async (ref) => ({ ref, pinned: await repository.resolvePinnedRef(ref) })),
  );
  const moving = resolved.filter(({ pinned }) => pinned.kind === 'found' && pinned.isMoving);
  return new Set(moving.map(({ ref }) => ref));
}

/** The expected path of a prompt. The type never changes, so a file with another type belongs to another prompt. */
export type PromptLocation = Pick<PromptFile, 'id' | 'path' | 'type'>;

/** The path is relative to the repository root. */
type FileSearchResult =
  | { readonly kind: 'found'; readonly file: PromptFile; readonly path: string }
  | { readonly kind: 'missing'; readonly reason: string };

/** The configuration at that commit determines which ids come from paths. */
export async function findContentAtCommit(
  location: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<FileSearchResult> {
  return findFileAtCommit(location, commit, await openForContent(repository, commit));
}

/**
 * Checks the expected path first, relative to the repository root, and then all files with the same extension. Caches
 * each result, because a commit never changes.
 */
export function findFileAtCommit(
  location: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<FileSearchResult> {
  const finder = finders.get(repository) ?? makeFinder(repository);
  finders.set(repository, finder);
  const key = [commit, location.id, location.type, location.path].join('\0');
  const result = finder.results.get(key) ?? findInTrees(location, commit, repository, finder);
  finder.results.set(key, result);
  return result;
}

type Candidate = { readonly path: string; readonly parsed: ParseResult };

/** The searches for prompt files in one repository, with their cached results. */
type Finder = {
  /** The cached results, by commit, prompt id, type and expected path. */
  readonly results: Map<string, Promise<FileSearchResult>>;
  /**
   * Searches root trees. Each item is a tree id and a prompt id, separated by NUL, and the result maps it to its
   * candidates. All items in a batch share a file name extension.
   */
  readonly search: BatchedCall<ReadonlyMap<string, readonly Candidate[]>>;
  /** The root trees that promptsync has searched during this run, each with the file name extension of the search. */
  readonly searchedTrees: Set<string>;
};

/** git reads every file in a searched tree. Searching 200 trees with 100,000 files each takes 30 seconds. */
const MAX_SEARCHED_TREES = 200;

const finders = new WeakMap<PromptRepository, Finder>();

function makeFinder(repository: PromptRepository): Finder {
  const search = batchCalls(async (items, extension = '') => {
    const pairs = items.map((item) => item.split('\0'));
    const trees = new Set(pairs.map(([tree = '']) => tree));
    const ids = new Set(pairs.map(([, id = '']) => id));
    const files = await repository.findFilesContaining([...trees], [...ids], extension);
    const matches = files.map(async ({ commit: tree, path }) => {
      const candidates = await readCandidate(repository, tree, path);
      return candidates.map((candidate) => ({ tree, candidate }));
    });
    const byItem = Map.groupBy((await Promise.all(matches)).flat(), ({ tree, candidate: { parsed } }) => {
      const id = parsed.file?.id ?? parsed.outline?.id?.value;
      return [tree, id].join('\0');
    });
    return new Map([...byItem].map(([item, list]) => [item, list.map(({ candidate }) => candidate)]));
  });
  return { results: new Map(), search, searchedTrees: new Set() };
}

async function readCandidate(
  repository: PromptRepository,
  commit: string,
  path: string,
): Promise<readonly Candidate[]> {
  const parsed = await parseFileAtCommit(repository, { commit, path });
  return parsed === null ? [] : [{ path, parsed }];
}

async function findInTrees(
  location: PromptLocation,
  commit: string,
  repository: PromptRepository,
  finder: Finder,
): Promise<FileSearchResult> {
  const { id, path: expectedPath } = location;
  const atExpectedPath = chooseCandidate(await readCandidate(repository, commit, expectedPath), location);
  if (atExpectedPath?.kind === 'found') return atExpectedPath;
  const tree = await repository.readRootTreeId(commit);
  const extension = extname(expectedPath);
  if (!reserveSearch(tree, extension, finder)) {
    const limit = `promptsync searches at most ${MAX_SEARCHED_TREES} commits per run for moved prompts`;
    return { kind: 'missing', reason: `it is not at ${expectedPath}, and ${limit}` };
  }
  const item = [tree, id].join('\0');
  const candidates = [
    ...((await finder.search(item, extension)).get(item) ?? []),
    ...(await readCandidatesByPath(id, extension, commit, repository)),
  ];
  const moved = candidates.filter(({ path }) => path !== expectedPath);
  const found = chooseCandidate(moved, location) ?? atExpectedPath;
  return found ?? { kind: 'missing', reason: await describeFailedSearch(expectedPath, repository) };
}

/** Reads the files that have the id because of their paths. They do not contain the id, so git cannot search for it. */
async function readCandidatesByPath(
  id: string,
  extension: string,
  commit: string,
  repository: PromptRepository,
): Promise<readonly Candidate[]> {
  const paths = repository.fileSettings.pathIds?.listPaths(id, extension) ?? [];
  const candidates = await Promise.all(
    paths.map((path) => readCandidate(repository, commit, repository.toRootPath(path))),
  );
  return candidates.flat();
}

/** Names a git filter of the path, because git searches the bytes that it stores, before any filter is applied. */
async function describeFailedSearch(path: string, repository: PromptRepository): Promise<string> {
  const attributes = await repository.readAttributes(path);
  const filter = ['filter', 'working-tree-encoding'].find((name) => attributes.has(name));
  if (filter === undefined) return 'no file has its id';
  return `it is not at ${path}, and git cannot search files with the attribute ${filter}=${attributes.get(filter)}`;
}

/** Counts a root tree toward the limit. Returns true if it is within the limit, or was counted before. */
function reserveSearch(tree: string, extension: string, { searchedTrees }: Finder): boolean {
  const key = [tree, extension].join('\0');
  if (searchedTrees.size < MAX_SEARCHED_TREES) searchedTrees.add(key);
  return searchedTrees.has(key);
}

/**
 * Returns a valid file of the prompt or, if there is none, the reason why the last one does not count. Returns null if
 * no candidate belongs to the prompt.
 */
function chooseCandidate(
  candidates: readonly Candidate[],
  { id, type, path: expectedPath }: PromptLocation,
): FileSearchResult | null {
  let reason: string | null = null;
  for (const { path, parsed } of candidates) {
    if (parsed.file?.id === id && parsed.file.type === type) return { kind: 'found', file: parsed.file, path };
    if (parsed.file?.id === id) reason = `${path} is a ${parsed.file.type} prompt there`;
    reason = describeInvalidFile(parsed, path, id, path === expectedPath) ?? reason;
  }
  return reason === null ? null : { kind: 'missing', reason };
}

/**
 * Returns null if the file is valid or belongs to another prompt. An invalid file belongs to the prompt if it has its
 * id, or if its id is unreadable and it is at the expected path.
 */
function describeInvalidFile(
  { outline, problems }: ParseResult,
  path: string,
  id: string,
  isAtExpectedPath: boolean,
): string | null {
  const error = problems.find(isError);
  const idOfFile = outline?.id?.value ?? (isAtExpectedPath ? id : null);
  if (error === undefined || idOfFile !== id) return null;
  return `${path} is not valid: ${error.message}`;
}
