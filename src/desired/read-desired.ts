import { type Config, forbidsLatest, promotedFrom } from '../config/config.ts';
import { parseAcceptedWarnings } from '../config/load.ts';
import { parseAt, readContentsAtRefs } from './at-commit.ts';
import {
  configPaths,
  type Narrowed,
  openRepositoryOf,
  readSince,
  selectFiles,
  type WorkspaceOptions,
  type Workspace,
} from './workspace.ts';
import { type AcceptedWarnings, ownAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { Desired, DesiredBase } from '../domain/desired.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { promptMatcher } from '../files/find.ts';
import { readPrompts } from '../files/read.ts';
import type { Repository } from '../git/repository.ts';
import { isError, makeProblem, type Problem, ProblemError, problemOf } from '../problem.ts';

/** All that files, configuration and git say before the service is asked, and where it comes from. */
export type ReadDesired = Desired & {
  readonly config: Config;
  readonly repository: Repository | null;
  readonly base: BaseFiles | null;
  /** Paths of the files that differ from HEAD; empty outside of git. */
  readonly uncommitted: ReadonlySet<string>;
  readonly narrowed: Narrowed | null;
  /** What the base accepts, so that a pull request cannot silence its own warnings. Without a base, what the files accept. */
  readonly acceptedWarnings: AcceptedWarnings;
  /** Warnings. */
  readonly problems: readonly Problem[];
};

export type DesiredOptions = Pick<WorkspaceOptions, 'only'> & {
  /** The ref that drift is compared with. */
  readonly base?: string | undefined;
};

/** Reads what git knows of a workspace without errors. A problem says why there is nothing to plan from. */
export async function readDesired(
  workspace: Workspace & { readonly config: Config },
  { base: ref, only }: DesiredOptions,
): Promise<ReadDesired | Problem> {
  const { config, files, narrowed } = workspace;
  try {
    const repository = await openRepositoryOf(config);
    const left = narrowed?.left ?? [];
    const base = ref === undefined ? null : await readBase({ ref, config, files, only, left }, repository);
    const now = new Set(files);
    const then = [...(base?.files.values() ?? [])].filter((file) => !now.has(file));
    return {
      ...{ config, files, repository, base, narrowed },
      acceptedWarnings: chooseAcceptedWarnings(base, files, config),
      contentsAtRefs: await readContentsAtRefs([...files, ...then], repository),
      environmentOrder: config.environments?.map(({ name }) => name) ?? null,
      latestForbidden: forbidsLatest(config),
      promotedFrom: promotedFrom(config),
      uncommitted: await uncommittedOf(workspace, repository),
      problems: [...workspace.problems, ...(base?.problems ?? [])],
    };
  } catch (error) {
    if (error instanceof ProblemError) return problemOf(error);
    throw error;
  }
}

function chooseAcceptedWarnings(
  base: BaseFiles | null,
  files: readonly PromptFile[],
  config: Config,
): AcceptedWarnings {
  return base === null ? ownAcceptedWarnings(files, config) : base.acceptedWarnings;
}

async function uncommittedOf({ files }: Workspace, repository: Repository | null): Promise<ReadonlySet<string>> {
  if (repository === null || files.length === 0) return new Set();
  return repository.uncommitted(files.map(({ path }) => path));
}

/** The base commit with its prompt files, those of the selected prompts alone. */
type BaseFiles = DesiredBase & {
  /** As it was given, and the commit that it names. */
  readonly ref: string;
  readonly commit: string;
  /** The selected files that are gone since. */
  readonly gone: readonly PromptFile[];
  /** What the base accepts. The paths are those of the work tree. */
  readonly acceptedWarnings: AcceptedWarnings;
  /** Warnings: of files that cannot be read there. */
  readonly problems: readonly Problem[];
};

type BaseRequest = {
  readonly ref: string;
  readonly config: Config;
  /** The files of now that were selected. */
  readonly files: readonly PromptFile[];
  readonly only: readonly string[];
  /** Prompts of now that were left out: they are there all the same. */
  readonly left: readonly { readonly id: string }[];
};

/** Reads the base commit's prompt files; only those that have changed since are parsed. Throws a `ProblemError`. */
async function readBase(request: BaseRequest, given: Repository | null): Promise<BaseFiles> {
  const { ref, files, left } = request;
  const { repository, commit, same: unchanged, changed: different } = await readSince(ref, given);
  const same = files.filter(({ path }) => unchanged.has(path));
  const paths = different.filter(promptMatcher(request.config));
  const changed = await Promise.all(paths.map((path) => readAt(commit, path, repository)));
  const shallow = repository.shallow ? [makeProblem('git/shallow', { of: 'drift' })] : [];
  const now = new Set(files.map(({ id }) => id));
  const then = [...same, ...changed.flatMap(({ file }) => file ?? [])].filter(({ id }) => now.has(id));
  const base = new Map(then.map((file) => [file.id, file]));
  const gone = await goneSince(changed, new Set([...now, ...left.map(({ id }) => id)]), request);
  const everywhere = await readConfigAcceptance(commit, unchanged, request.config, repository);
  return {
    ref,
    commit,
    files: base,
    gone,
    acceptedWarnings: { everywhere, byPath: acceptedByPath(files, base, gone) },
    problems: [...invalidAt(changed, request), ...shallow],
  };
}

/**
 * Returns what the configuration accepts at the base commit. A symbolic link that differs there accepts nothing, because
 * only git knows what it led to.
 */
async function readConfigAcceptance(
  commit: string,
  unchanged: ReadonlySet<string>,
  config: Config,
  repository: Repository,
): Promise<readonly string[]> {
  const [path, target] = configPaths(config);
  if (unchanged.has(path) && unchanged.has(target)) return config.acceptWarnings;
  const bytes = await repository.fileAt(commit, repository.fromRoot(path));
  return bytes === null ? [] : parseAcceptedWarnings(new TextDecoder().decode(bytes));
}

/**
 * Returns what each file accepts at the base. The files of the work tree come last: another prompt may have taken the path
 * of a file that is gone, and it must not inherit what that file accepted.
 */
function acceptedByPath(
  files: readonly PromptFile[],
  base: ReadonlyMap<string, PromptFile>,
  gone: readonly PromptFile[],
): AcceptedWarnings['byPath'] {
  const ofGone = gone.map(({ path, acceptWarnings = [] }) => [path, acceptWarnings] as const);
  const ofFiles = files.map(({ path, id }) => [path, base.get(id)?.acceptWarnings ?? []] as const);
  return new Map([...ofGone, ...ofFiles]);
}

/** Those that were selected. One may be there still, and not be selected now: under another path or key. */
async function goneSince(changed: readonly Earlier[], now: ReadonlySet<string>, { config, only }: BaseRequest) {
  const then = changed.flatMap(({ file }) => file ?? []);
  const missing = then.filter(({ id }) => !now.has(id));
  const selected = selectFiles(missing, only).files;
  if (selected.length === 0 || only.length === 0) return selected;
  const { files } = await readPrompts({ ...config, environments: null });
  const there = new Set(files.map(({ id }) => id));
  return selected.filter(({ id }) => !there.has(id));
}

type Earlier = { readonly path: string; readonly file: PromptFile | null; readonly reason: string };

async function readAt(commit: string, path: string, repository: Repository): Promise<Earlier> {
  const parsed = await parseAt(repository, { commit, path: repository.fromRoot(path) });
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
