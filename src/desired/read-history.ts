import type { FormerStates } from '../domain/desired-state.ts';
import type { CommitInfo, FileHistory, FormerPin, FormerPins } from '../domain/history.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import { formatPin, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import type { Content } from '../domain/content.ts';
import { isCommitId } from '../git/open-git.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import type { Repository } from '../git/open-repository.ts';
import { findFileAtCommit, type PromptLocation, parseFileAtCommit } from './read-at-commit.ts';

/** How many earlier states of a file are read. */
const MAX_HISTORY_STATES = 100;

/** A prompt's file as a commit has left it. */
export type FormerFile = { readonly commit: string; readonly file: PromptFile };

/** Reads the states of a prompt's file up to a commit, also under its earlier names, newest first. */
export async function readFormerFiles(
  { id, path }: PromptLocation,
  commit: string,
  repository: Repository,
): Promise<readonly FormerFile[]> {
  const places = await repository.followFile(commit, repository.toRootPath(path));
  return parseFiles(id, places.slice(0, MAX_HISTORY_STATES), repository);
}

/** Reads what these commits and their ancestors wanted of a prompt, wherever its file was at each of these commits. */
export async function readFormerStates(
  { id, path }: PromptLocation,
  tips: readonly string[],
  repository: Repository,
): Promise<FormerStates> {
  const states = await Promise.all(
    tips.map(async (tip) => {
      const found = await findFileAtCommit({ id, path: repository.toRootPath(path) }, tip, repository);
      const place = found.kind === 'missing' ? path : repository.toFolderPath(found.path);
      return readFormerFiles({ id, path: place }, tip, repository);
    }),
  );
  const all = states.flat();
  return { pins: await collectFormerPins(all, repository), fields: all.map(({ file }) => file) };
}

/** How many are read of the branch itself: somebody waits for it, and 500 take two seconds. */
const MAX_BRANCH_STATES = 500;

/**
 * The states of a prompt's file one after the other as the branch of a commit had them. A state that only a merged
 * branch had was in force nowhere before its merge, and those of two branches side by side are no sequence.
 */
export async function readFileHistory(
  located: PromptLocation,
  commit: string,
  repository: Repository,
): Promise<FileHistory> {
  return makeFileHistory(await readBranchStates(located, commit, repository), repository);
}

/**
 * Reads the same history for the promotion guard, which must not lose it when a prompt moves: if git takes a moved file
 * for a new one, the history goes on with the file that had the prompt's id one commit earlier.
 */
export async function readGuardHistory(
  { id, path }: PromptLocation,
  head: string,
  repository: Repository,
): Promise<FileHistory> {
  const files: FormerFile[] = [];
  let next: FileAtCommit | null = { commit: head, path };
  let whole = true;
  while (next !== null && whole) {
    const states: BranchStates = await readBranchStates({ id, path: next.path }, next.commit, repository);
    files.push(...states.files);
    whole = states.whole;
    next = await findFileAtOldestCommit(id, next, states.files.at(-1)?.commit, repository);
  }
  return makeFileHistory({ files, whole }, repository);
}

/** Finds where the prompt was right before its oldest known state, or at HEAD if its path has no state. */
async function findFileAtOldestCommit(
  id: string,
  from: FileAtCommit,
  oldest: string | undefined,
  repository: Repository,
): Promise<FileAtCommit | null> {
  const commit = oldest === undefined ? from.commit : await repository.resolveRef(`${oldest}^`);
  if (commit === null) return null;
  const found = await findFileAtCommit({ id, path: repository.toRootPath(from.path) }, commit, repository);
  if (found.kind === 'missing') return null;
  const path = repository.toFolderPath(found.path);
  return oldest === undefined && path === from.path ? null : { commit, path };
}

type BranchStates = { readonly files: readonly FormerFile[]; readonly whole: boolean };

async function readBranchStates(
  { id, path }: PromptLocation,
  commit: string,
  repository: Repository,
): Promise<BranchStates> {
  const places = (await repository.followFile(commit, repository.toRootPath(path), 'branch')).slice(
    0,
    MAX_BRANCH_STATES,
  );
  const cut = places.length === MAX_BRANCH_STATES || (await isAtEdge(places.at(-1)?.commit, repository));
  return { files: await parseFiles(id, places, repository), whole: !cut };
}

async function makeFileHistory(
  { files, whole: isComplete }: BranchStates,
  repository: Repository,
): Promise<FileHistory> {
  return {
    commits: files.map((file) => file.commit),
    pins: await collectFormerPins(files, repository),
    isComplete,
  };
}

/** At the edge of a shallow clone every file looks as if it were new. */
async function isAtEdge(commit: string | undefined, repository: Repository): Promise<boolean> {
  return commit !== undefined && repository.isShallow && (await repository.resolveRef(`${commit}^`)) === null;
}

/**
 * Whether promptsync made one of the versions from a commit before the oldest known state. Then this state is not the
 * prompt's first: somebody deleted its file, or moved it in a way that git does not follow. If the clone is shallow, a
 * missing commit may be such a commit. Otherwise it belongs to another repository.
 */
export async function wasSyncedBefore(
  { commits }: FileHistory,
  { known }: Pick<ObservedPrompt, 'known'>,
  repository: Repository,
): Promise<boolean> {
  const oldest = commits.at(-1);
  const parent = oldest === undefined ? null : await repository.resolveRef(`${oldest}^`);
  if (parent === null) return false;
  const sources = new Set(known.flatMap(({ isManaged, source }) => (isManaged === true ? (source?.commit ?? []) : [])));
  const before = [...sources].filter(isCommitId).map(async (commit) => {
    const isThere = (await repository.resolveRef(commit)) === commit;
    return isThere ? repository.isSameOrAncestor(commit, parent) : repository.isShallow;
  });
  return (await Promise.all(before)).includes(true);
}

