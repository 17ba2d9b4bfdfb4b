import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { SimpleGit, SimpleGitOptions } from 'simple-git';
import { makeProblem, getErrorMessage, ProblemError } from '../problem.ts';

/** Where git is started, and what it is not handed. */
export type GitSettings = {
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
const OMITTED_VARIABLES = /^\s*(?:(?:git|promptsync|input)_|(?:editor|pager|prefix|ssh_askpass|visual)\s*$)/i;

function makeGitEnvironment(
  keyVariables: readonly string[],
  handedOn: readonly string[],
): Record<string, string | undefined> {
  const isLeftOut = (name: string) => keyVariables.includes(name) || OMITTED_VARIABLES.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => handedOn.includes(name) || !isLeftOut(name)));
}

export function toGitError(error: unknown): ProblemError {
  return new ProblemError(makeProblem('git/failed', { reason: describeGitError(error) }));
}

/** In one line, without what simple-git puts before some reasons, and without the user of an address: it may be a token. */
function describeGitError(error: unknown): string {
  const message = getErrorMessage(error);
  if (message.includes('spawn git ENOENT')) return 'there is no program git in PATH.';
  return message
    .replace(/^Error: /, '')
    .replaceAll(/(?<=:\/\/)[^\s/]*@/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/**
 * Runs a git command and returns its output. Throws a `ProblemError` if git fails with a message. A command that fails
 * without a message returns an empty output.
 */
export type RunGit = (...words: readonly string[]) => Promise<string>;

const MAX_PARALLEL_PROCESSES = 4;

/** Runs git commands in one repository. Every function fails like `RunGit`. */
export type Git = {
  /** Runs a command without standard input. */
  readonly run: RunGit;
  /** Runs a command that reads at least one line from its standard input: a command line is too short for many ids. */
  readonly runWithInput: (input: readonly string[], ...words: readonly string[]) => Promise<string>;
  /** Returns what `cat-file --batch` prints for these objects, at least one. */
  readonly readBatch: (names: readonly string[]) => Promise<Buffer>;
};

/** Starts a few processes at a time. It loads simple-git, which takes a while, only for the first command. */
export function openGit(start: GitSettings, options: Partial<SimpleGitOptions> = {}): Git {
  const limit = pLimit(MAX_PARALLEL_PROCESSES);
  const runCommand = <Output>(
    lines: readonly string[],
    use: (git: SimpleGit) => PromiseLike<Output>,
  ): Promise<Output> => {
    const input = lines.map((line) => `${line}\n`).join('');
    return limit(() => runGit(start, { ...options, input: () => input }, use));
  };
  const runWithInput = (input: readonly string[], ...words: readonly string[]): Promise<string> =>
    runCommand(input, (git) => git.raw([...words]));
  const run: RunGit = (...words) => runWithInput([], ...words);
  return {
    run,
    runWithInput,
    readBatch: (names) => runCommand(names, (git): PromiseLike<Buffer> => git.binaryCatFile(['--batch'])),
  };
}

/** Throws a `ProblemError` where the folder holds no `.git`. */
async function runGit<Output>(
  { root, keyVariables }: GitSettings,
  options: Partial<SimpleGitOptions>,
  use: (git: SimpleGit) => PromiseLike<Output>,
): Promise<Output> {
  if (!existsSync(join(root, '.git'))) throw toGitError(new Error('this is not a git repository.'));
  const { simpleGit } = await import('simple-git');
  try {
    const { allowEnvironment: handedOn = [] } = options;
    const allowEnvironment = [...handedOn, ...Object.keys(NON_INTERACTIVE_SETTINGS)];
    const git = simpleGit({ errors: detectFailure, ...options, ...SAFE_SETTINGS, allowEnvironment, baseDir: root });
    const variables = { ...makeGitEnvironment(keyVariables, handedOn), ...NON_INTERACTIVE_SETTINGS };
    return await use(git.env(variables).outputHandler(closeEarly));
  } catch (error) {
    throw toGitError(error);
  }
}

/** Git fails where it would wait for somebody to type a password. */
const NON_INTERACTIVE_SETTINGS = { GIT_TERMINAL_PROMPT: '0' };

const SAFE_SETTINGS: Partial<SimpleGitOptions> = {
  // Git takes no folder that it comes upon for a bare repository, and asks no program which files have changed.
  config: ['safe.bareRepository=explicit', 'core.fsmonitor=false'],
  unsafe: { allowUnsafeFsMonitor: true, allowUnsafeSshCommand: true },
  // An output is complete when its pipe is closed, not 50 ms after the process has ended, as is the default.
  completion: { onClose: true, onExit: false },
};

/** simple-git waits 50 ms for a command that has printed nothing, unless a piece comes, be it empty. */
function closeEarly(_: string, stdout: NodeJS.ReadableStream): void {
  stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
}

/** A process that was ended by a signal has no exit code, and its output may be cut: to simple-git that is no error. */
export const detectFailure: NonNullable<SimpleGitOptions['errors']> = (error, { exitCode }) =>
  error ?? (Number.isInteger(exitCode) ? undefined : new Error('it was ended by a signal.'));

/** For what compares files: the programs that attributes of files name are not started. */
export const NO_EXTERNAL_PROGRAMS = ['--no-ext-diff', '--no-textconv'] as const;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a text can be a commit's id: nothing else that comes from the service is handed to git as one. */
export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}

/** A path from the repository's root as a pathspec that matches it as it is: nothing in it is a pattern or magic. */
export function toLiteralPathspec(pathFromRoot: string): string {
  return `:(top,literal)${pathFromRoot}`;
}

/** So many paths fit on every command line. */
const MAX_PATHSPECS = 50;

/** Pathspecs that match these paths from the root: each of a few, of many the folder that all of them are in. */
export function makePathspecs(paths: readonly string[]): readonly string[] {
  if (paths.length <= MAX_PATHSPECS) return paths.map(toLiteralPathspec);
  const [first = [], ...rest] = paths.map((path) => path.split('/').slice(0, -1));
  const end = first.findIndex((name, index) => rest.some((names) => names[index] !== name));
  return [toLiteralPathspec((end === -1 ? first : first.slice(0, end)).join('/'))];
}

export function splitLines(listed: string): readonly string[] {
  return listed.split('\n').filter((line) => line !== '');
}

/** What git lists with a NUL after each. */
export function splitNames(listed: string): readonly string[] {
  return listed.split('\0').filter((name) => name !== '');
}

/** Asks for one item of a group, and gets the answer for all that were asked for along with it. */
export type BatchedCall<Answer> = (item: string, ...group: readonly string[]) => Promise<Answer>;

type Batch<Answer> = { readonly items: Set<string>; readonly answer: Promise<Answer> };

/**
 * Where each answer takes a process: items of one group that are asked for in the same turn, or while the group's last
 * answer is being made, are answered together.
 */
export function batchCalls<Answer>(
  answer: (items: readonly string[], ...group: readonly string[]) => Promise<Answer>,
): BatchedCall<Answer> {
  const next = new Map<string, Batch<Answer>>();
  const last = new Map<string, Promise<unknown>>();
  const start = (key: string, group: readonly string[]): Batch<Answer> => {
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
