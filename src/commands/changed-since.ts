import { realpathSync } from 'node:fs';
import { basename, relative, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem, ProblemError } from '../problem.ts';

/** What `--changed-since` leaves out. */
export type Narrowed = {
  /** The commit that was named. */
  readonly since: string;
  /** The selected prompts that are not looked at. */
  readonly left: readonly PromptFile[];
  /** It was opened to find them, and is good for further questions. */
  readonly repository: Repository;
};

/**
 * Leaves out the prompts whose files are as a commit has them. Where the configuration file differs from that commit it
 * leaves out none, because every prompt may be wanted otherwise. Throws a `ProblemError`.
 */
export async function leaveOutUnchanged(
  files: readonly PromptFile[],
  ref: string,
  config: Config,
  repository: Repository | null,
): Promise<{ readonly files: readonly PromptFile[]; readonly narrowed: Narrowed }> {
  if (repository === null) throw new ProblemError(makeProblem('git/base-needs-git', { ref }));
  const since = await repository.resolveRef(ref);
  if (since === null) throw new ProblemError(makeProblem('git/unknown-base', { ref }));
  const [there, changed] = await Promise.all([repository.pathsAt(since), repository.changedSince(since)]);
  const unchanged = new Set(there.filter((path) => !changed.has(path)));
  const left = configPaths(config).every((path) => unchanged.has(path))
    ? files.filter(({ path }) => unchanged.has(path))
    : [];
  const leftOut = new Set(left);
  return { files: files.filter((file) => !leftOut.has(file)), narrowed: { since, left, repository } };
}

/** Where git may know the configuration file, relative to its folder: of a symbolic link also what it leads to. */
function configPaths({ file, folder }: Config): readonly string[] {
  const target = relative(realpathSync(folder), realpathSync(file));
  return [basename(file), target.split(sep).join('/')];
}
