import { existsSync } from 'node:fs';
import { join, parse } from 'node:path';
import { env } from 'node:process';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { SimpleGit, SimpleGitOptions } from 'simple-git';
import { makeProblem, getErrorMessage, ProblemError } from '../problem.ts';

/** The folder in which git runs, and the environment variables that git must not inherit. */
export type GitSettings = {
  /**
   * The folder that contains `.git`. Elsewhere, a branch could contain files called HEAD, config, objects and refs,
   * which git could mistake for a repository whose `config` starts programs.
   */
  readonly root: string;
  /** The names of the environment variables that contain API keys. */
  readonly keyVariables: readonly string[];
};

/**
 * Matches the names of environment variables that git must not inherit:
 * - Variables that choose another repository, index, or set of refs. git sets them for its hooks. `git rev-parse
 *   --local-env-vars` lists them, but also lists the variables that contain settings.
 * - Variables that change how git reads pathspecs, or what it prints.
 * - Variables of promptsync and inputs of the action. They can contain keys and tokens.
 */
const OMITTED_VARIABLES = new RegExp(
  [
    'git_(?:dir|work_tree|implicit_work_tree|common_dir|config|prefix|internal_super_prefix|namespace)$',
    'git_(?:index_file|object_directory|alternate_object_directories|quarantine_path|shallow_file|graft_file)$',
    'git_(?:replace_ref_base|no_replace_objects)$',
    'git_(?:literal|glob|noglob|icase)_pathspecs$',
    'git_(?:trace.*|curl_verbose|pager_in_use)$',
    'promptsync_',
    'input_',
  ]
    .map((name) => String.raw`^\s*${name}`)
    .join('|'),
  'i',
);

/**
 * git inherits the user's settings, such as `GIT_SSH_COMMAND` or `GIT_CONFIG_GLOBAL`, to work as it does in the user's
 * shell. It does not prompt for a password unless the user sets `GIT_TERMINAL_PROMPT`.
 */
function makeGitEnvironment(keyVariables: readonly string[]): Record<string, string | undefined> {
  const inherited = Object.entries(env).filter(
    ([name]) => !keyVariables.includes(name) && !OMITTED_VARIABLES.test(name),
  );
  return { GIT_TERMINAL_PROMPT: '0', ...Object.fromEntries(inherited) };
}

/** In a partial clone, git may have failed because the remote is unreachable. */
export function toGitError(error: unknown, isPartial = false): ProblemError {
  return new ProblemError(makeProblem('git/failed', { reason: describeGitError(error), isPartial }));
}

/** Describes an error in one line, without simple-git's prefix and without credentials in URLs. */
function describeGitError(error: unknown): string {
  const message = getErrorMessage(error);
  if (message.includes('spawn git ENOENT')) return 'git is not in PATH.';
  if (message.includes('block timeout reached')) return 'the remote did not respond in time.';
  const line = removeUrlCredentials(message.replace(/^Error: /, ''))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > MAX_ERROR_LENGTH ? `…${line.slice(-MAX_ERROR_LENGTH).replace(/^[\udc00-\udfff]/, '')}` : line;
}

/**
 * Matches the user name and the password in a URL, which may be a token. A password can contain a slash, although git
 * cannot use such a URL. Digits before a slash are the port, so an `@` after them belongs to the path.
 */
const URL_CREDENTIALS = /(?<=:\/\/)(?:[^\s/]*@|[^\s/]*:(?!\d+\/)\S*@)/g;

export function removeUrlCredentials(text: string): string {
  return text.replaceAll(URL_CREDENTIALS, '');
}

/** Returns the output. Throws a `ProblemError` if git fails with an error message. Without one, the output is empty. */
export type RunGit = (...args: readonly string[]) => Promise<string>;

const MAX_PARALLEL_PROCESSES = 4;

/** Functions that run git commands in one repository. They report failures in the same way as `RunGit`. */
export type Git = {
  readonly run: RunGit;
  /** Passes at least one line to standard input. Use it for many ids, which would not fit on a command line. */
  readonly runWithInput: (input: readonly string[], ...args: readonly string[]) => Promise<string>;
  /** Returns the output of `git cat-file` with these arguments. Each line of standard input names an object. */
  readonly runCatFile: (input: readonly string[], ...args: readonly string[]) => Promise<Buffer>;
};

