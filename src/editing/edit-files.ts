import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { makeGitSettings } from '../workspace/config.ts';
import { getProviderWords } from '../workspace/service-settings.ts';
import type { EditCommit, EditedPrompt, FileEdit } from '../domain/edits.ts';
import { isNewVersionRef, isObserved, type ObservedPromptPlan, type PromptPlan } from '../domain/plan.ts';
import { getIdentity, type PromptFile } from '../domain/prompt-file.ts';
import { formatCodePoint, formatCount, shortenCommitId, showHidden } from '../text.ts';
import type { System } from '../domain/system.ts';
import { editPromptFile, type PromptEdits } from './edit-prompt-file.ts';
import { parsePromptFile } from '../workspace/parse-prompt-file.ts';
import type { WorkspaceLock } from '../workspace/lock-workspace.ts';
import { replaceUnchangedFile } from '../workspace/read-write-files.ts';
import { type Committer, openCommitter } from '../git/open-committer.ts';
import { isCommitId } from '../git/run-git.ts';
import type { Repository } from '../git/open-repository.ts';
import {
  isError,
  makeProblem,
  getErrorMessage,
  type Problem,
  toProblem,
  describeSystemError,
  findSystemCode,
} from '../problem.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan } from '../run/command-result.ts';
import { makeCommandResult } from '../run/exit-code.ts';
import { makePlannedRun, runWithPlan, type PlannedWorkspace, type PlanningOptions } from '../run/run-with-plan.ts';
import { withWorkspaceLock } from '../run/with-workspace-lock.ts';

export type CommitOptions = {
  /** Whether to commit the files on the current branch. */
  readonly commit: boolean;
  /** The branch on which to commit the files. promptsync creates the branch, unless it is already checked out. */
  readonly branch?: string | undefined;
};

export type EditOptions = Omit<PlanningOptions, 'findNeeds'> &
  CommitOptions & {
    readonly dryRun: boolean;
    /** Runs an additional check. If it returns problems, the command stops before it edits any file. */
    readonly findObstacles?: ((workspace: PlannedWorkspace) => Promise<readonly Problem[]>) | undefined;
  };

/** The parts that differ between `pull`, `promote` and `rollback`. */
export type EditCommand = {
  readonly mode: CommandRun['mode'];
  /** Validates the options, and returns what to read in addition to the pinned environments. */
  readonly findNeeds: NonNullable<PlanningOptions['findNeeds']>;
  readonly makeDraft: (prompt: ObservedPromptPlan, workspace: PlannedWorkspace) => Promise<PromptDraft>;
  /**
   * Renders the subject line of the commit message. `names` is the key of the prompt if only one prompt was edited, and
   * otherwise a count such as `3 prompts`. `service` is the name of the service in a sentence.
   */
  readonly renderSubject: (names: string, service: string) => string;
};

/** The edits to one prompt file, before promptsync writes them. */
export type PromptDraft = {
  readonly file: PromptFile;
  readonly status: 'unchanged' | 'pending' | 'blocked' | 'failed';
  readonly edits: readonly FileEdit[];
  readonly problems: readonly Problem[];
  /** The bytes of the file before and after the edits. Null if promptsync does not write the file. */
  readonly change: FileChange | null;
};

type FileChange = {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** The prompt file after the edits. Null if the file contains conflict markers, because it then cannot be parsed. */
  readonly file: PromptFile | null;
};

/** Observes the selected prompts, edits their files, and commits the edits on request. Never writes to the service. */
export async function editFiles(command: EditCommand, options: EditOptions, system: System): Promise<CommandResult> {
  return withWorkspaceLock(command.mode, options, system, (configuration, lock) =>
    editLocked(command, { ...options, configuration }, lock, system),
  );
}

