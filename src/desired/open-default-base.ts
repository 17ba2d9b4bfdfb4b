import type { DesiredState } from '../domain/desired-state.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makePromptMatcher } from '../files/find-prompt-paths.ts';
import type { Repository, WorkTreeComparison } from '../git/open-repository.ts';
import { findFileAtCommit, parseFileAtCommit, readContentsAtRefs } from './read-at-commit.ts';
import {
  type BaseFiles,
  type DesiredOptions,
  type DesiredWorkspace,
  type RemovedFiles,
  selectMissingFiles,
} from './read-desired-state.ts';
import { shortenCommitId } from '../text.ts';

/**
 * The base of a command to which the user gave none: the merge base of HEAD and the tip of the live branch, or HEAD if
 * the tip is unknown or unrelated. promptsync uses it only to find drift and missing prompt files. It reads as little of
 * git as possible, and only when a function is called. All functions throw a `ProblemError` if git fails.
 */
export type DefaultBase = {
  /** Returns the selected prompt files of the base that no longer exist. Returns null if there is no default base. */
  readonly readRemovedFiles: () => Promise<RemovedFiles | null>;
  /** Reads the given prompts at the base. */
  readonly read: (files: readonly PromptFile[]) => Promise<DefaultBaseResult>;
};

/** The default base with some of its prompts, or the reason why there is none, as a clause without a period. */
export type DefaultBaseResult =
  | {
      readonly kind: 'found';
      readonly base: BaseFiles;
      /** The content of the `git:` pins of the workspace and of the base. */
      readonly contentsAtRefs: DesiredState['contentsAtRefs'];
    }
  | { readonly kind: 'missing'; readonly reason: string };

/** The commit of the default base. */
type BaseLocation = {
  readonly kind: 'commit';
  readonly repository: Repository;
  readonly commit: string;
  /** Whether the commit is HEAD. promptsync has already compared the work tree with HEAD. */
  readonly isHead: boolean;
};
type LocationResult = BaseLocation | Extract<DefaultBaseResult, { readonly kind: 'missing' }>;

/** Opens the default base of a workspace. Starts no git command before one of the returned functions is called. */
export function openDefaultBase(workspace: DesiredWorkspace, { only }: Pick<DesiredOptions, 'only'>): DefaultBase {
  const { repository, config, files, allFiles, uncommitted, changedSinceHead, contentsAtRefs } = workspace;
  let location: Promise<LocationResult> | null = null;
  const locate = () => (location ??= locateBase(repository, config.branch));
  let comparison: Promise<WorkTreeComparison> | null = null;
  const compare = (base: BaseLocation) => (comparison ??= base.repository.compareWithWorkTree(base.commit));

  const readFile = async (file: PromptFile, base: BaseLocation): Promise<readonly PromptFile[]> => {
    const isUnchanged = base.isHead ? !uncommitted.has(file.path) : (await compare(base)).same.has(file.path);
    if (isUnchanged) return [file];
    const place = { id: file.id, type: file.type, path: base.repository.toRootPath(file.path) };
    const result = await findFileAtCommit(place, base.commit, base.repository);
    return result.kind === 'found' ? [{ ...result.file, path: base.repository.toFolderPath(result.path) }] : [];
  };

  return {
    readRemovedFiles: async () => {
      const base = await locate();
      if (base.kind === 'missing' || (!base.isHead && (await base.repository.isPartial()))) return null;
      const changed = base.isHead ? changedSinceHead : (await compare(base)).changed;
      const existingPaths = new Set(allFiles.map(({ path }) => path));
      const existingIds = new Set(allFiles.map(({ id }) => id));
      const removedPaths = changed.filter(makePromptMatcher(config)).filter((path) => !existingPaths.has(path));
      const removed = removedPaths.map(async (path): Promise<readonly PromptFile[]> => {
        const place = { commit: base.commit, path: base.repository.toRootPath(path) };
        const file = (await parseFileAtCommit(base.repository, place))?.file ?? null;
        return file === null || existingIds.has(file.id) ? [] : [{ ...file, path }];
      });
      const removedFiles = selectMissingFiles((await Promise.all(removed)).flat(), { config, only, files });
      return { ref: shortenCommitId(base.commit), removedFiles };
    },
    read: async (wanted) => {
      const base = await locate();
      if (base.kind === 'missing') return base;
      // In a partial clone, git would fetch the old files from the remote.
      if (await base.repository.isPartial()) return { kind: 'missing', reason: 'this clone is partial' };
      const found = (await Promise.all(wanted.map((file) => readFile(file, base)))).flat();
      const changedFiles = found.filter((file) => !wanted.includes(file));
      const contentsAtBase = await readContentsAtRefs(changedFiles, base.repository);
      const contentsOfBoth = [...contentsAtBase].map(([id, contents]) => {
        return [id, new Map([...contents, ...(contentsAtRefs.get(id) ?? [])])] as const;
      });
      const { commit } = base;
      return {
        kind: 'found',
        base: { commit, files: new Map(found.map((file) => [file.id, file])), isDefault: true },
        contentsAtRefs: new Map([...contentsAtRefs, ...contentsOfBoth]),
      };
    },
  };
}

/** Finds the commit of the default base. Returns the reason if there is none. */
async function locateBase(repository: Repository | null, branch: string | null): Promise<LocationResult> {
  if (repository === null) return { kind: 'missing', reason: 'this folder is not in a git repository' };
  const { head } = repository;
  if (head === null) return { kind: 'missing', reason: 'the git repository has no commit yet' };
  if (repository.isShallow) return { kind: 'missing', reason: 'this clone is shallow' };
  const tip = await repository.findKnownTip(branch);
  if (tip?.commit === head) return { kind: 'commit', repository, commit: head, isHead: true };
  const commit = (tip === null ? null : await repository.findMergeBase(head, tip.commit)) ?? head;
  return { kind: 'commit', repository, commit, isHead: commit === head };
}
