import { FILE_MODES } from '../domain/edits.ts';
import type { Colours } from './colours.ts';
import { counted, type Part } from './counted.ts';
import { inertLine } from './inert.ts';
import type { Report } from './schema.ts';

/** Whether a report is about files that a command edits. */
export function isAboutFiles({ mode }: Report): boolean {
  return FILE_MODES.some((one) => one === mode);
}

/** In one line: what was done to the files, or would be. */
export function editOutcome(report: Report, colours: Colours): string {
  const parts = workOf(report)
    .filter(([count]) => count > 0)
    .map(counted);
  const refused = report.prompts.some(({ status }) => status === 'blocked' || status === 'failed');
  return parts.length === 0
    ? colours.green('nothing to do.')
    : (refused ? colours.red : colours.bold)(`${parts.join(', ')}.`);
}

/** What somebody who has edited files does next; null where nothing was edited. */
export function nextStep({ prompts, files = [], committed, mode, commit }: Report): string | null {
  const conflicts = prompts.some(({ problems }) => problems.some(({ code }) => code === 'pull/conflict'));
  if (conflicts)
    return `Next: resolve the conflicts in the files, then ${commit === null ? WITHOUT_COMMITS : 'commit them'}.`;
  const edited = prompts.filter(({ status }) => status === 'applied').length + files.length;
  if (edited === 0) return isPinnedSo(mode, prompts) ? PINNED_SO : null;
  if (mode === 'init' && files.some(isNewWorkflow)) {
    return 'Next: promptsync plan; put the commit of promptsync that you trust into the workflows; commit the files.';
  }
  if (mode === 'init' || mode === 'import') return 'Next: promptsync plan, then commit the files.';
  if (committed !== undefined) return stepAfterCommit(committed);
  if (commit === null) return `Next: promptsync plan, then ${WITHOUT_COMMITS}.`;
  return 'Next: read it with git diff, commit it, and open a pull request.';
}

function isPinnedSo(mode: Report['mode'], prompts: Report['prompts']): boolean {
  const pins = mode === 'promote' || mode === 'rollback';
  return pins && prompts.length > 0 && prompts.every(({ status }) => status === 'unchanged');
}

/** The file may be right while the service is not. */
const PINNED_SO = 'The file has that pin already. Next: promptsync plan tells whether a sync is due.';

/** A report without a commit is of a folder outside of git, or of a repository that has none yet: a sync wants one there. */
const WITHOUT_COMMITS = 'promptsync sync (in a git repository after a commit)';

/** Where no branch is checked out there is nothing to push, and the next checkout would leave the commit behind. */
function stepAfterCommit({ commit, branch }: NonNullable<Report['committed']>): string {
  const made = `Committed ${inertLine(commit).slice(0, 12)}`;
  if (branch === null) return `${made} on no branch. Next: git switch -c NAME, then push it and open a pull request.`;
  // Nobody opens a pull request from the branch that it would go to.
  const request = ['main', 'master'].includes(branch) ? '' : ' and open a pull request';
  return `${made} on ${inertLine(branch)}. Next: push it${request}.`;
}

function workOf({ prompts, files = [] }: Report): readonly Part[] {
  const having = (...statuses: readonly string[]) => prompts.filter(({ status }) => statuses.includes(status));
  const creating = (status: string) => having(status).filter(creates).length;
  const [created, toCreate] = [creating('applied'), creating('pending')];
  const written = files.filter(({ status }) => status !== 'kept').length;
  return [
    [created + written, 'file written', 'files written'],
    [having('applied').length - created, 'file edited', 'files edited'],
    [toCreate, 'file to write', 'files to write'],
    [having('pending').length - toCreate, 'file to edit', 'files to edit'],
    [having('blocked').length, 'prompt blocked', 'prompts blocked'],
    [having('failed').length, 'prompt failed', 'prompts failed'],
    [having('unchanged').length + files.length - written, 'unchanged', 'unchanged'],
  ];
}

/** The workflows come with a commit of zeros, which nobody has reviewed. */
function isNewWorkflow({ path, status }: NonNullable<Report['files']>[number]): boolean {
  return status === 'created' && path.includes('.github/workflows/');
}

function creates({ edits = [] }: Report['prompts'][number]): boolean {
  return edits.some(({ kind }) => kind === 'create-file');
}