async function editLocked(
  command: EditCommand,
  options: EditOptions,
  lock: WorkspaceLock,
  system: System,
): Promise<CommandResult> {
  const { mode, findNeeds } = command;
  return runWithPlan(mode, { ...options, findNeeds }, system, async (workspace) => {
    const obstacle = lock.findLossProblem() ?? (await findCommitObstacle(options, workspace));
    const obstacles = obstacle === null ? ((await options.findObstacles?.(workspace)) ?? []) : [obstacle];
    if (obstacles.length > 0) {
      return makeCommandResult(
        makeRunWithoutPlan(mode, { ...workspace, problems: [...workspace.problems, ...obstacles] }),
        system,
      );
    }
    const drafted = await Promise.all(workspace.plan.prompts.map((prompt) => draftPrompt(prompt, workspace, command)));
    const drafts = system.stopSignal.aborted && !options.dryRun ? drafted.map(interruptDraft) : drafted;
    const written = await applyDrafts(drafts, { ...options, printNotice: system.printNotice }, workspace, command);
    return makeCommandResult(
      { ...makePlannedRun(mode, workspace), ...written, problems: [...workspace.problems, ...written.problems] },
      system,
    );
  });
}

/** Returns true if the user requested a commit of the edits, on the current branch or on a new one. */
export function wantsCommit({ commit, branch }: CommitOptions): boolean {
  return commit || branch !== undefined;
}

/** Returns a problem if the user requested a commit but there is no repository, or the branch cannot be used. */
export async function findCommitObstacle(
  { commit, branch }: CommitOptions,
  { config, repository }: Pick<PlannedWorkspace, 'config' | 'repository'>,
): Promise<Problem | null> {
  if (!wantsCommit({ commit, branch })) return null;
  if (repository === null) {
    return makeProblem('git/needs-repository', { what: branch === undefined ? '--commit' : '--branch' });
  }
  return branch === undefined ? null : openCommitter(makeGitSettings(config)).findBranchProblem(branch);
}

/**
 * Drafts the edits to one prompt. Returns a failed draft if promptsync could not observe the prompt. Returns a blocked
 * draft if the prompt has a different type in the service, because none of its versions fits the file.
 */
export async function draftPrompt(
  prompt: PromptPlan,
  workspace: PlannedWorkspace,
  { makeDraft }: Pick<EditCommand, 'makeDraft'>,
): Promise<PromptDraft> {
  if (!isObserved(prompt)) {
    return makeDraftWithoutEdits(prompt.file, prompt.status === 'blocked' ? 'blocked' : 'failed', prompt.problems);
  }
  const typeProblems = prompt.problems.filter(({ code }) => code === 'prompt/other-type');
  if (typeProblems.length > 0) return makeDraftWithoutEdits(prompt.file, 'blocked', typeProblems);
  return makeDraft(prompt, workspace);
}

/** Creates a draft that leaves the file unchanged. */
export function makeDraftWithoutEdits(
  file: PromptFile,
  status: PromptDraft['status'],
  problems: readonly Problem[] = [],
): PromptDraft {
  return { file, status, edits: [], problems, change: null };
}

/**
 * Drafts the edits without writing the file. Fails if the file has changed since promptsync read it, because the edits
 * are based on the earlier content, and observing the service can take minutes.
 */
export async function draftEdits(
  file: PromptFile,
  edits: readonly FileEdit[],
  promptEdits: PromptEdits,
  { config, files }: PlannedWorkspace,
): Promise<PromptDraft> {
  const { path } = file;
  // Compare with the file as promptsync read it. In the file from the plan, the pins are sorted in promotion order.
  const fileAsRead = files.find((candidate) => candidate.path === path);
  const before = await readFile(join(config.folder, path)).catch(() => null);
  const parsed = before === null ? null : parsePromptFile(before, path, config);
  if (before === null || parsed === null || !isDeepStrictEqual(parsed.file, fileAsRead)) {
    return { ...makeDraftWithoutEdits(file, 'failed', [makeProblem('edit/changed-meanwhile', {}, { path })]), edits };
  }
  const edited = editPromptFile(before, path, promptEdits, config);
  if (!edited.isSuccess) return { ...makeDraftWithoutEdits(file, 'failed', edited.problems), edits };
  const { bytes: after, file: parsedAfter } = edited.value;
  const problems = findNewWarnings(parsed.problems, parsePromptFile(after, path, config).problems);
  const change = { before, after, file: parsedAfter };
  return { file, status: 'pending', edits, problems, change };
}

/** Returns the warnings that an edit causes, for example by invisible characters from the service. */
function findNewWarnings(before: readonly Problem[], after: readonly Problem[]): readonly Problem[] {
  const knownMessages = new Set(before.map(({ message }) => message));
  return after.filter((problem) => !isError(problem) && !knownMessages.has(problem.message));
}

