import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gitStartOf } from '../desired/workspace.ts';
import type { Committed, EditedPrompt, FileEdit } from '../domain/edits.ts';
import { isNew, type PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { codePoint, showHidden } from '../domain/text.ts';
import type { World } from '../domain/world.ts';
import { editPromptFile, type PromptEdits } from '../files/edit.ts';
import { parsePromptFile } from '../files/parse.ts';
import type { WorkspaceLock } from '../files/lock-workspace.ts';
import { replaceFile } from '../files/read-write.ts';
import { openCommitter } from '../git/commit.ts';
import type { Repository } from '../git/repository.ts';
import { isError, makeProblem, messageOf, type Problem, problemOf, systemCodeOf } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import { type CommandResult, notRun, resultOf } from './result.ts';
import { plannedRun, walk, type Walked, type WalkOptions } from './walk.ts';
import { withWorkspaceLock } from './with-workspace-lock.ts';

/** The options of a command that edits prompt files after what the service says. */
export type EditOptions = Omit<WalkOptions, 'needs'> & {
  readonly dryRun: boolean;
  readonly commit: boolean;
  /** Commit it on a new branch of this name. */
  readonly branch?: string | undefined;
  /** What else may forbid to edit; its problems end the command. */
  readonly refusals?: ((walked: Walked) => Promise<readonly Problem[]>) | undefined;
};

type Editor = {
  readonly mode: Run['mode'];
  /** What is wrong with what was asked for, and the environments to read whether they are pinned or not. */
  readonly needs: NonNullable<WalkOptions['needs']>;
  readonly draft: (prompt: PromptPlan, walked: Walked) => Promise<Draft>;
  /** The subject of the commit, where one is made, with the name of the prompt or the number of prompts. */
  readonly subject: (names: string) => string;
};

export type Draft = {
  readonly file: PromptFile;
  readonly status: 'unchanged' | 'pending' | 'blocked' | 'failed';
  readonly edits: readonly FileEdit[];
  readonly problems: readonly Problem[];
  /** Null where the file stays as it is. */
  readonly change: FileChange | null;
};

type FileChange = {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** The file as it will be; null where it holds conflicts. */
  readonly file: PromptFile | null;
};

/** Observes the selected prompts, edits their files, and commits them if asked. The service is only read. */
export async function editFiles(editor: Editor, options: EditOptions, world: World): Promise<CommandResult> {
  return withWorkspaceLock(editor.mode, options, world, (configuration, lock) =>
    editLocked(editor, { ...options, configuration }, lock, world),
  );
}

async function editLocked(
  editor: Editor,
  options: EditOptions,
  lock: WorkspaceLock,
  world: World,
): Promise<CommandResult> {
  const { mode, needs } = editor;
  return walk(mode, { ...options, needs }, world, async (walked) => {
    const obstacle = lock.lossProblem() ?? (await commitProblem(options, walked));
    const obstacles = obstacle === null ? ((await options.refusals?.(walked)) ?? []) : [obstacle];
    if (obstacles.length > 0) {
      return resultOf(notRun(mode, { ...walked, problems: [...walked.problems, ...obstacles] }), world);
    }
    const drafted = await Promise.all(walked.plan.prompts.map((prompt) => draftOf(prompt, walked, editor)));
    const drafts = world.stop.aborted && !options.dryRun ? drafted.map(interrupted) : drafted;
    const done = await makeEdits(drafts, { ...options, notice: world.notice }, walked, editor);
    return resultOf({ ...plannedRun(mode, walked), ...done, problems: [...walked.problems, ...done.problems] }, world);
  });
}

/** What forbids to commit, before anything is edited. */
async function commitProblem({ commit, branch }: EditOptions, { config, repository }: Walked): Promise<Problem | null> {
  if (!commit && branch === undefined) return null;
  if (repository === null) {
    return makeProblem('git/needs-repository', { what: branch === undefined ? '--commit' : '--branch' });
  }
  return branch === undefined ? null : openCommitter(gitStartOf(config)).branchProblem(branch);
}

/** A prompt that could not be observed is left alone. */
async function draftOf(prompt: PromptPlan, walked: Walked, { draft }: Editor): Promise<Draft> {
  return prompt.observed === null ? stays(prompt.file, 'failed', prompt.problems) : draft(prompt, walked);
}

export function stays(file: PromptFile, status: Draft['status'], problems: readonly Problem[] = []): Draft {
  return { file, status, edits: [], problems, change: null };
}

/** Makes the edits of one file, and writes nothing. What they were made of may be gone since the service was asked. */
export async function draftEdits(
  file: PromptFile,
  edits: readonly FileEdit[],
  wanted: PromptEdits,
  { config, files }: Walked,
): Promise<Draft> {
  const { path } = file;
  // The plan has its pins in promotion order.
  const planned = files.find((one) => one.path === path);
  const before = await readFile(join(config.folder, path)).catch(() => null);
  const parsed = before === null ? null : parsePromptFile(before, path);
  if (before === null || parsed === null || !isDeepStrictEqual(parsed.file, planned)) {
    return { ...stays(file, 'failed', [makeProblem('edit/changed-meanwhile', {}, { path })]), edits };
  }
  const result = editPromptFile(before, path, wanted);
  if ('problem' in result) return { ...stays(file, 'failed', [result.problem]), edits };
  const problems = newWarnings(parsed.problems, result.bytes, path);
  const change = { before, after: result.bytes, file: result.file };
  return { file, status: 'pending', edits, problems, change };
}

/** What comes from the service may hold characters that nobody sees; those that the file had before are no news. */
function newWarnings(before: readonly Problem[], after: Uint8Array, path: string): readonly Problem[] {
  const known = new Set(before.map(({ message }) => message));
  return parsePromptFile(after, path).problems.filter((one) => !isError(one) && !known.has(one.message));
}

/** Whoever gives up wants no edits of those prompts that happened to be read already, and no commit of them. */
function interrupted(draft: Draft): Draft {
  if (draft.status !== 'pending') return draft;
  const { path } = draft.file;
  return { ...draft, status: 'failed', problems: [...draft.problems, makeProblem('apply/interrupted', {}, { path })] };
}

type Edited = {
  readonly edited: readonly EditedPrompt[];
  readonly committed?: Committed;
  readonly problems: readonly Problem[];
};

/** Writes the files, and commits them where that is asked for. What stands in the way of one does not stop the others. */
async function makeEdits(
  drafts: readonly Draft[],
  { dryRun, commit, branch, notice }: EditOptions & Pick<World, 'notice'>,
  { config, repository }: Walked,
  { subject }: Editor,
): Promise<Edited> {
  if (dryRun) return { edited: drafts.map((draft) => editedOf(draft, statusOf(draft, draft.status))), problems: [] };
  const commits = commit || branch !== undefined;
  const ready = commits ? await refuseUncommitted(drafts, repository) : drafts;
  if (!commits || !ready.some(({ status }) => status === 'pending')) {
    return { edited: await writeAll(ready, config.folder), problems: [] };
  }
  const committer = openCommitter(gitStartOf(config));
  const obstacle = branch === undefined ? null : await committer.switchTo(branch);
  if (obstacle !== null) return { edited: ready.map((draft) => editedOf(draft, draft.status)), problems: [obstacle] };
  if (branch !== undefined) notice(`You are on the branch ${showHidden(branch)} now: git switch - goes back.`);
  const edited = await writeAll(ready, config.folder);
  const written = edited.filter(({ status }) => status === 'applied');
  if (written.length === 0) return { edited, problems: [] };
  const paths = written.map(({ path }) => repository?.fromRoot(path) ?? path);
  try {
    return { edited, committed: await committer.commit(paths, commitMessage(written, subject)), problems: [] };
  } catch (error) {
    return { edited, problems: [makeProblem('git/not-committed', { reason: problemOf(error).message })] };
  }
}

/** A commit of an edit must not carry along what somebody has left in the file, nor take the place of what is staged. */
async function refuseUncommitted(drafts: readonly Draft[], repository: Repository | null): Promise<readonly Draft[]> {
  const paths = drafts.filter(({ status }) => status === 'pending').map(({ file }) => file.path);
  if (repository === null || paths.length === 0) return drafts;
  const [edited, staged] = await Promise.all([repository.uncommitted(paths), repository.staged(paths)]);
  return drafts.map((draft): Draft => {
    const { path } = draft.file;
    if (draft.status !== 'pending' || !(edited.has(path) || staged.has(path))) return draft;
    const refusal = makeProblem('guard/uncommitted-edit', {}, { path });
    return { ...draft, status: 'blocked', problems: [...draft.problems, refusal] };
  });
}

async function writeAll(drafts: readonly Draft[], folder: string): Promise<readonly EditedPrompt[]> {
  return Promise.all(drafts.map((draft) => write(draft, folder)));
}

async function write(draft: Draft, folder: string): Promise<EditedPrompt> {
  if (draft.status !== 'pending' || draft.change === null) return editedOf(draft, draft.status);
  const { path } = draft.file;
  const full = join(folder, path);
  try {
    if (!(await readFile(full)).equals(draft.change.before)) {
      return editedOf(draft, 'failed', makeProblem('edit/changed-meanwhile', {}, { path }));
    }
    await replaceFile(full, draft.change.after);
    return editedOf(draft, statusOf(draft, 'applied'));
  } catch (error) {
    const reason = systemCodeOf(error) === 'unknown reason' ? messageOf(error) : systemCodeOf(error);
    return editedOf(draft, 'failed', makeProblem('edit/unwritable', { reason }, { path }));
  }
}

/** A file with conflicts is written, and not done: somebody has to decide. */
function statusOf({ status, change }: Draft, done: EditedPrompt['status']): EditedPrompt['status'] {
  return status === 'pending' && change?.file === null ? 'failed' : done;
}

function editedOf({ file, edits, problems }: Draft, status: EditedPrompt['status'], problem?: Problem): EditedPrompt {
  const { path, id, key } = file;
  return { path, id, key, status, edits, problems: problem === undefined ? problems : [...problems, problem] };
}

/** What GitHub takes for a word to itself: not to run the workflows (`[skip ci]`), or to call somebody (`@name`). */
const ADDRESSED = /\[(?=\s*(?:skip|no|ci|actions)\b)|(?<!\w)@(?=[a-z0-9])/gi;

/** The message of a commit of edits: one prompt in the subject, of several each in a line of its own. */
export function commitMessage(edited: readonly EditedPrompt[], subject: Editor['subject']): string {
  // Keys come from strangers, and so may the rest.
  return showHidden(subjectAndBody(edited, subject)).replaceAll(ADDRESSED, codePoint);
}

function subjectAndBody(edited: readonly EditedPrompt[], subject: Editor['subject']): string {
  const [first, ...rest] = edited;
  if (first === undefined) return subject('no prompt');
  if (rest.length === 0) return `${subject(first.key)}${versionNote(first.edits)}`;
  const lines = edited.map(({ key, edits }) => `- ${key}${versionNote(edits)}`);
  return `${subject(`${edited.length} prompts`)}\n\n${lines.join('\n')}`;
}

function versionNote(edits: readonly FileEdit[]): string {
  const pin = edits.find((edit) => edit.kind === 'set-pin');
  if (pin === undefined) return '';
  const { before = null, after = null } = pin.serves?.change ?? {};
  const to = named(pin.after, after !== null && !isNew(after) ? after.number : null);
  return pin.before === null ? ` (${to})` : ` (${named(pin.before, before?.number ?? null)} → ${to})`;
}

/** What is served has a number also where the pin is an id. */
function named(pin: string, served: number | null): string {
  if (pin.startsWith('version:') && served !== null) return `v${served}`;
  return /^[0-9]+$/.test(pin) ? `v${pin}` : pin;
}
