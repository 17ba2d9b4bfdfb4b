import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { SETTINGS, startOf, type GitStart } from './environment.ts';
import { gitProblem } from './problem-of-git.ts';

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a text can be a commit's id: nothing else that comes from the service is handed to git. */
export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}

/** One git command's output. Throws a `ProblemError` when git cannot answer; no answer without a word is an empty one. */
export type Ask = (...words: readonly string[]) => Promise<string>;

/** The same with lines for its standard input: a command line is not long enough for many ids. */
export type AskWith = (input: readonly string[], ...words: readonly string[]) => Promise<string>;

export type Asking = { readonly ask: Ask; readonly askWith: AskWith };

/** So many processes at a time. */
const AT_ONCE = 4;

/** For questions, which change nothing: each is a process that ends with its answer. */
export function askingIn(start: GitStart): Asking {
  const limit = pLimit(AT_ONCE);
  return {
    ask: (...words) => limit(() => answerTo(start, words, [])),
    askWith: (input, ...words) => limit(() => answerTo(start, words, input)),
  };
}

/**
 * Git with pipes for all that it reads and says: nothing of it gets to the terminal. Throws a `ProblemError` for some
 * reasons not to start; of others the process tells in an event.
 */
export function startGit(start: GitStart, [command = '', ...words]: readonly string[]) {
  const { cwd, env } = startOf(start);
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  const all = [...settings, command, ...(COMPARING.has(command) ? NO_PROGRAMS : []), ...words];
  // Else the short form of an option could become another one in the git of tomorrow.
  const variables = { ...env, GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS: 'true' };
  try {
    return spawn('git', all, { cwd, env: variables, stdio: 'pipe', windowsHide: true });
  } catch (error) {
    throw gitProblem(error);
  }
}

/** Commands that would start the programs that attributes of files name, where the user has configured them. */
const COMPARING = new Set(['diff', 'diff-tree', 'log']);
const NO_PROGRAMS = ['--no-ext-diff', '--no-textconv'] as const;

async function answerTo(start: GitStart, words: readonly string[], input: readonly string[]): Promise<string> {
  const child = startGit(start, words);
  // A command that ends before it has read all says itself why.
  child.stdin.on('error', () => {}).end(input.map((line) => `${line}\n`).join(''));
  const ended = new Promise<boolean>((done, fail) => child.on('error', fail).on('close', (code) => done(code === 0)));
  try {
    const [good, said, complaint] = await Promise.all([ended, textOf(child.stdout), textOf(child.stderr)]);
    if (good || (complaint === '' && child.signalCode === null)) return said;
    throw new Error(complaint || `it was ended by ${child.signalCode}`);
  } catch (error) {
    throw gitProblem(error);
  }
}

async function textOf(stream: Readable): Promise<string> {
  return (await buffer(stream)).toString('utf8');
}

/** Names alone, whatever the user has configured. */
const PLAIN = ['--name-only', '-z', '--no-renames', '--no-relative'];

/** As a pathspec. */
export const EVERYWHERE = [':(top)'] as const;

/**
 * The files, by their paths from the root, that differ between a commit and the work tree, whatever the user has
 * configured; with `--cached` between it and what is staged.
 */
export async function changedFiles(
  ask: Ask,
  commit: string,
  where: readonly string[] = EVERYWHERE,
  ...how: readonly '--cached'[]
): Promise<ReadonlySet<string>> {
  return new Set(namesIn(await ask('diff', ...PLAIN, ...how, commit, '--', ...where)));
}

/** The files, by their paths from the root, that the commits of a range touch; merges as their first parent sees them. */
export async function touchedFiles(ask: Ask, range: string): Promise<readonly string[]> {
  const words = ['--format=', '--no-show-signature', '--no-follow', '--root', '--diff-merges=first-parent'];
  return namesIn(await ask('log', ...words, ...PLAIN, range, '--', ...EVERYWHERE));
}

/** A file that git keeps, by its path from the root. */
export type TrackedFile = {
  readonly path: string;
  /** Whether git tells of its edits: not where it was told to overlook them, nor in a merge that is not done. */
  readonly watched: boolean;
};

/** Each after a letter: `H` where git watches it, another where it was told not to, or where a merge is not done. */
const LIST_FILES = ['ls-files', '-v', '-z', '--full-name', '--'] as const;

/** The files among these pathspecs that are staged. */
export async function trackedFiles(ask: Ask, wanted: readonly string[]): Promise<readonly TrackedFile[]> {
  const entries = namesIn(await ask(...LIST_FILES, ...wanted));
  return entries.map((entry) => ({ path: entry.slice(2), watched: entry.startsWith('H ') }));
}

/** The files whose edits git was told to overlook, or of which a merge is not done; all others, thousands, are passed over. */
export async function unwatchedFiles(ask: Ask): Promise<readonly string[]> {
  const listed = await ask(...LIST_FILES, ...EVERYWHERE);
  const unwatched: string[] = [];
  for (let start = 0; start < listed.length; start = listed.indexOf('\0', start) + 1) {
    if (listed[start] !== 'H') unwatched.push(listed.slice(start + 2, listed.indexOf('\0', start)));
  }
  return unwatched;
}

/** The names in a list of git's that has NUL after each. */
export function namesIn(listed: string): readonly string[] {
  return listed.split('\0').filter((name) => name !== '');
}

/** A path from the repository's root, as it is: nothing in it is a pattern or a word of git's. */
export function literally(pathFromRoot: string): string {
  return `:(top,literal)${pathFromRoot}`;
}
