import { stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { findTrackedLink } from '../workspace/paths.ts';
import { findReplaceObstacle, replaceFile } from '../workspace/read-write-files.ts';
import { describeSystemError, makeProblem, type Problem, ProblemError } from '../problem.ts';
import type { ProcessInterface } from './process-interface.ts';

export type OutputTarget<Format extends string> = {
  readonly format: Format;
  /** The path of the file, relative to the working directory. Null for standard output. */
  readonly file: string | null;
};

export type OutputKind<Format extends string> = {
  readonly name: 'report' | 'bundle';
  /** The format for standard output if the user specifies none. */
  readonly defaultFormat: Format;
  readonly formatsByEnding: ReadonlyMap<string, Format>;
};

type OutputFlags<Format extends string> = {
  readonly format: Format | undefined;
  readonly output: readonly string[];
};

/** promptsync does not open these paths of standard output, because that fails if standard output is a socket. */
const STDOUT_PATHS: readonly string[] = ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'];

/**
 * Returns the targets that the flags select. Throws a `ProblemError` if the format of a target is ambiguous or its file
 * cannot be written. Commands call this function first, so that they never do work whose result they cannot write.
 */
export async function openTargets<Format extends string>(
  flags: OutputFlags<Format>,
  kind: OutputKind<Format>,
  { workingDirectory }: Pick<ProcessInterface, 'workingDirectory'>,
): Promise<readonly OutputTarget<Format>[]> {
  const targets = parseTargets(flags, kind);
  for (const { file } of targets) {
    const obstacle = file === null ? null : await findOutputObstacle(resolve(workingDirectory, file));
    if (file !== null && obstacle !== null) throw new ProblemError(makeUnwritableProblem(file, obstacle, kind));
  }
  return targets;
}

/** Without `--format`, the file extension determines the format. Throws a `ProblemError` if a format is ambiguous. */
export function parseTargets<Format extends string>(
  { format, output }: OutputFlags<Format>,
  { name, defaultFormat, formatsByEnding }: OutputKind<Format>,
): readonly OutputTarget<Format>[] {
  const makeError = (reason: string) =>
    new ProblemError(makeProblem('usage/output-format', { what: name, reason, endings: [...formatsByEnding.keys()] }));
  if (output.length === 0) return [{ format: format ?? defaultFormat, file: null }];
  if (format !== undefined && output.length > 1)
    throw makeError('`--format` cannot be used with more than one `--output`');
  return output.map((file) => {
    const fileFormat = format ?? formatsByEnding.get(extname(file));
    if (fileFormat === undefined) throw makeError(`the format cannot be inferred from the file name \`${file}\``);
    return { format: fileFormat, file: STDOUT_PATHS.includes(file) ? null : file };
  });
}

/** Returns the reason why an output cannot be written to a path. Returns null if it can be written. */
async function findOutputObstacle(path: string): Promise<string | null> {
  const link = findTrackedLink(path);
  if (link !== null) return describeTrackedLink(link);
  const folder = await stat(dirname(path)).catch(() => null);
  if (folder?.isDirectory() !== true) return 'its folder does not exist';
  return findReplaceObstacle(path);
}

/** promptsync does not follow a symbolic link in a repository, because a stranger may have committed it. */
export function describeTrackedLink(link: string): string {
  return `\`${link}\` is a symbolic link inside a repository`;
}

/** Writes an output to a file. Returns a problem instead of throwing, because the command has already done its work. */
export async function writeOutputFile(
  text: string,
  file: string,
  kind: Pick<OutputKind<string>, 'name'>,
  { workingDirectory }: Pick<ProcessInterface, 'workingDirectory'>,
): Promise<Problem | null> {
  return replaceFile(resolve(workingDirectory, file), text).then(
    () => null,
    (error: unknown) => makeUnwritableProblem(file, describeSystemError(error), kind),
  );
}

function makeUnwritableProblem(path: string, reason: string, { name }: Pick<OutputKind<string>, 'name'>): Problem {
  return makeProblem('usage/output-unwritable', { what: name, path, reason });
}
