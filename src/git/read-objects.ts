import { randomUUID } from 'node:crypto';
import { toGitError, type Git } from './run-git.ts';

/** An object in git's database. */
export type GitObject = { readonly id: string; readonly bytes: Buffer };

/** Names must not contain line breaks. Maps a name to null if git has no such object. */
export async function readObjects(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, GitObject | null>> {
  const output = await git.runCatFile(names, '--batch');
  const objects = new Map<string, GitObject | null>();
  let start = 0;
  for (const name of names) {
    const { object, end } = parseObject(output, start);
    objects.set(name, object);
    start = end;
  }
  return objects;
}

const LINE_FEED = 0x0a;

/**
 * Parses the next object in the output of `git cat-file --batch`: a line with the id, type and size, then the content
 * and a line feed. For a missing object, git prints only one line.
 */
function parseObject(output: Buffer, start: number): { readonly object: GitObject | null; readonly end: number } {
  const first = output.indexOf(LINE_FEED, start) + 1;
  const header = output.toString('latin1', start, first);
  const [, id, size] = /^((?:[0-9a-f]{40}|[0-9a-f]{64})) [a-z]+ ([0-9]+)\n$/.exec(header) ?? [];
  const end = first + (size === undefined ? 0 : Number(size) + 1);
  if (first === 0 || end > output.length) throw toGitError(new Error('its output ended too early.'));
  if (id === undefined) return { object: null, end };
  return { object: { id, bytes: output.subarray(first, end - 1) }, end };
}

/**
 * Reads files as `git checkout` would write them, with the filters, encodings and line endings that the attributes in
 * the work tree select. Each file is given as its blob id, a space, and its path. Maps a file to null if git lacks its
 * blob. Throws a `ProblemError` if a required filter fails.
 */
export async function readCheckedOutFiles(
  git: Git,
  files: readonly string[],
): Promise<ReadonlyMap<string, Buffer | null>> {
  const batch = files.filter((file) => !NEEDS_OWN_PROCESS.test(file));
  const others = files.filter((file) => NEEDS_OWN_PROCESS.test(file));
  const contents = others.map(async (file) => {
    const [blob, path] = [file.slice(0, file.indexOf(' ')), file.slice(file.indexOf(' ') + 1)];
    return [file, await git.runCatFile([], '--filters', `--path=${path}`, blob)] as const;
  });
  return new Map([...(await readFileBatch(git, batch)), ...(await Promise.all(contents))]);
}

/** Matches files that git cannot read from a line: it ignores blanks before a path, and a carriage return after it. */
const NEEDS_OWN_PROCESS = /^\S+ [ \t]|\n|\r$/;

async function readFileBatch(git: Git, files: readonly string[]): Promise<readonly [string, Buffer | null][]> {
  if (files.length === 0) return [];
  // git prints the size before filtering, so it does not show where the content ends. Therefore a separator follows
  // each file. git has no object with the separator's name, so it prints a known line.
  const separator = `end-${randomUUID()}`;
  const output = await git.runCatFile(
    files.flatMap((file) => [file, separator]),
    '--batch',
    '--filters',
  );
  const answers = splitAnswers(output, `${separator} missing\n`);
  return files.map((file, index) => {
    const answer = answers[index];
    if (answer === undefined) throw toGitError(new Error('its output ended too early.'));
    return [file, parseFile(answer)];
  });
}

/** Returns the parts before each separator. Omits everything after the last separator. */
function splitAnswers(output: Buffer, separator: string): readonly Buffer[] {
  const answers: Buffer[] = [];
  let start = 0;
  for (let end = output.indexOf(separator); end !== -1; end = output.indexOf(separator, start)) {
    answers.push(output.subarray(start, end));
    start = end + separator.length;
  }
  return answers;
}

/** Parses git's output for one file: a line, the content, and a line feed, or only a line if the blob is missing. */
function parseFile(answer: Buffer): Buffer | null {
  const first = answer.indexOf(LINE_FEED) + 1;
  return answer.toString('latin1', 0, first).endsWith(' missing\n') ? null : answer.subarray(first, -1);
}

/** Returns true for a mode such as `100644`, but not for symbolic links, folders and submodules. */
export function isRegular(mode: string): boolean {
  return mode.startsWith('100');
}