/** Marks a pending draft as failed, because promptsync does not edit or commit files after an interruption. */
function interruptDraft(draft: PromptDraft): PromptDraft {
  if (draft.status !== 'pending') return draft;
  const { path } = draft.file;
  return { ...draft, status: 'failed', problems: [...draft.problems, makeProblem('apply/interrupted', {}, { path })] };
}

/** `problems` says why git could not switch to the branch or create the commit. */
type WrittenEdits = {
  readonly edited: readonly EditedPrompt[];
  readonly committed?: EditCommit;
  readonly problems: readonly Problem[];
};

/** Writes the drafts, and commits them on request. If one file cannot be written, still writes the others. */
async function applyDrafts(
  drafts: readonly PromptDraft[],
  { dryRun, commit, branch, printNotice }: EditOptions & Pick<System, 'printNotice'>,
  { config, repository }: PlannedWorkspace,
  { renderSubject }: EditCommand,
): Promise<WrittenEdits> {
  if (dryRun) {
    const edited = drafts.map((draft) => makeEditedPrompt(draft, chooseEditStatus(draft, draft.status)));
    return { edited, problems: [] };
  }
  const mustCommit = wantsCommit({ commit, branch });
  const ready = mustCommit ? await refuseUncommitted(drafts, repository) : drafts;
  if (!mustCommit || !ready.some(({ status }) => status === 'pending')) {
    return { edited: await writeDrafts(ready, config.folder), problems: [] };
  }
  const committer = openCommitter(makeGitSettings(config));
  const obstacle = await switchToBranch(branch, committer, printNotice);
  if (obstacle !== null) {
    return { edited: ready.map((draft) => makeEditedPrompt(draft, draft.status)), problems: [obstacle] };
  }
  const edited = await writeDrafts(ready, config.folder);
  const { service } = getProviderWords(config);
  const written = edited.filter(({ status }) => status === 'applied');
  if (written.length === 0) return { edited, problems: [] };
  const paths = written.map(({ path }) => repository?.toRootPath(path) ?? path);
  const message = renderCommitMessage(written, (names) => renderSubject(names, service));
  try {
    return { edited, committed: await committer.commit(paths, message), problems: [] };
  } catch (error) {
    const reason = toProblem(error).message;
    return { edited, problems: [makeProblem('git/not-committed', { reason, files: 'edited' })] };
  }
}

/**
 * Switches to the requested branch, if any, and prints how to go back. In a repository without commits, git could not
 * go back, because the previous branch does not exist until its first commit.
 */
export async function switchToBranch(
  branch: CommitOptions['branch'],
  committer: Committer,
  printNotice: System['printNotice'],
): Promise<Problem | null> {
  if (branch === undefined) return null;
  const obstacle = await committer.switchTo(branch);
  if (obstacle !== null) return obstacle;
  const wayBack = (await committer.readHead()) === '' ? '' : ' To go back, run: git checkout -';
  printNotice(`You are now on the branch ${showHidden(branch)}.${wayBack}`);
  return null;
}

/**
 * Blocks the drafts of files with uncommitted or staged changes, because the commit would include these changes or
 * replace the staged version. If a file needs no edit, only warns that its changes are not committed.
 */
export async function refuseUncommitted(
  drafts: readonly PromptDraft[],
  repository: Repository | null,
): Promise<readonly PromptDraft[]> {
  const isChecked = ({ status }: PromptDraft): boolean => status === 'pending' || status === 'unchanged';
  const paths = drafts.filter(isChecked).map(({ file }) => file.path);
  if (repository === null || paths.length === 0) return drafts;
  const [edited, staged] = await Promise.all([repository.findUncommitted(paths), repository.findStaged(paths)]);
  return drafts.map((draft): PromptDraft => {
    const { path } = draft.file;
    if (!isChecked(draft) || !(edited.has(path) || staged.has(path))) return draft;
    const evidence = { submodule: repository.findSubmodule(path) };
    const isRefused = draft.status === 'pending';
    const problem = makeProblem(isRefused ? 'guard/uncommitted-edit' : 'git/uncommitted', evidence, { path });
    return { ...draft, status: isRefused ? 'blocked' : draft.status, problems: [...draft.problems, problem] };
  });
}

