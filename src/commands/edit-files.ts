import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type CommandResult, exitCodeOf, notRun, plannedRun } from './result.ts';
import { walk, type Walked, type WalkOptions } from './walk.ts';
import { gitStartOf } from '../desired/workspace.ts';
import type { Committed, EditedPrompt, FileEdit } from '../domain/edits.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { codePoint, showHidden } from '../domain/text.ts';
import type { World } from '../domain/world.ts';
import { editPromptFile, type PromptEdits } from '../files/edit.ts';
import { parsePromptFile } from '../files/parse.ts';
import { replaceFile } from '../files/read-write.ts';
import { openCommitter } from '../git/commit.ts';
import type { Repository } from '../git/repository.ts';
import { isError, makeProblem, messageOf, type Problem, problemOf, systemCodeOf } from '../problem.ts';
import type { Run } from '../report/make-report.ts';

export type EditPromptsOptions = Omit<WalkOptions, 'needs'> & EditOptions;

/** How a command edits prompt files after what the service says. */
export type Editor = {
  readonly mode: Run['mode'];
  /** What is wrong with what was asked for, and the environments to read whether they are pinned or not. */
  readonly needs: NonNullable<WalkOptions['needs']>;
  readonly draft: (prompt: PromptPlan, walked: Walked) => Promise<Draft>;
  /** The message of the commit, where one is made. */
  readonly messageFor: (edited: readonly EditedPrompt[]) => string;
};

/** Observes the selected prompts, edits their files, and commits them if asked. The service is only read. */
export async function runEdits(editor: Editor, options: EditPromptsOptions, world: World): Promise<CommandResult> {
  const { mode, needs } = editor;
  const finish = (run: Run): CommandResult => {
    return { run, exitCode: exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted }) };
  };
  return walk(
    { ...options, needs },
    world,
    async (walked) => {
      const obstacles = await commitProblems(options, walked);
      if (obstacles.length > 0)
        return finish(notRun(mode, { ...walked, problems: [...walked.problems, ...obstacles] }));
      const drafted = await Promise.all(walked.plan.prompts.map((prompt) => draftOf(prompt, walked, editor)));
      const cut = world.stop.aborted && !options.dryRun;
      const drafts = drafted.map((draft) => (cut ? interrupted(draft) : draft));
      const done = await makeEdits(drafts, options, walked, editor.messageFor);
      const problems = [...walked.problems, ...done.problems];
      return finish({ ...plannedRun(mode, walked), ...done, problems });
    },
    (reason) => finish(notRun(mode, reason)),
  );
}

/** A prompt that could not be observed is left alone. */
async function draftOf(prompt: PromptPlan, walked: Walked, { draft }: Editor): Promise<Draft> {
  if (prompt.observed !== null) return draft(prompt, walked);
  return stays(prompt.file, 'failed', prompt.problems);
}

/** Whoever gives up wants no edits of those prompts that happened to be read already, and no commit of them. */
function interrupted(draft: Draft): Draft {
  if (draft.status !== 'pending') return draft;
  const { path } = draft.file;
  return { ...draft, status: 'failed', problems: [...draft.problems, makeProblem('apply/interrupted', {}, { path })] };
}

/** What is to be done to one prompt's file. */
export type Draft = {
  readonly file: PromptFile;
  readonly status: 'unchanged' | 'pending' | 'blocked' | 'failed';
  readonly edits: readonly FileEdit[];
  readonly problems: readonly Problem[];
  /** Null where the file stays as it is. */
  readonly change: FileChange | null;
};

export type FileChange = {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** The file as it will be; null where it holds conflicts. */
  readonly file: PromptFile | null;
};

/** A draft of a file that stays as it is. */
export function stays(file: PromptFile, status: Draft['status'], problems: readonly Problem[] = []): Draft {
  return { file, status, edits: [], problems, change: null };
}

/** Makes the edits of one file, and writes nothing. What they were made of may be gone since the service was asked. */
export async function draftEdits(
  file: PromptFile,
  edits: readonly FileEdit[],
  wanted: PromptEdits,
  { config }: Pick<Walked, 'config'>,
): Promise<Draft> {
  const { path } = file;
  const before = await readFile(join(config.folder, path)).catch(() => null);
  const parsed = before === null ? null : parsePromptFile(before, path);
  if (before === null || parsed === null || !isSame(parsed.file, file)) {
    return { ...stays(file, 'failed', [makeProblem('edit/changed-meanwhile', {}, { path })]), edits };
  }
  const result = editPromptFile(before, path, wanted);
  if ('problem' in result) return { ...stays(file, 'failed', [result.problem]), edits };
  const problems = newWarnings(parsed.problems, result.bytes, path);
  return { file, status: 'pending', edits, problems, change: { before, after: result.bytes, file: result.file } };
}

/** What comes from the service may hold characters that nobody sees: those that were in the file were told of before. */
function newWarnings(before: readonly Problem[], after: Uint8Array, path: string): readonly Problem[] {
  const told = new Set(before.map(({ message }) => message));
  return parsePromptFile(after, path).problems.filter((one) => !isError(one) && !told.has(one.message));
}

