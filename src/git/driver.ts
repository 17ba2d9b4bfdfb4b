import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { SimpleGit, SimpleGitOptions } from 'simple-git';
import { makeProblem, messageOf, ProblemError } from '../problem.ts';

/** Where git is started, and what it is not handed. */
export type GitStart = {
  /**
   * The folder that holds `.git`. Started in another one, git takes files of a branch that are called HEAD, config,
   * objects and refs for a repository, and runs the programs that this `config` names.
   */
  readonly root: string;
  readonly keyVariables: readonly string[];
};

/**
 * What git does not inherit of this process, because it changes what git reads, where, or which programs it starts: a
 * hook of git's runs with many of these, and simple-git leaves out the same ones. And what holds keys and tokens: our
 * own variables, and the action's inputs.
 */
const LEFT_OUT = /^\s*(?:(?:git|promptsync|input)_|(?:editor|pager|prefix|ssh_askpass|visual)\s*$)/i;

function inherited(keyVariables: readonly string[], handedOn: readonly string[]): Record<string, string | undefined> {
  const isLeftOut = (name: string) => keyVariables.includes(name) || LEFT_OUT.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => handedOn.includes(name) || !isLeftOut(name)));
}

export function gitProblem(error: unknown): ProblemError {
  return new ProblemError(makeProblem('git/failed', { reason: reasonOf(error) }));
}

/** In one line, without what simple-git puts before some reasons, and without the user of an address: it may be a token. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (message.includes('spawn git ENOENT')) return 'there is no program git in PATH.';
  return message
    .replace(/^Error: /, '')
    .replaceAll(/(?<=:\/\/)[^\s/]*@/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** One git command's output. Throws a `ProblemError` when git fails; a command that fails without a word has printed nothing. */
export type Ask = (...words: readonly string[]) => Promise<string>;

const AT_ONCE = 4;

export type Git = ReturnType<typeof openGit>;

/** The commands of git, a few processes at a time. simple-git takes a while to load: it is when something is asked. */
export function openGit(start: GitStart, options: Partial<SimpleGitOptions> = {}) {
  const limit = pLimit(AT_ONCE);
  const run = <Output>(lines: readonly string[], use: (git: SimpleGit) => PromiseLike<Output>): Promise<Output> => {
    const input = lines.map((line) => `${line}\n`).join('');
    return limit(() => runGit(start, { ...options, input: () => input }, use));
  };
  const askWith = (input: readonly string[], ...words: readonly string[]): Promise<string> =>
    run(input, (git) => git.raw([...words]));
  const ask: Ask = (...words) => askWith([], ...words);
  return {
    ask,
    /** With lines for the standard input, at least one: a command line is not long enough for many ids. */
    askWith,
    /** What `cat-file --batch` prints for these names, at least one. */
    catFiles: (names: readonly string[]) => run(names, (git): PromiseLike<Buffer> => git.binaryCatFile(['--batch'])),
  };
}

/** Throws a `ProblemError` where the folder holds no `.git`. */
async function runGit<Output>(
  { root, keyVariables }: GitStart,
  options: Partial<SimpleGitOptions>,
  use: (git: SimpleGit) => PromiseLike<Output>,
): Promise<Output> {
  if (!existsSync(join(root, '.git'))) throw gitProblem(new Error('this is not a git repository.'));
  const { simpleGit } = await import('simple-git');
  try {
    const { allowEnvironment: handedOn = [] } = options;
    const allowEnvironment = [...handedOn, ...Object.keys(UNASKED)];
    const git = simpleGit({ errors: failureOf, ...options, ...SAFE, allowEnvironment, baseDir: root });
    const variables = { ...inherited(keyVariables, handedOn), ...UNASKED };
    return await use(git.env(variables).outputHandler(endAtOnce));
  } catch (error) {
    throw gitProblem(error);
  }
}

/** Git fails where it would wait for somebody to type a password. */
const UNASKED = { GIT_TERMINAL_PROMPT: '0' };

const SAFE: Partial<SimpleGitOptions> = {
  // Git takes no folder that it comes upon for a bare repository, and asks no program which files have changed.
  config: ['safe.bareRepository=explicit', 'core.fsmonitor=false'],
  unsafe: { allowUnsafeFsMonitor: true, allowUnsafeSshCommand: true },
  // An output is complete when its pipe is closed, not 50 ms after the process has ended, as is the default.
  completion: { onClose: true, onExit: false },
};

/** simple-git waits 50 ms for a command that has printed nothing, unless a piece comes, be it empty. */
function endAtOnce(_: string, stdout: NodeJS.ReadableStream): void {
  stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
}

/** A process that was ended by a signal has no exit code, and its output may be cut: to simple-git that is no error. */
export const failureOf: NonNullable<SimpleGitOptions['errors']> = (error, { exitCode }) =>
  error ?? (Number.isInteger(exitCode) ? undefined : new Error('it was ended by a signal.'));

/** For what compares files: the programs that attributes of files name are not started. */
export const NO_PROGRAMS = ['--no-ext-diff', '--no-textconv'] as const;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a text can be a commit's id: nothing else that comes from the service is handed to git as one. */
export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}

/** A path from the repository's root as a pathspec that matches it as it is: nothing in it is a pattern or magic. */
export function literally(pathFromRoot: string): string {
  return `:(top,literal)${pathFromRoot}`;
}

/** So many paths fit on every command line. */
const FEW = 50;

/** Pathspecs that match these paths from the root: each of a few, of many the folder that all of them are in. */
export function pathspecsOf(paths: readonly string[]): readonly string[] {
  if (paths.length <= FEW) return paths.map(literally);
  const [first = [], ...rest] = paths.map((path) => path.split('/').slice(0, -1));
  const end = first.findIndex((name, index) => rest.some((names) => names[index] !== name));
  return [literally((end === -1 ? first : first.slice(0, end)).join('/'))];
}

export function linesIn(listed: string): readonly string[] {
  return listed.split('\n').filter((line) => line !== '');
}

/** What git lists with a NUL after each. */
export function namesIn(listed: string): readonly string[] {
  return listed.split('\0').filter((name) => name !== '');
}

/** Asks for one item of a group, and gets the answer for all that were asked for along with it. */
export type Gathered<Answer> = (item: string, ...group: readonly string[]) => Promise<Answer>;

type Round<Answer> = { readonly items: Set<string>; readonly answer: Promise<Answer> };

/**
 * Where each answer takes a process: items of one group that are asked for in the same turn, or while the group's last
 * answer is being made, are answered together.
 */
export function gathered<Answer>(
  answer: (items: readonly string[], ...group: readonly string[]) => Promise<Answer>,
): Gathered<Answer> {
  const next = new Map<string, Round<Answer>>();
  const last = new Map<string, Promise<unknown>>();
  const start = (key: string, group: readonly string[]): Round<Answer> => {
    const items = new Set<string>();
    const before = Promise.allSettled([last.get(key), setImmediate()]);
    const made = before.then(() => {
      next.delete(key);
      return answer([...items], ...group);
    });
    last.set(key, made);
    return { items, answer: made };
  };
  return (item, ...group) => {
    const key = group.join('\0');
    const round = next.get(key) ?? start(key, group);
    next.set(key, round);
    round.items.add(item);
    return round.answer;
  };
}
