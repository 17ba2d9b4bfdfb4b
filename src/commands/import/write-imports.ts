import { join } from 'node:path';
import { type Config, makeGitSettings } from '../../workspace/config.ts';
import type { EditedPrompt, ImportCommit } from '../../domain/edits.ts';
import type { Observation } from '../../domain/observed-prompt.ts';
import type { System } from '../../domain/system.ts';
import { createFile } from '../../workspace/read-write-files.ts';
import { openCommitter } from '../../git/open-committer.ts';
import type { Repository } from '../../git/open-repository.ts';
import { describeSystemError, makeProblem, type Problem } from '../../problem.ts';
import { commitImports, type CommittedImports } from './commit-imports.ts';
import { type CommitOptions, switchToBranch, wantsCommit } from '../../editing/edit-files.ts';
import {
  type ImportedFile,
  type ImportSettings,
  planImportCommits,
  type PlannedCommit,
} from './plan-import-commits.ts';

export type PromptImport = {
  readonly prompt: EditedPrompt;
  /** The new file. Null unless the status of the prompt is `pending`. */
  readonly file: ImportedFile | null;
  readonly warnings: readonly Problem[];
};

type ImportSources = {
  readonly rules: ImportSettings;
  readonly observation: Observation;
  /** The repository for the commits. Null if the user requested no commit. */
  readonly repository: Repository | null;
};

type WrittenImports = CommittedImports & { readonly written: readonly EditedPrompt[] };

/** On a dry run, writes nothing, and returns the commits that it would make. */
export async function writeImports(
  imports: readonly PromptImport[],
  sources: ImportSources,
  options: CommitOptions & { readonly dryRun: boolean },
  system: System,
): Promise<WrittenImports> {
  const { config } = sources.rules;
  const ready = await refuseStaged(imports, sources.repository);
  if (options.dryRun) {
    const written = ready.map(({ prompt }) => prompt);
    const commits = wantsCommit(options) ? planCommits(ready, written, sources, system).map(makeUnmadeCommit) : [];
    return { written, ...(commits.length > 0 && { commits }), problems: [] };
  }
  if (!wantsCommit(options) || system.stopSignal.aborted || ready.every(({ file }) => file === null)) {
    return { written: await createFiles(ready, config, system), problems: [] };
  }
  const committer = openCommitter(makeGitSettings(config));
  const obstacle = await switchToBranch(options.branch, committer, system.printNotice);
  if (obstacle !== null) return { written: ready.map(({ prompt }) => prompt), problems: [obstacle] };
  const written = await createFiles(ready, config, system);
  const commits = planCommits(ready, written, sources, system);
  return { written, ...(await commitImports(commits, committer, config, system)) };
}

/** Plans the commits of the files that are or, on a dry run, would be written. Prints the notices of the plan. */
function planCommits(
  imports: readonly PromptImport[],
  written: readonly EditedPrompt[],
  { observation, rules }: ImportSources,
  { printNotice }: System,
): readonly PlannedCommit[] {
  const writtenIds = new Set(
    written.filter(({ status }) => status === 'applied' || status === 'pending').map(({ id }) => id),
  );
  const files = imports.flatMap(({ prompt, file }) => (file !== null && writtenIds.has(prompt.id) ? [file] : []));
  const { commits, notices } = planImportCommits(files, observation, rules);
  for (const notice of notices) printNotice(notice);
  return commits;
}

function makeUnmadeCommit({ subject, files }: PlannedCommit): ImportCommit {
  return { commit: null, subject, paths: files.map(({ path }) => path) };
}

/** Blocks files with staged changes, such as a staged deletion, because the commits would replace these changes. */
async function refuseStaged(
  imports: readonly PromptImport[],
  repository: Repository | null,
): Promise<readonly PromptImport[]> {
  const paths = imports.flatMap(({ file }) => file?.identity.path ?? []);
  if (repository === null || paths.length === 0) return imports;
  const staged = await repository.findStaged(paths);
  return imports.map((promptImport) => {
    const { prompt, file } = promptImport;
    if (file === null || !staged.has(prompt.path)) return promptImport;
    const problems = [makeProblem('guard/uncommitted-edit', { submodule: null }, { path: prompt.path })];
    return { prompt: { ...prompt, status: 'blocked', edits: [], problems }, file: null, warnings: [] };
  });
}

/** Creates the new files one after another. If one file cannot be created, still creates the others. */
async function createFiles(
  imports: readonly PromptImport[],
  config: Config,
  { stopSignal }: System,
): Promise<readonly EditedPrompt[]> {
  const written: EditedPrompt[] = [];
  for (const { prompt, file } of imports) {
    if (file === null) written.push(prompt);
    else written.push({ ...prompt, ...(await writeNewFile(prompt.path, file.source, config, stopSignal)) });
  }
  return written;
}

type CreationOutcome = Pick<EditedPrompt, 'status' | 'problems'>;

/** Creates a new file. Never overwrites an existing file. */
export async function writeNewFile(
  path: string,
  source: string,
  { folder }: Config,
  stopSignal: AbortSignal,
): Promise<CreationOutcome> {
  if (stopSignal.aborted) return { status: 'failed', problems: [makeProblem('apply/interrupted')] };
  try {
    if (await createFile(join(folder, path), source)) return { status: 'applied', problems: [] };
    return { status: 'blocked', problems: [makeProblem('import/path-taken', { path })] };
  } catch (error) {
    return {
      status: 'failed',
      problems: [makeProblem('edit/unwritable', { reason: describeSystemError(error) }, { path })],
    };
  }
}