/** The environments that a file pins as it has done in all of its states. */
export function findEnvironmentsPinnedFromStart(
  { pins }: PromptFile,
  { commits, pins: former, isComplete }: FileHistory,
): ReadonlySet<string> {
  const always = pins.filter(({ environment, pin }) => {
    const states = former.get(environment) ?? [];
    return states.length === commits.length && states.every((state) => formatPin(state.pin) === formatPin(pin));
  });
  return new Set(isComplete && commits.length > 0 ? always.map(({ environment }) => environment) : []);
}

async function parseFiles(
  id: string,
  places: readonly FileAtCommit[],
  repository: Repository,
): Promise<readonly FormerFile[]> {
  const parsed = await Promise.all(
    places.map(async ({ commit, path }): Promise<readonly FormerFile[]> => {
      const file = (await parseFileAtCommit(repository, { commit, path }))?.file ?? null;
      return file?.id === id ? [{ commit, file }] : [];
    }),
  );
  return parsed.flat();
}

export async function collectFormerPins(
  states: readonly FormerFile[],
  repository: Repository | null,
): Promise<FormerPins> {
  const pins = await Promise.all(
    states.flatMap(({ commit, file }, age) =>
      file.pins.map(async ({ environment, pin }) => {
        const content = await readPinnedContent(pin, file, repository);
        const isFixed = pin.kind !== 'git' || (await repository?.resolveRef(pin.ref)) === pin.ref;
        const former: FormerPin = { commit, age, pin, content, isFixed };
        return { environment, former };
      }),
    ),
  );
  const all = Map.groupBy(pins, ({ environment }) => environment);
  return new Map([...all].map(([environment, list]) => [environment, list.map(({ former }) => former)]));
}

async function readPinnedContent(pin: Pin, file: PromptFile, repository: Repository | null): Promise<Content | null> {
  if (pin.kind === 'latest') return file.content;
  if (pin.kind !== 'git' || repository === null) return null;
  const commit = await repository.resolveRef(pin.ref);
  const found = commit === null ? null : await findFileAtCommit(file, commit, repository);
  return found?.kind === 'found' ? found.file.content : null;
}

/**
 * Without what HEAD itself says where the file says it still: that is no earlier state. Where the file pins more than
 * HEAD does, it is.
 */
export function omitHeadPins(former: FormerPins, { pins, content }: PromptFile, head: string | null): FormerPins {
  const atHead = new Set([...former].flatMap(([name, [newest]]) => (newest?.commit === head ? [name] : [])));
  if (!pins.every(({ environment }) => atHead.has(environment))) return former;
  const isNow = (environment: string, one: FormerPin): boolean => {
    const now = pins.find((pin) => pin.environment === environment)?.pin;
    const same = now !== undefined && formatPin(now) === formatPin(one.pin);
    return one.commit === head && same && (one.pin.kind !== 'latest' || one.content?.digest === content.digest);
  };
  return new Map(
    [...former].map(([environment, list]) => {
      return [environment, list.filter((one, index) => index > 0 || !isNow(environment, one))];
    }),
  );
}

export type GitHistory = {
  /** By prompt id, as of HEAD, newest first. */
  readonly byPrompt: ReadonlyMap<string, FileHistory>;
  /** Those that the versions and the states name. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  readonly isShallow: boolean;
};

const NO_GIT_HISTORY: GitHistory = { byPrompt: new Map(), commits: new Map(), isShallow: false };

export async function readGitHistory(
  selected: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  repository: Repository | null,
): Promise<GitHistory> {
  if (repository === null || repository.head === null) return NO_GIT_HISTORY;
  const { head } = repository;
  const files = selected.filter(({ id }) => observed.has(id));
  const read = files.map(async (file) => [file.id, await readFileHistory(file, head, repository)] as const);
  const byPrompt = new Map(await Promise.all(read));
  const states = [...byPrompt.values()].flatMap(({ commits }) => commits);
  const known = [...observed.values()].flatMap((one) => one.known);
  const named = [...known.flatMap(({ isManaged, source }) => (isManaged ? (source?.commit ?? []) : [])), ...states];
  return { byPrompt, commits: await readCommitsOfHistory(named, head, repository), isShallow: repository.isShallow };
}

/** With the pull request that a commit names itself, or else the merge that brought it. */
async function readCommitsOfHistory(
  ids: readonly string[],
  head: string,
  repository: Repository,
): Promise<ReadonlyMap<string, CommitInfo>> {
  const commits = await repository.readCommits(ids);
  const silent = [...commits.values()].filter(({ pullRequest }) => pullRequest === undefined);
  if (silent.length === 0) return commits;
  const mergeOf = await repository.mapCommitsToMerges(head);
  const merges = await repository.readCommits(silent.flatMap(({ commit }) => mergeOf.get(commit) ?? []));
  const found = silent.flatMap((info): [string, CommitInfo][] => {
    const pullRequest = merges.get(mergeOf.get(info.commit) ?? '')?.pullRequest;
    return pullRequest === undefined ? [] : [[info.commit, { ...info, pullRequest }]];
  });
  return new Map([...commits, ...found]);
}
