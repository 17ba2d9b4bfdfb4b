import type { Config } from '../config/config.ts';
import type { DesiredBase } from '../domain/desired.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { promptMatcher } from '../files/find.ts';
import { readPrompts } from '../files/read.ts';
import type { Repository } from '../git/repository.ts';
import { isError, makeProblem, ProblemError, type Problem } from '../problem.ts';
import { parseAt } from './at-commit.ts';
import { selectFiles } from './select-files.ts';

/** The base commit with its prompt files, those of the selected prompts alone. */
export type BaseFiles = DesiredBase & {
  /** As it was given, and the commit that it names. */
  readonly ref: string;
  readonly commit: string;
  /** The selected files that are gone since. */
  readonly gone: readonly PromptFile[];
  /** Warnings: of files that cannot be read there. */
  readonly problems: readonly Problem[];
};

export type BaseRequest = {
  readonly ref: string;
  readonly config: Config;
  /** The files of now that were selected. */
  readonly files: readonly PromptFile[];
  /** What they were selected by. */
  readonly only: readonly string[];
  /** Prompts of now that were left out: they are there all the same. */
  readonly left: readonly { readonly id: string }[];
};

/** Reads the base commit's prompt files; only those that have changed since are parsed. Throws a `ProblemError`. */
export async function readBase(request: BaseRequest, repository: Repository | null): Promise<BaseFiles> {
  const { ref, files, left } = request;
  if (repository === null) throw new ProblemError(makeProblem('git/needs-repository', { what: `The base "${ref}"` }));
  const commit = await repository.resolveRef(ref);
  if (commit === null) throw new ProblemError(makeProblem('git/unknown-base', { ref }));
  const [there, different] = await Promise.all([repository.pathsAt(commit), repository.changedSince(commit)]);
  const before = new Set(there);
  const same = files.filter(({ path }) => before.has(path) && !different.has(path));
  const paths = [...different].filter((path) => before.has(path)).filter(promptMatcher(request.config));
  const changed = await Promise.all(paths.map((path) => readAt(commit, path, repository)));
  const shallow = (await repository.isShallow()) ? [makeProblem('git/shallow', { of: 'drift' })] : [];
  const now = new Set(files.map(({ id }) => id));
  const heads = repository.head === null ? [] : [repository.head];
  const then = [...same, ...changed.flatMap(({ file }) => file ?? [])].filter(({ id }) => now.has(id));
  return {
    ref,
    commit,
    files: new Map(then.map((file) => [file.id, file])),
    ancestors: await repository.ancestorsOf([commit, ...heads]),
    gone: await goneSince(changed, new Set([...now, ...left.map(({ id }) => id)]), request),
    problems: [...invalidAt(changed, request), ...shallow],
  };
}

/** Those that were selected. One may be there still, and not be selected now: under another path or key. */
async function goneSince(
  changed: readonly Earlier[],
  now: ReadonlySet<string>,
  { config, only }: BaseRequest,
): Promise<readonly PromptFile[]> {
  const then = changed.flatMap(({ file }) => file ?? []);
  const missing = then.filter(({ id }) => !now.has(id));
  const selected = selectFiles(missing, only).files;
  if (selected.length === 0 || only.length === 0) return selected;
  const { files } = await readPrompts(config, { known: null, reserved: [] });
  const there = new Set(files.map(({ id }) => id));
  return selected.filter(({ id }) => !there.has(id));
}

type Earlier = { readonly path: string; readonly file: PromptFile | null; readonly reason: string };

async function readAt(commit: string, path: string, repository: Repository): Promise<Earlier> {
  const parsed = await parseAt(repository, commit, repository.fromRoot(path));
  if (parsed === null) return { path, file: null, reason: 'it is not a regular file' };
  const { file, problems } = parsed;
  return { path, file: file && { ...file, path }, reason: problems.find(isError)?.message ?? '' };
}

function invalidAt(changed: readonly Earlier[], { ref, files }: BaseRequest): readonly Problem[] {
  const now = new Set(files.map(({ path }) => path));
  return changed
    .filter(({ file, path }) => file === null && now.has(path))
    .map(({ path, reason }) => makeProblem('git/base-invalid', { base: ref, reason }, { path }));
}
