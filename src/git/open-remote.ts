import { makeProblem, ProblemError } from '../problem.ts';
import {
  PARTIAL_CLONE_SETTING,
  removeUrlCredentials,
  toGitError,
  splitLines,
  splitNames,
  openGit,
  type RunGit,
  type GitSettings,
  type Git,
} from './run-git.ts';

/**
 * The time after which promptsync stops a silent git command, in milliseconds: the remote hangs, or git waits for a
 * password that nobody will type. git gives up on an HTTP server a few seconds earlier, and then ends its programs.
 */
const MAX_SILENCE_MS = 60_000;

/**
 * How long promptsync waits for the pipes to close after git has ended, in milliseconds. If git was killed, a program
 * such as ssh can hold the pipes as long as the remote stays silent.
 */
const MAX_CLOSE_MS = 100;

export const DEFAULT_REMOTE = 'origin';

export type BranchTip = { readonly remote: string; readonly branch: string; readonly commit: string };

/** The URL contains no user name and no password. It is empty if the clone has none. */
export type RemoteAddress = { readonly name: string; readonly url: string };

/** The remote of a clone. Each function throws a `ProblemError` if git fails or if the remote does not respond. */
export type Remote = {
  /** Returns the URL of `origin`, or an empty string if the clone has no remote with this name. */
  readonly readAddress: () => Promise<string>;
  /**
   * Finds the remote that `readTip` would query, without contacting it. Returns null if the clone has no remote. Throws
   * a `ProblemError` if the choice is unclear.
   */
  readonly findRemote: (branch: string | null) => Promise<RemoteAddress | null>;
  /**
   * Returns the remote's branch for a remote-tracking branch, for example `main` for `origin/main`. Does not contact
   * the remote. Returns null if the clone does not know `name`, or if the remote has a branch with exactly this name.
   */
  readonly findTrackedBranch: (name: string) => Promise<string | null>;
  /** Queries the remote for the tip of `branch`, or of its default branch. Returns null if the clone has no remote. */
  readonly readTip: (branch: string | null) => Promise<BranchTip | null>;
  /** Fetches a tip, with its history unless `isShallow` is true. Does not move any ref. */
  readonly fetchTip: (tip: BranchTip, isShallow: boolean) => Promise<void>;
  /** Fetches the missing history of a shallow clone, for all branches. Local files and branches stay unchanged. */
  readonly fetchHistory: () => Promise<void>;
};

/** `maxSilence` is the time after which promptsync stops a silent command, in milliseconds. */
export function openRemoteGit(settings: GitSettings, maxSilence = MAX_SILENCE_MS): Git {
  return openGit(settings, {
    timeout: { block: maxSilence },
    completion: { onClose: true, onExit: MAX_CLOSE_MS },
  });
}

export function openRemote(settings: GitSettings): Remote {
  const { run } = openRemoteGit(settings);
  return {
    readAddress: async () => (await run('config', '--get', `remote.${DEFAULT_REMOTE}.url`)).trim(),
    findRemote: (branch) => findRemote(run, branch),
    findTrackedBranch: (name) => findTrackedBranch(run, name),
    readTip: (branch) => readTip(run, branch),
    fetchTip: async ({ remote, commit }, isShallow) => {
      const options = ['--no-tags', '--no-prune', '--refmap=', '--no-write-fetch-head', '--no-recurse-submodules'];
      await run('fetch', '--quiet', ...options, ...(isShallow ? ['--depth=1'] : []), '--', remote, commit);
    },
    fetchHistory: async () => {
      await run('fetch', '--quiet', '--unshallow', '--no-recurse-submodules', '--', DEFAULT_REMOTE);
    },
  };
}

async function findRemote(run: RunGit, branch: string | null): Promise<RemoteAddress | null> {
  const name = chooseRemote(await readCloneSettings(run), branch);
  if (name === null) return null;
  const url = (await run('config', '--get', `remote.${name}.url`)).trim();
  return { name, url: removeUrlCredentials(url) };
}

async function findTrackedBranch(run: RunGit, name: string): Promise<string | null> {
  const settings = await readCloneSettings(run);
  const remote = [...settings.remotes].find((one) => name.startsWith(`${one}/`));
  if (remote === undefined) return null;
  const trackingRef = `refs/remotes/${name}`;
  const branchRef = (await findKnownTipRef(run, settings, name))?.ref ?? trackingRef;
  const refs = splitLines(await run('for-each-ref', '--format=%(refname)', trackingRef, branchRef));
  return refs.includes(trackingRef) && !refs.includes(branchRef) ? name.slice(remote.length + 1) : null;
}

async function readTip(run: RunGit, branch: string | null): Promise<BranchTip | null> {
  const remote = chooseRemote(await readCloneSettings(run), branch);
  if (remote === null) return null;
  const ref = branch === null ? 'HEAD' : `${BRANCHES}${branch}`;
  const output = await run('ls-remote', '--quiet', ...(branch === null ? ['--symref'] : []), '--', remote, ref);
  // `git ls-remote` treats the ref as a pattern that also matches the ends of longer refs. Accept only the exact ref.
  const line = splitLines(output).find((candidate) => candidate.endsWith(`\t${ref}`)) ?? '';
  const [value = ''] = line.split('\t');
  if (branch !== null && value !== '') return { remote, branch, commit: value };
  // This is the name of the default branch. Choose the remote again, because the branch may track a different remote.
  if (value.startsWith(`ref: ${BRANCHES}`)) return readTip(run, value.slice(`ref: ${BRANCHES}`.length));
  throw toGitError(new Error(`the remote "${remote}" has no ${branch === null ? 'default branch' : ref}.`));
}