export async function writeDrafts(drafts: readonly PromptDraft[], folder: string): Promise<readonly EditedPrompt[]> {
  return Promise.all(drafts.map((draft) => writeDraft(draft, folder)));
}

async function writeDraft(draft: PromptDraft, folder: string): Promise<EditedPrompt> {
  if (draft.status !== 'pending' || draft.change === null) return makeEditedPrompt(draft, draft.status);
  const { path } = draft.file;
  const { before, after } = draft.change;
  try {
    if (!(await replaceUnchangedFile(join(folder, path), before, after))) {
      return makeEditedPrompt(draft, 'failed', makeProblem('edit/changed-meanwhile', {}, { path }));
    }
    return makeEditedPrompt(draft, chooseEditStatus(draft, 'applied'));
  } catch (error) {
    const reason = findSystemCode(error) === null ? getErrorMessage(error) : describeSystemError(error);
    return makeEditedPrompt(draft, 'failed', makeProblem('edit/unwritable', { reason }, { path }));
  }
}

/** Returns `failed` if the edits leave conflict markers in the file, because the user must resolve them. */
function chooseEditStatus(
  { status, change }: PromptDraft,
  statusWithoutConflict: EditedPrompt['status'],
): EditedPrompt['status'] {
  return status === 'pending' && change?.file === null ? 'failed' : statusWithoutConflict;
}

function makeEditedPrompt(
  { file, edits, problems }: PromptDraft,
  status: EditedPrompt['status'],
  problem?: Problem,
): EditedPrompt {
  return { ...getIdentity(file), status, edits, problems: problem === undefined ? problems : [...problems, problem] };
}

/**
 * Matches text that GitHub acts on in a commit message: `[skip ci]` prevents workflows from running, and `@name`
 * notifies a user. Matches only the first character of such text, because only this one is escaped.
 */
const COMMAND_OR_MENTION = /\[(?=\s*(?:skip|no|ci|actions)\b)|(?<!\w)@(?=[a-z0-9])/gi;

/** For one prompt, the subject contains its key. Otherwise, it contains a count, and the body lists the keys. */
export function renderCommitMessage(edited: readonly EditedPrompt[], renderSubject: (names: string) => string): string {
  // Anyone who can write to the service can choose a prompt's key. So escape text that GitHub would act on.
  return escapeCommitMessage(renderSubjectAndBody(edited, renderSubject));
}

/** Escapes hidden characters and text that GitHub would act on. */
export function escapeCommitMessage(message: string): string {
  return showHidden(message).replaceAll(COMMAND_OR_MENTION, formatCodePoint);
}

function renderSubjectAndBody(edited: readonly EditedPrompt[], renderSubject: (names: string) => string): string {
  const [first, ...rest] = edited;
  if (first === undefined) return renderSubject('no prompt');
  if (rest.length === 0) return `${renderSubject(first.key)}${renderVersionNote(first.edits)}`;
  const lines = edited.map(({ key, edits }) => `- ${key}${renderVersionNote(edits)}`);
  return `${renderSubject(formatCount(edited.length, 'prompt'))}\n\n${lines.join('\n')}`;
}

function renderVersionNote(edits: readonly FileEdit[]): string {
  const pin = edits.find((edit) => edit.kind === 'set-pin');
  if (pin === undefined) return '';
  const { before = null, after = null } = pin.serves?.change ?? {};
  const servedNumber = after !== null && !isNewVersionRef(after) ? after.number : null;
  const to = renderPinName(pin.after, pin.versionNumber ?? servedNumber);
  return pin.before === null ? ` (${to})` : ` (${renderPinName(pin.before, before?.number ?? null)} → ${to})`;
}

/**
 * Renders a pin for the commit message, for example `v3` or `latest`. Shortens the ids of commits.
 * @param servedNumber the number of the pinned version, shown instead of `version:<id>`; null if the number is unknown
 */
function renderPinName(pin: string, servedNumber: number | null): string {
  if (pin.startsWith('version:') && servedNumber !== null) return `v${servedNumber}`;
  const ref = pin.startsWith('git:') ? pin.slice('git:'.length) : '';
  if (isCommitId(ref)) return `git:${shortenCommitId(ref)}`;
  return /^[0-9]+$/.test(pin) ? `v${pin}` : pin;
}