/** Limits parallel processes. The functions throw a `ProblemError` if the folder does not contain `.git`. */
export function openGit(settings: GitSettings, options: Partial<SimpleGitOptions> = {}): Git {
  const limit = pLimit(MAX_PARALLEL_PROCESSES);
  let isPartial: Promise<boolean> | null = null;
  const readIsPartial = (): Promise<boolean> => (isPartial ??= isPartialClone(settings));
  const runInRepository = <Output>(lines: readonly string[], command: GitCommand<Output>): Promise<Output> => {
    const input = lines.map((line) => `${line}\n`).join('');
    return limit(async () => {
      if (!existsSync(join(settings.root, '.git'))) throw toGitError(new Error('this is not a git repository.'));
      return runGit(settings, { ...options, input: () => input }, command, readIsPartial);
    });
  };
  return {
    run: (...args) => runInRepository([], (git) => git.raw([...args])),
    runWithInput: (lines, ...args) => runInRepository(lines, (git) => git.raw([...args])),
    runCatFile: (lines, ...args) => runInRepository(lines, (git): PromiseLike<Buffer> => git.binaryCatFile([...args])),
  };
}

/** One git command, as a call of simple-git. */
type GitCommand<Output> = (git: SimpleGit) => PromiseLike<Output>;

/**
 * Every git process of promptsync starts here. Loads simple-git only for the first command, because loading it takes
 * time. Throws a `ProblemError` if git fails. Calls `isPartial` only then.
 */
async function runGit<Output>(
  settings: GitSettings,
  options: Partial<SimpleGitOptions>,
  command: GitCommand<Output>,
  isPartial: () => Promise<boolean> = async () => false,
): Promise<Output> {
  const { simpleGit } = await import('simple-git');
  const streams: NodeJS.ReadableStream[] = [];
  try {
    const config = [...SAFE_CONFIG, ...(options.config ?? [])];
    const variables = makeGitEnvironment(settings.keyVariables);
    const allowEnvironment = Object.keys(variables);
    const allOptions = { ...DEFAULT_OPTIONS, ...options, unsafe: SAFETY_EXCEPTIONS, config, allowEnvironment };
    const git = simpleGit({ ...allOptions, baseDir: settings.root }).env(variables);
    return await command(
      git.outputHandler((_, stdout, stderr) => {
        emitEmptyChunkAtEnd(stdout);
        streams.push(stdout, stderr);
      }),
    );
  } catch (error) {
    throw toGitError(error, await isPartial());
  } finally {
    // If git was killed, a program that it started may still hold the pipes. Node.js would then wait for this program.
    for (const stream of streams) if (stream instanceof Readable) stream.destroy();
  }
}

/** Matches the names of git settings that only a partial clone has. The pattern is valid in both git and JavaScript. */
export const PARTIAL_CLONE_SETTING = String.raw`^(extensions\.partialclone|remote\..+\.(promisor|partialclonefilter))$`;

/** Returns true if the clone fetches missing objects only when git needs them. Returns false if git fails. */
async function isPartialClone(settings: GitSettings): Promise<boolean> {
  const readSetting = (git: SimpleGit) => git.raw('config', '--get-regexp', PARTIAL_CLONE_SETTING);
  return (await runGit(settings, {}, readSetting).catch(() => '')) !== '';
}

/**
 * Returns a version such as `2.51.0`. Runs git in the root folder of the file system, which no branch can change.
 * Throws a `ProblemError` if git cannot be run.
 */
export async function readGitVersion({ root, keyVariables }: GitSettings): Promise<string> {
  const settings = { root: parse(root).root, keyVariables };
  const output = await runGit(settings, {}, (git) => git.raw('version'));
  return output.trim().replace(/^git version /, '');
}

/** When git gives up on a silent HTTP server. In a partial clone, every git command can contact the remote. */
const MAX_HTTP_SILENCE_SECONDS = 55;

/** Returns the git settings that make git give up on an HTTP server that stays silent for this time, in seconds. */
export function makeHttpLimits(seconds: number): readonly string[] {
  return ['http.lowSpeedLimit=1', `http.lowSpeedTime=${seconds}`];
}

const SAFE_CONFIG: readonly string[] = [
  // Keep git from using a folder in the work tree as a bare repository, and from running a monitor program to find out
  // which files changed.
  'safe.bareRepository=explicit',
  'core.fsmonitor=false',
  ...makeHttpLimits(MAX_HTTP_SILENCE_SECONDS),
];

type SafetyException = Exclude<
  keyof NonNullable<SimpleGitOptions['unsafe']>,
  'allowAbbreviatedOptions' | 'allowUnsafeCustomBinary'
>;

/**
 * Settings that can start programs. By default, simple-git refuses to run if a variable such as `GIT_ASKPASS` or
 * `GIT_CONFIG_COUNT` sets one. The user controls these variables. Text from a branch never becomes a git setting or
 * option.
 */
