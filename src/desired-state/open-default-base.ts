import type { DesiredState } from '../domain/desired-state.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { WorkTreeComparison } from '../git/open-repository.ts';
import { findNewPaths, listConfigPaths } from './open-workspace.ts';
import type { PromptRepository } from '../history/read-at-commit.ts';
import { findFileAtCommit, readContentsAtRefs } from '../history/read-at-commit.ts';
import {
  type BaseFiles,
  type DesiredWorkspace,
  findRemovedFiles,
  findRemovedPins,
  type LeftManagement,
  readChangedFiles,
} from './read-desired-state.ts';
import { shortenCommitId } from '../text.ts';

/**
 * `live` is the merge base of HEAD and the tip of the live branch, or HEAD if the tip is unknown or unrelated. `head`
 * is HEAD. `pull` uses it, because its edits are meant for a commit on top of HEAD.
 */
export type DefaultBaseKind = 'live' | 'head';

/**
 * The base that a command uses if the user did not specify one, to find drift and missing prompt files. Reads as little
 * from git as possible, and only when a function is called. All functions throw a `ProblemError` if git fails.
 */
export type DefaultBase = {
  readonly kind: DefaultBaseKind;
  /**
   * Returns the prompts and pins that were managed at the base but no longer are. Null if there is no default base, or
   * if the base is only for `pull`. In a partial clone, only a comparison with HEAD is possible.
   */
  readonly readLeftManagement: () => Promise<LeftManagement | null>;
  /**
   * Reads the given prompts at the base. The files may contain edits that are not on disk yet. The result contains the
   * given `contentsAtRefs`, too.
   */
  readonly read: (
    files: readonly PromptFile[],
    contentsAtRefs: DesiredState['contentsAtRefs'],
  ) => Promise<DefaultBaseResult>;
};

/** The default base, or the reason why there is none. The reason is a clause without a period. */
export type DefaultBaseResult =
  | {
      readonly kind: 'found';
      readonly base: BaseFiles;
      /** The content that the `git:` pins of the workspace and of the base refer to. */
      readonly contentsAtRefs: DesiredState['contentsAtRefs'];
    }
  | { readonly kind: 'missing'; readonly reason: string };

type BaseLocation = {
  readonly kind: 'commit';
  readonly repository: PromptRepository;
  readonly commit: string;
  /** Whether the commit is HEAD. promptsync has already compared the work tree with HEAD. */
  readonly isHead: boolean;
};
type LocationResult = BaseLocation | Extract<DefaultBaseResult, { readonly kind: 'missing' }>;

/** Opens the default base of a workspace. Starts no git command before one of the returned functions is called. */
export function openDefaultBase(workspace: DesiredWorkspace, kind: DefaultBaseKind): DefaultBase {
  const { repository, config } = workspace;
  let location: Promise<LocationResult> | null = null;
  const locate = () => (location ??= locateBase(repository, kind));
  let comparison: Promise<WorkTreeComparison> | null = null;
  const compare = (base: BaseLocation) => (comparison ??= compareWithBase(base, config));
  return {
    kind,
    readLeftManagement: async () => {
      if (kind === 'head') return null;
      const base = await locate();
      if (base.kind === 'missing' || (!base.isHead && (await base.repository.isPartial()))) return null;
      // The prompt folders are already compared with HEAD. Only new patterns require a comparison of all files.
      const { changedSinceHead: changed } = workspace;
      const isCompared = base.isHead && !listConfigPaths(config).some((path) => changed.includes(path));
      const comparison = isCompared ? { same: new Set(listConfigPaths(config)), changed } : await compare(base);
      return readLeftManagement(base, comparison, workspace);
    },
    read: async (files, contentsAtRefs) => {
      const base = await locate();
      if (base.kind === 'missing') return base;
      // In a partial clone, git would fetch the old files from the remote.
      if (await base.repository.isPartial()) return { kind: 'missing', reason: 'this clone is partial' };
      const same = base.isHead ? null : (await compare(base)).same;
      const { repository: repositoryAtBase } = await base.repository.readConfigAt(base.commit);
      const isSameMeaning = repositoryAtBase === base.repository;
      const filesAsRead = new Set(workspace.files);
      // A file object from elsewhere may contain edits that promptsync has not written to disk yet.
      const isUnchanged = (file: PromptFile) =>
        isSameMeaning &&
        filesAsRead.has(file) &&
        (same === null ? !workspace.uncommitted.has(file.path) : same.has(file.path));
      const baseWithConfig = { ...base, repository: repositoryAtBase };
      const found = await Promise.all(files.map((file) => findBaseFile(file, baseWithConfig, isUnchanged)));
      return makeFoundBase(base, found.flat(), { files: workspace.files, contentsAtRefs });
    },
  };
}

