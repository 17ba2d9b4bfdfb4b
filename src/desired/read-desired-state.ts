import { type Config, listEnvironmentsWithoutLatest, mapPromotionSources } from '../config/config.ts';
import { parseAcceptedWarnings } from '../config/load-config.ts';
import { parseFileAtCommit, readContentsAtRefs } from './read-at-commit.ts';
import {
  listConfigPaths,
  type SkippedPrompts,
  openWorkspaceRepository,
  readChangesSince,
  selectFiles,
  type WorkspaceOptions,
  type Workspace,
} from './open-workspace.ts';
import { type AcceptedWarnings, collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { DesiredState, BaseState } from '../domain/desired-state.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { makePromptMatcher } from '../files/find-prompt-paths.ts';
import { readPrompts } from '../files/read-prompts.ts';
import type { Repository } from '../git/open-repository.ts';
import { isError, makeProblem, type Problem, ProblemError, toProblem } from '../problem.ts';

/** All that files, configuration and git say before the service is asked, and where it comes from. */
export type DesiredWorkspace = DesiredState & {
  readonly config: Config;
  readonly repository: Repository | null;
  readonly base: BaseFiles | null;
  /** Paths of the files that differ from HEAD; empty outside of git. */
  readonly uncommitted: ReadonlySet<string>;
  readonly skipped: SkippedPrompts | null;
  /** What the base accepts, so that a pull request cannot silence its own warnings. Without a base, what the files accept. */
  readonly acceptedWarnings: AcceptedWarnings;
  /** Warnings. */
  readonly problems: readonly Problem[];
};

export type DesiredOptions = Pick<WorkspaceOptions, 'only'> & {
  /** The ref that drift is compared with. */
  readonly base?: string | undefined;
};

/** Reads what git knows of a workspace without errors. Fails if the base cannot be read: then there is nothing to plan from. */
export async function readDesiredState(
  workspace: Workspace & { readonly config: Config },
  { base: ref, only }: DesiredOptions,
): Promise<Result<DesiredWorkspace>> {
  const { config, files, skipped } = workspace;
  try {
    const repository = await openWorkspaceRepository(config);
    const left = skipped?.prompts ?? [];
    const base = ref === undefined ? null : await readBase({ ref, config, files, only, left }, repository);
    const now = new Set(files);
    const then = [...(base?.files.values() ?? [])].filter((file) => !now.has(file));
    return makeSuccess({
      config,
      files,
      repository,
      base,
      skipped,
      acceptedWarnings: chooseAcceptedWarnings(base, files, config),
      contentsAtRefs: await readContentsAtRefs([...files, ...then], repository),
      environmentOrder: config.environments?.map(({ name }) => name) ?? null,
      environmentsWithoutLatest: listEnvironmentsWithoutLatest(config),
      promotionSources: mapPromotionSources(config),
      uncommitted: await listUncommittedPaths(workspace, repository),
      problems: [...workspace.problems, ...(base?.problems ?? [])],
    });
  } catch (error) {
    if (error instanceof ProblemError) return makeFailure(toProblem(error));
    throw error;
  }
}

function chooseAcceptedWarnings(
  base: BaseFiles | null,
  files: readonly PromptFile[],
  config: Config,
): AcceptedWarnings {
  return base === null ? collectAcceptedWarnings(files, config) : base.acceptedWarnings;
}

async function listUncommittedPaths({ files }: Workspace, repository: Repository | null): Promise<ReadonlySet<string>> {
  if (repository === null || files.length === 0) return new Set();
  return repository.findUncommitted(files.map(({ path }) => path));
}

/** The base commit with its prompt files, those of the selected prompts alone. */
type BaseFiles = BaseState & {
  /** As it was given, and the commit that it names. */
  readonly ref: string;
  readonly commit: string;
  /** The selected files that are gone since. */
  readonly removedFiles: readonly PromptFile[];
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
  const { repository, commit, same: unchanged, changed: different } = await readChangesSince(ref, given);
  const same = files.filter(({ path }) => unchanged.has(path));
  const paths = different.filter(makePromptMatcher(request.config));
  const changed = await Promise.all(paths.map((path) => readFileBefore(commit, path, repository)));
  const shallow = repository.isShallow ? [makeProblem('git/shallow', { of: 'drift' })] : [];
  const now = new Set(files.map(({ id }) => id));
  const then = [...same, ...changed.flatMap(({ file }) => file ?? [])].filter(({ id }) => now.has(id));
  const base = new Map(then.map((file) => [file.id, file]));
  const gone = await findMissingFiles(changed, new Set([...now, ...left.map(({ id }) => id)]), request);
  const everywhere = await readConfigAcceptance(commit, unchanged, request.config, repository);
  return {
    ref,
    commit,
    files: base,
    removedFiles: gone,
    acceptedWarnings: { everywhere, byPath: mapAcceptedWarnings(files, base, gone) },
    problems: [...warnAboutInvalidBase(changed, request), ...shallow],
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
  const [path, target] = listConfigPaths(config);
  if (unchanged.has(path) && unchanged.has(target)) return config.acceptWarnings;
  const bytes = await repository.readFileAt(commit, repository.toRootPath(path));
  return bytes === null ? [] : parseAcceptedWarnings(new TextDecoder().decode(bytes));
}

/**
 * Returns what each file accepts at the base. The files of the work tree come last: another prompt may have taken the path
 * of a file that is gone, and it must not inherit what that file accepted.
 */
function mapAcceptedWarnings(
  files: readonly PromptFile[],
  base: ReadonlyMap<string, PromptFile>,
  gone: readonly PromptFile[],
): AcceptedWarnings['byPath'] {
  const ofGone = gone.map(({ path, acceptWarnings = [] }) => [path, acceptWarnings] as const);
  const ofFiles = files.map(({ path, id }) => [path, base.get(id)?.acceptWarnings ?? []] as const);
  return new Map([...ofGone, ...ofFiles]);
}

/** Those that were selected. One may be there still, and not be selected now: under another path or key. */
async function findMissingFiles(
  changed: readonly FileBefore[],
  now: ReadonlySet<string>,
  { config, only }: BaseRequest,
): Promise<readonly PromptFile[]> {
  const then = changed.flatMap(({ file }) => file ?? []);
  const missing = then.filter(({ id }) => !now.has(id));
  const selected = selectFiles(missing, only).files;
  if (selected.length === 0 || only.length === 0) return selected;
  const { files } = await readPrompts({ ...config, environments: null });
  const there = new Set(files.map(({ id }) => id));
  return selected.filter(({ id }) => !there.has(id));
}

type FileBefore = { readonly path: string; readonly file: PromptFile | null; readonly reason: string };

async function readFileBefore(commit: string, path: string, repository: Repository): Promise<FileBefore> {
  const parsed = await parseFileAtCommit(repository, { commit, path: repository.toRootPath(path) });
  if (parsed === null) return { path, file: null, reason: 'it is not a regular file' };
  const { file, problems } = parsed;
  return { path, file: file && { ...file, path }, reason: problems.find(isError)?.message ?? '' };
}

function warnAboutInvalidBase(changed: readonly FileBefore[], { ref, files }: BaseRequest): readonly Problem[] {
  const now = new Set(files.map(({ path }) => path));
  return changed
    .filter(({ file, path }) => file === null && now.has(path))
    .map(({ path, reason }) => makeProblem('git/base-invalid', { base: ref, reason }, { path }));
}