/** Whether two readings of a file say the same: a plan has the pins in promotion order. */
function isSame(one: PromptFile | null, other: PromptFile): boolean {
  return one !== null && isDeepStrictEqual(inFileOrder(one), inFileOrder(other));
}

function inFileOrder(file: PromptFile): PromptFile {
  return { ...file, pins: file.pins.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

export type EditOptions = {
  readonly dryRun: boolean;
  /** Commit what was edited. */
  readonly commit: boolean;
  /** Commit it on a new branch of this name. */
  readonly branch?: string | undefined;
};

export type Edited = {
  readonly edited: readonly EditedPrompt[];
  readonly committed?: Committed;
  readonly problems: readonly Problem[];
};

/** What forbids to commit, before anything is edited. */
export async function commitProblems(
  { commit, branch }: EditOptions,
  { config, repository }: Pick<Walked, 'config' | 'repository'>,
): Promise<readonly Problem[]> {
  if (!commit && branch === undefined) return [];
  if (repository === null)
    return [makeProblem('git/needs-repository', { what: branch === undefined ? '--commit' : '--branch' })];
  const problem = branch === undefined ? null : await openCommitter(gitStartOf(config)).branchProblem(branch);
  return problem === null ? [] : [problem];
}

type Where = Pick<Walked, 'config' | 'repository'>;

/** Writes the files, and commits them where that is asked for. What stands in the way of one does not stop the others. */
export async function makeEdits(
  drafts: readonly Draft[],
  options: EditOptions,
  where: Where,
  messageFor: (edited: readonly EditedPrompt[]) => string,
): Promise<Edited> {
  if (options.dryRun) {
    return { edited: drafts.map((draft) => editedOf(draft, statusOf(draft, draft.status))), problems: [] };
  }
  const commits = options.commit || options.branch !== undefined;
  const ready = commits ? await refuseUncommitted(drafts, where.repository) : drafts;
  if (!commits || !ready.some(({ status }) => status === 'pending')) {
    return { edited: await writeAll(ready, where), problems: [] };
  }
  const committer = openCommitter(gitStartOf(where.config));
  const obstacle = options.branch === undefined ? null : await committer.switchTo(options.branch);
  if (obstacle !== null) return { edited: ready.map((draft) => editedOf(draft, draft.status)), problems: [obstacle] };
  const edited = await writeAll(ready, where);
  const written = edited.filter(({ status }) => status === 'applied');
  if (written.length === 0) return { edited, problems: [] };
  const paths = written.map(({ path }) => where.repository?.fromRoot(path) ?? path);
  try {
    return { edited, committed: await committer.commit(paths, messageFor(written)), problems: [] };
  } catch (error) {
    return { edited, problems: [makeProblem('git/not-committed', { reason: problemOf(error).message })] };
  }
}

/** A commit of an edit must not carry along what somebody has left in the file, nor take the place of what is staged. */
async function refuseUncommitted(drafts: readonly Draft[], repository: Repository | null): Promise<readonly Draft[]> {
  const paths = drafts.filter(({ status }) => status === 'pending').map(({ file }) => file.path);
  const uncommitted = await findUncommitted(paths, repository);
  return drafts.map((draft): Draft => {
    const { path } = draft.file;
    if (draft.status !== 'pending' || !uncommitted.has(path)) return draft;
    return {
      ...draft,
      status: 'blocked',
      problems: [...draft.problems, makeProblem('guard/uncommitted-edit', {}, { path })],
    };
  });
}

async function findUncommitted(paths: readonly string[], repository: Repository | null): Promise<ReadonlySet<string>> {
  if (repository === null || paths.length === 0) return new Set();
  const [edited, staged] = await Promise.all([repository.uncommitted(paths), repository.staged(paths)]);
  return edited.union(staged);
}

async function writeAll(drafts: readonly Draft[], where: Where): Promise<readonly EditedPrompt[]> {
  return Promise.all(drafts.map((draft) => write(draft, where)));
}

async function write(draft: Draft, { config }: Where): Promise<EditedPrompt> {
  if (draft.status !== 'pending' || draft.change === null) return editedOf(draft, draft.status);
  const { path } = draft.file;
  const full = join(config.folder, path);
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
export function commitMessage(edited: readonly EditedPrompt[], subject: (names: string) => string): string {
  // Keys come from strangers, and so may the rest.
  return showHidden(subjectAndBody(edited, subject)).replaceAll(ADDRESSED, codePoint);
}

function subjectAndBody(edited: readonly EditedPrompt[], subject: (names: string) => string): string {
  const [first, ...rest] = edited;
  if (first === undefined) return subject('no prompt');
  if (rest.length === 0) return `${subject(first.key)}${versionNote(first.edits)}`;
  const lines = edited.map(({ key, edits }) => `- ${key}${versionNote(edits)}`);
  return `${subject(`${edited.length} prompts`)}\n\n${lines.join('\n')}`;
}

function versionNote(edits: readonly FileEdit[]): string {
  const pin = edits.find((edit) => edit.kind === 'set-pin');
  if (pin === undefined) return '';
  return pin.before === null ? ` (v${pin.after})` : ` (${named(pin.before)} → ${named(pin.after)})`;
}

function named(pin: string): string {
  return /^[0-9]+$/.test(pin) ? `v${pin}` : pin;
}