const BRANCHES = 'refs/heads/';

/**
 * Chooses the remote that the branch tracks, or else `origin`, or else the only remote. Returns null if the clone has
 * no remote. Throws a `ProblemError` if it has several and none of these rules applies.
 */
function chooseRemote({ remotes, trackedRemotes }: CloneSettings, branch: string | null): string | null {
  const tracked = branch === null ? undefined : trackedRemotes.get(branch);
  const remote = [tracked, DEFAULT_REMOTE].find((name) => name !== undefined && remotes.has(name));
  if (remote === undefined && remotes.size > 1) {
    const advice =
      'Set `branch` in promptsync.yaml and make that branch track a remote: run `git branch --set-upstream-to=REMOTE/BRANCH BRANCH`.';
    const reason = `the clone has the remotes ${[...remotes].join(', ')}, but none is named "${DEFAULT_REMOTE}".`;
    throw new ProblemError(makeProblem('git/failed', { reason, advice }));
  }
  return remote ?? [...remotes][0] ?? null;
}

/** Returns the same as `chooseRemote`, but undefined if the choice is unclear. */
function chooseRemoteIfClear(settings: CloneSettings, branch: string | null): string | null | undefined {
  try {
    return chooseRemote(settings, branch);
  } catch {
    return undefined;
  }
}

/** The settings of a clone that determine where it gets commits and other objects. */
export type CloneSettings = {
  readonly remotes: ReadonlySet<string>;
  /** The remote that each local branch tracks, by the name of the branch. */
  readonly trackedRemotes: ReadonlyMap<string, string>;
  /** Whether the clone fetches missing objects only when git needs them (`git clone --filter`). */
  readonly isPartial: boolean;
};

/** Reads all settings with a single git process, because every plan needs them. */
export async function readCloneSettings(run: RunGit): Promise<CloneSettings> {
  const output = await run('config', '-z', '--get-regexp', CLONE_SETTINGS);
  // git prints a line feed between the name and the value of a setting.
  const settings = splitNames(output).map((entry) => entry.split('\n'));
  const names = settings.map(([name = '']) => name);
  const remotes = names.flatMap((name) => /^remote\.(.+)\.[^.]+$/s.exec(name)?.[1] ?? []);
  const tracked = settings.flatMap(([name = '', remote = '']): readonly [string, string][] => {
    const branch = /^branch\.(.+)\.remote$/s.exec(name)?.[1];
    return branch === undefined ? [] : [[branch, remote]];
  });
  return {
    remotes: new Set(remotes),
    trackedRemotes: new Map(tracked),
    isPartial: names.some(isPartialCloneSetting),
  };
}

const CLONE_SETTINGS = String.raw`^(remote\..+\..+|branch\..+\.remote|extensions\.partialclone)$`;
const isPartialCloneSetting = (name: string) => new RegExp(PARTIAL_CLONE_SETTING, 's').test(name);

/** A branch, and the ref that stores its last known tip. The clone may lack this ref. */
type KnownTipRef = { readonly branch: string; readonly ref: string };

/**
 * Finds the ref that stores the last known tip of a remote branch, by default the default branch of the remote. In a
 * clone without remotes, this is the local branch. Returns null if the name of the branch is unknown.
 */
export async function findKnownTipRef(
  run: RunGit,
  settings: CloneSettings,
  configuredBranch: string | null,
): Promise<KnownTipRef | null> {
  const { remote, branch } = await chooseRemoteAndBranch(run, settings, configuredBranch);
  if (remote === undefined || branch === null) return null;
  return { branch, ref: remote === null ? `${BRANCHES}${branch}` : `refs/remotes/${remote}/${branch}` };
}

/**
 * Returns the name of the remote that `readTip` would query, without contacting it. Returns null if the clone has no
 * remote, or if the choice is unclear.
 */
export async function findRemoteName(
  run: RunGit,
  settings: CloneSettings,
  branch: string | null,
): Promise<string | null> {
  if (settings.remotes.size === 0) return null;
  return (await chooseRemoteAndBranch(run, settings, branch)).remote ?? null;
}

/** The remote is null if the clone has none, and undefined if the choice is unclear. */
type RemoteAndBranch = { readonly remote: string | null | undefined; readonly branch: string | null };

/**
 * If `branch` is null, also finds the default branch. If the clone does not know it, this is `main` or `master`,
 * provided that exactly one of them exists on the remote, or in a clone without remotes locally.
 */
async function chooseRemoteAndBranch(
  run: RunGit,
  settings: CloneSettings,
  branch: string | null,
): Promise<RemoteAndBranch> {
  const remote = chooseRemoteIfClear(settings, branch);
  if (branch !== null || remote === undefined) return { remote, branch };
  const prefix = remote === null ? BRANCHES : `refs/remotes/${remote}/`;
  const defaultRef = remote === null ? '' : (await run('symbolic-ref', '--quiet', `${prefix}HEAD`)).trim();
  const refs = defaultRef === '' ? await listDefaultRefs(run, prefix) : [defaultRef];
  const [ref, ...others] = refs;
  if (ref === undefined || others.length > 0) return { remote, branch };
  const name = ref.slice(prefix.length);
  return remote === null ? { remote, branch: name } : chooseRemoteAndBranch(run, settings, name);
}

async function listDefaultRefs(run: RunGit, prefix: string): Promise<readonly string[]> {
  const names = [`${prefix}main`, `${prefix}master`];
  // A pattern of `git for-each-ref` also matches refs below it, such as `main/old`.
  const refs = splitLines(await run('for-each-ref', '--format=%(refname)', ...names));
  return refs.filter((ref) => names.includes(ref));
}
