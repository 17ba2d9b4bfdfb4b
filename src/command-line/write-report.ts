import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { trackedLink } from '../files/paths.ts';
import { replaceFile } from '../files/read-write.ts';
import { makeProblem, ProblemError, systemCodeOf, type Problem } from '../problem.ts';
import type { Host } from './host.ts';

/** Throws a `ProblemError` when the report could not be written there later: better known before anything is done. */
export async function checkOutput(output: string, { workingDirectory }: Host): Promise<void> {
  const path = resolve(workingDirectory, output);
  const folder = await stat(dirname(path)).catch(() => null);
  const file = await stat(path).catch(() => null);
  const link = trackedLink(path);
  if (link !== null) throw new ProblemError(unwritable(output, `${link} is a symbolic link inside a repository`));
  if (output === '') throw new ProblemError(unwritable(output, 'it is empty'));
  if (folder?.isDirectory() !== true) throw new ProblemError(unwritable(output, 'there is no such folder'));
  if (file?.isDirectory() === true) throw new ProblemError(unwritable(output, 'it is a folder'));
}

/** Writes the report to the file that was asked for. What stands in the way is returned: the work is done by then. */
export async function writeReport(text: string, output: string, { workingDirectory }: Host): Promise<Problem | null> {
  const path = resolve(workingDirectory, output);
  try {
    await replaceFile(path, text);
    return null;
  } catch (error) {
    return unwritable(output, systemCodeOf(error));
  }
}

function unwritable(path: string, reason: string): Problem {
  return makeProblem('usage/output-unwritable', { path, reason });
}
