import { batchCalls, isCommitId, splitLines, type Git, type RunGit } from './run-git.ts';
import { hasControlCharacters } from '../text.ts';

/**
 * The result of resolving the ref of a `git:` pin:
 * - `found`: The ref refers to a commit. It is fixed if it is a commit id or the name of a tag. All other refs are
 *   moving: branches, `HEAD`, and relative refs such as `v1~1`.
 * - `short-id`: The ref is a prefix of the ids in `commits`, but it has fewer than `MIN_ID_DIGITS` digits.
 * - `ambiguous-id`: The ref is a prefix of several commit ids.
 */
export type PinnedRef =
  | { readonly kind: 'found'; readonly commit: string; readonly isMoving: boolean }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'short-id' | 'ambiguous-id'; readonly commits: readonly string[] };

/**
 * Creates a function that resolves the ref of a `git:` pin, each ref only once. All code that interprets pins must call
 * it, because git's own rules let a tag shadow a commit, and resolve a branch differently on a laptop than in CI:
 * - 12 or more hexadecimal digits are always a commit id, so that pushing a tag cannot change what a pin means.
 * - Fewer hexadecimal digits are an error if a commit id begins with them.
 * - `refs/…` is exactly that ref.
 * - Any other name is a tag, or else a remote branch, or else a local branch.
 * @param findRemote returns the name of the remote whose branches take precedence; called at most once
 */
export function makePinnedRefResolver(
  { run }: Git,
  { resolveRef }: { readonly resolveRef: (ref: string) => Promise<string | null> },
  findRemote: () => Promise<string | null>,
): (ref: string) => Promise<PinnedRef> {
  const listRefsTogether = batchCalls((names) => listExistingRefs(run, names));
  const listObjectsTogether = batchCalls((prefixes) => listObjectIds(run, prefixes));
  const resolveExactly = async (ref: string, isMoving: boolean): Promise<PinnedRef> => {
    const commit = await resolveRef(ref);
    return commit === null ? { kind: 'unknown' } : { kind: 'found', commit, isMoving };
  };
  const resolveId = async (id: string, steps: string): Promise<PinnedRef | null> => {
    const objects = (await listObjectsTogether(id)).filter((object) => object.startsWith(id));
    const resolved = await Promise.all(objects.map((object) => resolveRef(object)));
    const commits = [...new Set(resolved.flatMap((commit) => commit ?? []))];
    if (id.length < MIN_ID_DIGITS) return commits.length === 0 ? null : { kind: 'short-id', commits };
    if (commits.length > 1) return { kind: 'ambiguous-id', commits };
    const [commit] = commits;
    return commit === undefined ? { kind: 'unknown' } : resolveExactly(`${commit}${steps}`, steps !== '');
  };
  let remote: Promise<string | null> | null = null;
  return resolveOnce(async (ref) => {
    const [, name = '', steps = ''] = NAME_AND_STEPS.exec(ref) ?? [];
    const pinnedId = OBJECT_ID.test(name) ? await resolveId(name.toLowerCase(), steps) : null;
    if (pinnedId !== null) return pinnedId;
    if (HEAD_NAMES.includes(name)) return resolveExactly(ref, true);
    const candidates = name.startsWith('refs/') ? [name] : listFullNames(name, await (remote ??= findRemote()));
    const existing = await Promise.all(
      candidates.map(async (candidate) => (await listRefsTogether(candidate)).has(candidate)),
    );
    const fullName = candidates[existing.indexOf(true)];
    if (fullName === undefined) return { kind: 'unknown' };
    return resolveExactly(`${fullName}${steps}`, steps !== '' || !fullName.startsWith('refs/tags/'));
  });
}

/** Returns a function that calls `resolve` only once for each ref. */
function resolveOnce<Resolved>(resolve: (ref: string) => Promise<Resolved>): (ref: string) => Promise<Resolved> {
  const resolved = new Map<string, Promise<Resolved>>();
  return (ref) => {
    const known = resolved.get(ref) ?? resolve(ref);
    resolved.set(ref, known);
    return known;
  };
}

/** With fewer digits, it is easy to create another commit whose id begins with the same digits. */
const MIN_ID_DIGITS = 12;