const SAFETY_EXCEPTIONS: Readonly<Record<SafetyException, true>> = {
  allowUnsafeAlias: true,
  allowUnsafeAskPass: true,
  allowUnsafeCommandBinaries: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeDiffExternal: true,
  allowUnsafeDiffTextConv: true,
  allowUnsafeEditor: true,
  allowUnsafeExec: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeGitProxy: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeHooksPath: true,
  allowUnsafeInclude: true,
  allowUnsafeMergeDriver: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeSubmodule: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeUrlRewrite: true,
};

/** Without this chunk, simple-git would wait 50 ms for the output of a command that prints nothing. */
function emitEmptyChunkAtEnd(stdout: NodeJS.ReadableStream): void {
  stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
}

/** In UTF-16 code units. Longer messages lose their beginning, because git prints the reason for its exit last. */
const MAX_ERROR_LENGTH = 600;

/**
 * Returns the error of a finished process. Its message is git's standard error output, because simple-git's message
 * also contains standard output, and thus perhaps prompt text. A process that was killed by a signal has no exit code,
 * and its output may be incomplete. Unlike simple-git, this function treats that as an error.
 */
export const detectFailure: NonNullable<SimpleGitOptions['errors']> = (error, { exitCode, stdErr }) => {
  if (!Number.isInteger(exitCode)) return error ?? new Error('a signal terminated git.');
  return error !== undefined && stdErr.length > 0 ? new Error(Buffer.concat(stdErr).toString()) : error;
};

const DEFAULT_OPTIONS: Partial<SimpleGitOptions> = {
  errors: detectFailure,
  // Output is complete once its pipe closes. By default, simple-git waits another 50 ms after the process exits.
  completion: { onClose: true, onExit: false },
};

/** Git attributes can select external diff and conversion programs. */
export const NO_EXTERNAL_PROGRAMS = ['--no-ext-diff', '--no-textconv'] as const;

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Returns true for 40 or 64 hexadecimal digits. promptsync checks each id from the service before using it in git. */
export function isCommitId(text: string): boolean {
  return COMMIT_ID.test(text);
}

/** git does not interpret any character of the path as a pattern or as pathspec magic. */
export function makeLiteralPathspec(pathFromRoot: string): string {
  return `:(top,literal)${pathFromRoot}`;
}

/** The maximum number of paths on one command line. Every operating system accepts this many. */
const MAX_PATHSPECS = 50;

/** For more than `MAX_PATHSPECS` paths, returns a single pathspec for their common parent folder. */
export function makePathspecs(paths: readonly string[]): readonly string[] {
  if (paths.length <= MAX_PATHSPECS) return paths.map(makeLiteralPathspec);
  const [firstFolder = [], ...otherFolders] = paths.map((path) => path.split('/').slice(0, -1));
  const end = firstFolder.findIndex((name, index) => otherFolders.some((folder) => folder[index] !== name));
  const commonFolder = end === -1 ? firstFolder : firstFolder.slice(0, end);
  return [makeLiteralPathspec(commonFolder.join('/'))];
}

export function splitLines(output: string): readonly string[] {
  return output.split('\n').filter((line) => line !== '');
}

/** Splits the output of a git command that prints a NUL after each name. */
export function splitNames(output: string): readonly string[] {
  return output.split('\0').filter((name) => name !== '');
}

/** Returns the combined result for all items of a batch. Only items with the same `group` arguments share a batch. */
export type BatchedCall<Answer> = (item: string, ...group: readonly string[]) => Promise<Answer>;

type Batch<Answer> = { readonly items: Set<string>; readonly answer: Promise<Answer> };

/**
 * Combines simultaneous calls into batches of one group each, because each `answerBatch` call starts a git process.
 * Items share a batch if they are requested in the same turn of the event loop, or while the previous batch is running.
 */
export function batchCalls<Answer>(
  answerBatch: (items: readonly string[], ...group: readonly string[]) => Promise<Answer>,
): BatchedCall<Answer> {
  const openBatches = new Map<string, Batch<Answer>>();
  const lastAnswers = new Map<string, Promise<unknown>>();
  const openBatch = (groupKey: string, group: readonly string[]): Batch<Answer> => {
    const items = new Set<string>();
    const start = Promise.allSettled([lastAnswers.get(groupKey), setImmediate()]);
    const answer = start.then(() => {
      openBatches.delete(groupKey);
      return answerBatch([...items], ...group);
    });
    lastAnswers.set(groupKey, answer);
    return { items, answer };
  };
  return (item, ...group) => {
    const groupKey = group.join('\0');
    const batch = openBatches.get(groupKey) ?? openBatch(groupKey, group);
    openBatches.set(groupKey, batch);
    batch.items.add(item);
    return batch.answer;
  };
}
