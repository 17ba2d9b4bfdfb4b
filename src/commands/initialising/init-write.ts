import { appendFile, lstat, readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { WrittenFile } from '../../domain/edits.ts';
import { createFile, replaceFile } from '../../files/read-write.ts';
import { makeProblem, systemCodeOf, type Problem } from '../../problem.ts';
import { firstLink, slashed } from '../../files/paths.ts';
import type { InitFile } from './init-files.ts';
import type { Interview } from '../world.ts';

/** Where files are written, and what is done about one that is there and differs. */
export type InitTarget = {
  /** Absolute; the workspace and what must not be left. */
  readonly workspace: string;
  readonly root: string;
  /** Overwrite without a question. */
  readonly force: boolean;
  readonly interview: Interview | null;
};

/** What is to be done with one file. */
export type Decided = {
  readonly file: InitFile;
  readonly status: WrittenFile['status'];
  /** Empty where there is none. */
  readonly before: string;
};

/** Looks at what is there, and asks where something would be lost. Throws a `ProblemError` when somebody gives up. */
export async function decideOn(file: InitFile, target: InitTarget): Promise<Decided | Problem> {
  const full = resolve(target.workspace, file.path);
  const before = await readRegular(full, file.path, target);
  if (typeof before === 'object' && before !== null) return before;
  if (before === null) return { file, status: 'created', before: '' };
  return { file, status: await statusOf(file, before, target), before };
}

/** Writes what was decided. What stands in the way is returned. */
export async function writeDecided(
  { file, status, before }: Decided,
  { workspace }: InitTarget,
): Promise<Problem | null> {
  const { path, kind, content } = file;
  const full = resolve(workspace, path);
  const whole = kind === 'whole' ? content : `${content}\n`;
  try {
    if (status === 'extended') await appendFile(full, before === '' || before.endsWith('\n') ? whole : `\n${whole}`);
    if (status === 'overwritten') await replaceFile(full, whole);
    if (status !== 'created' || (await createFile(full, whole))) return null;
    return makeProblem('init/in-the-way', { path, what: 'it has come into being meanwhile' });
  } catch (error) {
    return makeProblem('init/write-failed', { path, reason: systemCodeOf(error) });
  }
}

/** Null when there is no file. Links are not followed: they may lead out of the repository. */
async function readRegular(
  full: string,
  path: string,
  { workspace, root }: InitTarget,
): Promise<string | Problem | null> {
  const link = firstLink(root, dirname(full));
  const shown = link === null ? path : slashed(relative(workspace, link));
  const stats = await lstat(full).catch(() => null);
  if (link !== null || stats?.isSymbolicLink() === true) {
    return makeProblem('init/in-the-way', { path: shown, what: 'it is a symbolic link' });
  }
  if (stats === null) return null;
  if (!stats.isFile()) return makeProblem('init/in-the-way', { path, what: 'it is not a regular file' });
  try {
    return await readFile(full, 'utf8');
  } catch (error) {
    return makeProblem('init/write-failed', { path, reason: systemCodeOf(error) });
  }
}

async function statusOf(
  { path, kind, content }: InitFile,
  before: string,
  { force, interview }: InitTarget,
): Promise<WrittenFile['status']> {
  if (kind === 'line') return hasLine(before, content) ? 'kept' : 'extended';
  if (before === content) return 'kept';
  const message = `${path} is there and differs. Overwrite it?`;
  return force || (await interview?.confirm({ message, initial: false })) === true ? 'overwritten' : 'kept';
}

function hasLine(text: string, line: string): boolean {
  return text.split('\n').some((one) => one.trim() === line);
}