/** Matches an object id, or a prefix of one that is long enough for git. */
const OBJECT_ID = /^[0-9a-f]{4,64}$/i;

/** Splits a ref into a name and the steps from it, for example `main` and `~1`, or an empty name and `@{1}`. */
const NAME_AND_STEPS = /^(.*?)((?:[~^]|@\{).*)?$/s;

/** The names that git resolves to HEAD. Refs such as `@{1}` have an empty name and begin at the current branch. */
const HEAD_NAMES: readonly string[] = ['HEAD', '@', ''];

/** Returns the refs that a short name can refer to, in the order of precedence. */
function listFullNames(name: string, remote: string | null): readonly string[] {
  const remoteBranches = remote === null ? [] : [`refs/remotes/${remote}/${name}`];
  const otherBranches = [`refs/heads/${name}`, `refs/remotes/${name}`, `refs/remotes/${name}/HEAD`];
  return [`refs/${name}`, `refs/tags/${name}`, ...remoteBranches, ...otherBranches];
}

/** The maximum number of refs on one command line. For more refs, promptsync lists all refs of the repository. */
const MAX_REF_PATTERNS = 100;

/** Returns a set that contains each of these full names that exists as a ref. The set can also contain other refs. */
async function listExistingRefs(run: RunGit, names: readonly string[]): Promise<ReadonlySet<string>> {
  const patterns = names.length > MAX_REF_PATTERNS ? ['refs/'] : names;
  return new Set(splitLines(await run('for-each-ref', '--format=%(refname)', ...patterns)));
}

/** The maximum number of ids on one command line. */
const MAX_IDS_PER_COMMAND = 300;

/** Returns the full ids of all objects whose ids begin with one of these prefixes. Ignores branches and tags. */
async function listObjectIds(run: RunGit, prefixes: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let start = 0; start < prefixes.length; start += MAX_IDS_PER_COMMAND) {
    const batch = prefixes.slice(start, start + MAX_IDS_PER_COMMAND);
    ids.push(...splitLines(await run('rev-parse', ...batch.map((prefix) => `--disambiguate=${prefix}`))));
  }
  return ids;
}

/**
 * Creates a function that returns the commit id of a ref. Simultaneous calls share one process, because prompt files
 * can refer to thousands of refs. If a ref needs its own process, it becomes null after `MAX_OWN_PROCESSES` of these.
 */
export function makeRefResolver(git: Git): (ref: string) => Promise<string | null> {
  let ownProcesses = 0;
  const resolveBatch = batchCalls((refs) => resolveTogether(git, refs));
  return resolveOnce(async (ref) => {
    // A line break would split a ref, because `git cat-file` reads one ref per line.
    const needsOwnProcess = SEARCH_SYNTAX.test(ref) || hasControlCharacters(ref);
    if (!needsOwnProcess) return (await resolveBatch(ref)).get(ref) ?? null;
    ownProcesses += 1;
    return ownProcesses <= MAX_OWN_PROCESSES ? resolveAlone(git, ref) : null;
  });
}

/**
 * Matches refs that make git search a reflog (`main@{9999}`) or commit messages (`main^{/word}`, `:/word`). If a reflog
 * is too short, git exits without the rest of a batch, so each of these refs needs its own process.
 */
const SEARCH_SYNTAX = /@\{|\^\{\/|^:\//;

const MAX_OWN_PROCESSES = 100;

/** Maps a ref to null if it does not refer to a commit. Throws a `ProblemError` if git meets a damaged object. */
async function resolveTogether(git: Git, refs: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  const names = refs.map((ref) => `${ref}^{commit}`);
  const lines = splitLines(await git.runWithInput(names, 'cat-file', '--batch-check'));
  return new Map(refs.map((ref, index) => [ref, parseCommitId(lines[index] ?? '')]));
}

/** Parses a line of `git cat-file --batch-check`. */
function parseCommitId(line: string): string | null {
  const [, id = ''] = /^([0-9a-f]+) commit [0-9]+$/.exec(line) ?? [];
  return isCommitId(id) ? id : null;
}

/** Returns null if git fails, because some unknown refs make git fail. */
async function resolveAlone({ run }: Git, ref: string): Promise<string | null> {
  try {
    const commit = (await run('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}
