import type { CommitInfo, FileHistory, FormerPin, FormerPins } from '../domain/history.ts';
import type { Observation, Observed } from '../domain/observed.ts';
import { pinText, type Content, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import { isCommitId } from '../git/driver.ts';
import type { FileAtCommit } from '../git/trees.ts';
import type { Repository } from '../git/repository.ts';
import { findAt, type Located, parseAt } from './at-commit.ts';

/** How many earlier states of a file are read. */
const LONGEST_HISTORY = 100;

/** A prompt's file as a commit has left it. */
export type FormerFile = { readonly commit: string; readonly file: PromptFile };

/** The states of a prompt's file up to a commit, under earlier names as well; newest first. */
export async function readFormerFiles({ id, path }: Located, commit: string, repository: Repository) {
  const places = await repository.whereTouched(commit, repository.fromRoot(path));
  return parseFiles(id, places.slice(0, LONGEST_HISTORY), repository);
}

/** What the ancestors of any of these commits wanted of a prompt, themselves included, wherever its file was there. */
export async function readFormerWants({ id, path }: Located, tips: readonly string[], repository: Repository) {
  const states = await Promise.all(
    tips.map(async (tip) => {
      const found = await findAt({ id, path: repository.fromRoot(path) }, tip, repository);
      const place = typeof found === 'string' ? path : repository.toFolder(found.path);
      return readFormerFiles({ id, path: place }, tip, repository);
    }),
  );
  const all = states.flat();
  return { pins: await pinsOf(all, repository), fields: all.map(({ file }) => file) };
}

/** How many are read of the branch itself: somebody waits for it, and 500 take two seconds. */
const LONGEST_BRANCH = 500;

/**
 * The states of a prompt's file one after the other as the branch of a commit had them. A state that only a merged
 * branch had was in force nowhere before its merge, and those of two branches side by side are no sequence.
 */
export async function readFileHistory(located: Located, commit: string, repository: Repository): Promise<FileHistory> {
  return makeFileHistory(await readBranchStates(located, commit, repository), repository);
}

/**
 * Reads the same history for the promotion guard, which must not lose it when a prompt moves: if git takes a moved file
 * for a new one, the history goes on with the file that had the prompt's id one commit earlier.
 */
export async function readGuardHistory({ id, path }: Located, head: string, repository: Repository) {
  const files: FormerFile[] = [];
  let next: FileAtCommit | null = { commit: head, path };
  let whole = true;
  while (next !== null && whole) {
    const states: BranchStates = await readBranchStates({ id, path: next.path }, next.commit, repository);
    files.push(...states.files);
    whole = states.whole;
    next = await earlierFile(id, next, states.files.at(-1)?.commit, repository);
  }
  return makeFileHistory({ files, whole }, repository);
}

/** Finds where the prompt was right before its oldest known state, or at HEAD if its path has no state. */
async function earlierFile(id: string, from: FileAtCommit, oldest: string | undefined, repository: Repository) {
  const commit = oldest === undefined ? from.commit : await repository.resolveRef(`${oldest}^`);
  if (commit === null) return null;
  const found = await findAt({ id, path: repository.fromRoot(from.path) }, commit, repository);
  if (typeof found === 'string') return null;
  const path = repository.toFolder(found.path);
  return oldest === undefined && path === from.path ? null : { commit, path };
}

type BranchStates = { readonly files: readonly FormerFile[]; readonly whole: boolean };

async function readBranchStates({ id, path }: Located, commit: string, repository: Repository): Promise<BranchStates> {
  const places = (await repository.whereTouched(commit, repository.fromRoot(path), 'branch')).slice(0, LONGEST_BRANCH);
  const cut = places.length === LONGEST_BRANCH || (await isAtEdge(places.at(-1)?.commit, repository));
  return { files: await parseFiles(id, places, repository), whole: !cut };
}

async function makeFileHistory({ files, whole }: BranchStates, repository: Repository): Promise<FileHistory> {
  return { commits: files.map((file) => file.commit), pins: await pinsOf(files, repository), whole };
}

/** At the edge of a shallow clone every file looks as if it were new. */
async function isAtEdge(commit: string | undefined, repository: Repository): Promise<boolean> {
  return commit !== undefined && repository.shallow && (await repository.resolveRef(`${commit}^`)) === null;
}

/**
 * Whether promptsync made one of the versions from a commit before the oldest known state. Then this state is not the
 * prompt's first: somebody deleted its file, or moved it in a way that git does not follow. If the clone is shallow, a
 * missing commit may be such a commit. Otherwise it belongs to another repository.
 */
export async function wasSyncedBefore(
  { commits }: FileHistory,
  { known }: Pick<Observed, 'known'>,
  repository: Repository,
): Promise<boolean> {
  const oldest = commits.at(-1);
  const parent = oldest === undefined ? null : await repository.resolveRef(`${oldest}^`);
  if (parent === null) return false;
  const sources = new Set(known.flatMap(({ ours, source }) => (ours === true ? (source?.commit ?? []) : [])));
  const before = [...sources].filter(isCommitId).map(async (commit) => {
    const isThere = (await repository.resolveRef(commit)) === commit;
    return isThere ? repository.isWithin(commit, parent) : repository.shallow;
  });
  return (await Promise.all(before)).includes(true);
}

/** The environments that a file pins as it has done in all of its states. */
export function pinnedAlways({ pins }: PromptFile, { commits, pins: former, whole }: FileHistory): ReadonlySet<string> {
  const always = pins.filter(({ environment, pin }) => {
    const states = former.get(environment) ?? [];
    return states.length === commits.length && states.every((state) => pinText(state.pin) === pinText(pin));
  });
  return new Set(whole && commits.length > 0 ? always.map(({ environment }) => environment) : []);
}

async function parseFiles(id: string, places: readonly FileAtCommit[], repository: Repository) {
  const parsed = await Promise.all(
    places.map(async ({ commit, path }): Promise<readonly FormerFile[]> => {
      const file = (await parseAt(repository, { commit, path }))?.file ?? null;
      return file?.id === id ? [{ commit, file }] : [];
    }),
  );
  return parsed.flat();
}

export async function pinsOf(states: readonly FormerFile[], repository: Repository | null): Promise<FormerPins> {
  const pins = await Promise.all(
    states.flatMap(({ commit, file }, age) =>
      file.pins.map(async ({ environment, pin }) => {
        const content = await contentOf(pin, file, repository);
        const isFixed = pin.kind !== 'git' || (await repository?.resolveRef(pin.ref)) === pin.ref;
        const former: FormerPin = { commit, age, pin, content, isFixed };
        return { environment, former };
      }),
    ),
  );
  const all = Map.groupBy(pins, ({ environment }) => environment);
  return new Map([...all].map(([environment, list]) => [environment, list.map(({ former }) => former)]));
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

export type GitHistory = {
  /** By prompt id, as of HEAD, newest first. */
  readonly byPrompt: ReadonlyMap<string, FileHistory>;
  /** Those that the versions and the states name. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  readonly shallow: boolean;
};

const NOTHING: GitHistory = { byPrompt: new Map(), commits: new Map(), shallow: false };

export async function readGitHistory(
  selected: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  repository: Repository | null,
): Promise<GitHistory> {
  if (repository === null || repository.head === null) return NOTHING;
  const { head } = repository;
  const files = selected.filter(({ id }) => observed.has(id));
  const read = files.map(async (file) => [file.id, await readFileHistory(file, head, repository)] as const);
  const byPrompt = new Map(await Promise.all(read));
  const states = [...byPrompt.values()].flatMap(({ commits }) => commits);
  const known = [...observed.values()].flatMap((one) => one.known);
  const named = [...known.flatMap(({ ours, source }) => (ours ? (source?.commit ?? []) : [])), ...states];
  return { byPrompt, commits: await readCommits(named, head, repository), shallow: repository.shallow };
}

/** With the pull request that a commit names itself, or else the merge that brought it. */
async function readCommits(ids: readonly string[], head: string, repository: Repository) {
  const commits = await repository.commitsOf(ids);
  const silent = [...commits.values()].filter(({ pullRequest }) => pullRequest === undefined);
  if (silent.length === 0) return commits;
  const mergeOf = await repository.mergesOf(head);
  const merges = await repository.commitsOf(silent.flatMap(({ commit }) => mergeOf.get(commit) ?? []));
  const found = silent.flatMap((info): [string, CommitInfo][] => {
    const pullRequest = merges.get(mergeOf.get(info.commit) ?? '')?.pullRequest;
    return pullRequest === undefined ? [] : [[info.commit, { ...info, pullRequest }]];
  });
  return new Map([...commits, ...found]);
}