async function compareWithBase(
  { repository, commit }: BaseLocation,
  config: DesiredWorkspace['config'],
): Promise<WorkTreeComparison> {
  const comparison = await repository.compareWithWorkTree(commit);
  if (listConfigPaths(config).every((path) => comparison.same.has(path))) repository.rememberConfig(commit);
  return comparison;
}

async function readLeftManagement(
  base: BaseLocation,
  comparison: WorkTreeComparison,
  workspace: DesiredWorkspace,
): Promise<LeftManagement> {
  const { config, files, environmentSelection } = workspace;
  const changedFiles = await readChangedFiles(base, comparison, config);
  const baseFiles = changedFiles.flatMap(({ file }) => file ?? []);
  const removedFiles = await findRemovedFiles(baseFiles, base, workspace);
  return {
    ref: shortenCommitId(base.commit),
    removedFiles,
    newPaths: await findNewPaths(removedFiles, workspace.allFiles, base),
    removedPins: findRemovedPins(files, new Map(baseFiles.map((file) => [file.id, file])), environmentSelection),
  };
}

async function findBaseFile(
  file: PromptFile,
  { repository, commit }: BaseLocation,
  isUnchanged: (file: PromptFile) => boolean,
): Promise<readonly PromptFile[]> {
  if (isUnchanged(file)) return [file];
  const location = { id: file.id, type: file.type, path: repository.toRootPath(file.path) };
  const result = await findFileAtCommit(location, commit, repository);
  return result.kind === 'found' ? [{ ...result.file, path: repository.toFolderPath(result.path) }] : [];
}

/** Adds the content of those `git:` pins that occur only in the base's files. */
async function makeFoundBase(
  { commit, repository }: BaseLocation,
  files: readonly PromptFile[],
  { contentsAtRefs, files: headFiles }: Pick<DesiredWorkspace, 'contentsAtRefs' | 'files'>,
): Promise<DefaultBaseResult> {
  const filesOfHead = new Set(headFiles);
  const changedFiles = files.filter((file) => !filesOfHead.has(file));
  const contentsAtBase = await readContentsAtRefs(changedFiles, repository);
  const contentsOfBoth = [...contentsAtBase].map(([id, contents]) => {
    return [id, new Map([...contents, ...(contentsAtRefs.get(id) ?? [])])] as const;
  });
  return {
    kind: 'found',
    base: { commit, files: new Map(files.map((file) => [file.id, file])), isDefault: true },
    contentsAtRefs: new Map([...contentsAtRefs, ...contentsOfBoth]),
  };
}

async function locateBase(repository: PromptRepository | null, kind: DefaultBaseKind): Promise<LocationResult> {
  if (repository === null) return { kind: 'missing', reason: 'this folder is not in a git repository' };
  const { head } = repository;
  if (head === null) return { kind: 'missing', reason: 'the git repository has no commits yet' };
  if (repository.isShallow) return { kind: 'missing', reason: 'this clone is shallow' };
  const tip = kind === 'head' ? null : await repository.findKnownTip();
  if (tip?.commit === head) return { kind: 'commit', repository, commit: head, isHead: true };
  const commit = (tip === null ? null : await repository.findMergeBase(head, tip.commit)) ?? head;
  return { kind: 'commit', repository, commit, isHead: commit === head };
}
