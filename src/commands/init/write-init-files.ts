import { appendFile, lstat, readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CONFIG_NAME, type Config } from '../../workspace/config.ts';
import { type ConfigResult, parseConfig } from '../../workspace/load-config.ts';
import type { WrittenFile } from '../../domain/edits.ts';
import { makeFailure, makeSuccess, type Result } from '../../domain/result.ts';
import type { Interview } from '../../domain/system.ts';
import { makePromptMatcher } from '../../workspace/find-prompt-paths.ts';
import { findFirstLink, makeRelativePath } from '../../workspace/paths.ts';
import { createFile, replaceFile, NOT_REGULAR } from '../../workspace/read-write-files.ts';
import { makeProblem, type Problem, describeSystemError } from '../../problem.ts';
import { type InitFile, PRE_COMMIT_HOOK } from './init-files.ts';

export type InitTarget = {
  readonly config: Config;
  /** Whether to overwrite existing files without asking. */
  readonly force: boolean;
  /** Asks the user before `init` overwrites a file. If null, `init` keeps existing files unless `force` is true. */
  readonly interview: Interview | null;
};

export type FileDecision = {
  readonly file: InitFile;
  readonly status: WrittenFile['status'];
  /** The current content of the file. Empty if the file does not exist. */
  readonly before: string;
};

/**
 * Makes all decisions before it writes the first file, so that a problem or a canceled question leaves the workspace
 * unchanged. `configDecision` is the decision about promptsync.yaml, or the problem that prevents one.
 */
export async function writeInitFiles(
  configDecision: Result<FileDecision>,
  otherFiles: readonly InitFile[],
  target: InitTarget,
): Promise<{ readonly written: readonly WrittenFile[]; readonly problems: readonly Problem[] }> {
  const isUseful = configDecision.isSuccess ? makeUsefulnessCheck(configDecision.value, target) : () => true;
  const decisions = [configDecision];
  for (const file of otherFiles.filter(isUseful)) decisions.push(await decideAboutFile(file, target));
  const obstacles = decisions.flatMap((one) => (one.isSuccess ? [] : one.problems));
  if (obstacles.length > 0) return { written: [], problems: obstacles };
  const written: WrittenFile[] = [];
  const problems: Problem[] = [];
  for (const decision of decisions.flatMap((one) => (one.isSuccess ? [one.value] : []))) {
    const problem = await writeInitFile(decision, target);
    if (problem === null) written.push({ path: decision.file.path, status: decision.status });
    problems.push(...(problem === null ? warnAboutKeptFile(decision) : [problem]));
  }
  const skippedFiles = otherFiles.filter((file) => !isUseful(file) && file.kind === 'whole');
  const skipWarnings = skippedFiles.map(({ path }) => makeProblem('init/not-selected', { path }));
  return { written, problems: [...problems, ...skipWarnings] };
}

/**
 * If `init` keeps a different promptsync.yaml, a file with `promptPaths` is useful only if the kept configuration
 * selects one of them. An invalid configuration selects no paths.
 */
function makeUsefulnessCheck(decision: FileDecision, target: InitTarget): (file: InitFile) => boolean {
  const keptConfig = parseKeptConfig(decision, target);
  if (keptConfig === null) return () => true;
  const selectsPath = keptConfig.config === null ? () => false : makePromptMatcher(keptConfig.config);
  return ({ promptPaths }) => promptPaths === undefined || promptPaths.some(selectsPath);
}

/** Returns null if `init` writes a new promptsync.yaml, or if the existing one has the same content. */
export function parseKeptConfig(
  { file, status, before }: FileDecision,
  { config }: Pick<InitTarget, 'config'>,
): ConfigResult | null {
  if (status !== 'kept' || before === file.content) return null;
  return parseConfig(before, { file: config.file, shownPath: CONFIG_NAME, root: config.root, environment: {} });
}

/** Asks the user before an overwrite. Throws a `ProblemError` if the user cancels the question. */
export async function decideAboutFile(file: InitFile, target: InitTarget): Promise<Result<FileDecision>> {
  const read = await readRegularFile(file.path, target.config);
  if (!read.isSuccess) return read;
  const before = read.value;
  if (before === null) return makeSuccess({ file, status: 'created', before: '' });
  return makeSuccess({ file, status: await chooseFileStatus(file, before, target), before });
}

/** Returns null if there is no file. Fails for a symbolic link, because it may lead out of the repository. */
async function readRegularFile(path: string, { folder, root }: Config): Promise<Result<string | null>> {
  const absolutePath = resolve(folder, path);
  const link = findFirstLink(root, dirname(absolutePath));
  const shownPath = link === null ? path : makeRelativePath(folder, link);
  const stats = await lstat(absolutePath).catch(() => null);
  if (link !== null || stats?.isSymbolicLink() === true) {
    return makeFailure(makeProblem('init/in-the-way', { path: shownPath, what: 'it is a symbolic link' }));
  }
  if (stats === null) return makeSuccess(null);
  if (!stats.isFile()) return makeFailure(makeProblem('init/in-the-way', { path, what: NOT_REGULAR }));
  try {
    return makeSuccess(await readFile(absolutePath, 'utf8'));
  } catch (error) {
    return makeFailure(makeProblem('edit/unwritable', { reason: describeSystemError(error) }, { path }));
  }
}

async function chooseFileStatus(
  { path, kind, content }: InitFile,
  before: string,
  { force, interview }: InitTarget,
): Promise<WrittenFile['status']> {
  if (kind === 'line') {
    const hasLine = before.split('\n').some((line) => line.trim() === content);
    return hasLine ? 'kept' : 'extended';
  }
  if (before === content || kind === 'include' || kind === 'shared') return 'kept';
  const message = `${path} already exists with different content. Overwrite it?`;
  const mayOverwrite = force || (await interview?.confirm({ message, initial: false })) === true;
  return mayOverwrite ? 'overwritten' : 'kept';
}

/** Returns a problem if the file could not be written. */
async function writeInitFile({ file, status, before }: FileDecision, { config }: InitTarget): Promise<Problem | null> {
  const { path } = file;
  const absolutePath = resolve(config.folder, path);
  const newText = renderInitFile(file);
  try {
    if (status === 'extended') {
      const separator = before === '' || before.endsWith('\n') ? '' : '\n';
      await appendFile(absolutePath, separator + newText);
    }
    if (status === 'overwritten') await replaceFile(absolutePath, newText);
    if (status !== 'created' || (await createFile(absolutePath, newText))) return null;
    return makeProblem('init/in-the-way', { path, what: 'another program created it during this run' });
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: describeSystemError(error) }, { path });
  }
}

/** Returns the content of a new file. For the kind `line`, `init` also appends this content to an existing file. */
function renderInitFile({ kind, content }: InitFile): string {
  switch (kind) {
    case 'whole':
    case 'shared':
      return content;
    case 'line':
      return `${content}\n`;
    case 'include':
      return `include:\n  - local: ${content}\n`;
  }
}

/** Warns if a kept file differs from the new one, or lacks the required `include` or hook. */
function warnAboutKeptFile({ file: { path, kind, content }, status, before }: FileDecision): readonly Problem[] {
  if (status !== 'kept' || kind === 'line') return [];
  if (kind === 'include')
    return before.includes(content) ? [] : [makeProblem('init/include', { path, include: content })];
  if (kind === 'shared') {
    const hasHook = before.includes(PRE_COMMIT_HOOK);
    return hasHook ? [] : [makeProblem('init/pre-commit', { path, hook: PRE_COMMIT_HOOK })];
  }
  return before === content ? [] : [makeProblem('init/kept', { path })];
}
