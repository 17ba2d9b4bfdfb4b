import { relative } from 'node:path';
import { readReport } from '../commands/read-report.ts';
import { makeMarker } from '../commands/upsert-sticky-text.ts';
import { mapStrings } from '../domain/json.ts';
import type { World } from '../domain/world.ts';
import { escapeForGitLab, escapeLine } from '../report/escape.ts';
import { renderMarkdown, type MarkdownOptions } from '../report/markdown.ts';
import { chooseFailureReason, makeOutcomeTitle, reportsApply } from '../report/run-outcome.ts';
import type { Report } from '../report/schema.ts';
import { getCommandName } from '../report/describe.ts';
import { connectGitLab } from './client.ts';
import { upsertNote, findMergeRequest, type StickyNote } from './merge-request.ts';

export type CommentOptions = {
  /** A JSON report, relative to the working directory. */
  readonly file: string;
  readonly config?: string | undefined;
  /** Takes secrets out of a text, those that `keepSecret` was given. */
  readonly hide: (text: string) => string;
};

/**
 * Publishes a report as the one note on the merge request that this job of GitLab CI belongs to. Resolves to the line
 * that says what was done, or why nothing. Throws a `ProblemError`, at the latest after a minute.
 */
export async function publishNote({ file, config, hide }: CommentOptions, world: World): Promise<string> {
  const { environment, workingDirectory } = world;
  if (!environment['GITLAB_CI']) return explainNoNote('this is no job of GitLab CI');
  const token = environment['GITLAB_TOKEN']?.trim() ?? '';
  if (token === '') return explainNoNote('this job has no GITLAB_TOKEN');
  world.keepSecret(token);
  const gitlab = connectGitLab(token, world);
  try {
    const request = await findMergeRequest(gitlab, environment);
    if (request === null) return explainNoNote('there is no merge request of this commit');
    const report = mapStrings(readReport(file, workingDirectory), hide);
    const kept = await upsertNote(gitlab, request, makeNote(report, config, world));
    const where = escapeLine(request.address);
    if (kept === null) return explainNoNote(`nothing was done that ${where} has to be told`);
    return `Note ${kept.how}: ${where}#note_${kept.id}`;
  } finally {
    await gitlab.close();
  }
}

function explainNoNote(why: string): string {
  return `No note published: ${why}.`;
}

/** GitLab takes 1,000,000 characters. */
const MAX_NOTE_LENGTH = 1_000_000;

function makeNote(report: Report, config: string | undefined, world: World): StickyNote {
  const { environment, workingDirectory } = world;
  const folder = relative(environment['CI_PROJECT_DIR'] || workingDirectory, workingDirectory);
  const marker = makeMarker(folder, config);
  const isApply = report.mode === 'apply';
  const options: MarkdownOptions = {
    title: isApply ? makeOutcomeTitle(report, chooseFailureReason(report), world.now()) : getCommandName(report),
    folder: folder === '' ? null : folder,
    // Readers know a merge request by its own commit, not by the merge that GitLab makes for a try.
    commit: environment['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || null,
    runUrl: environment['CI_JOB_URL'] || null,
    limit: { most: MAX_NOTE_LENGTH - marker.length - 1, measure: (text) => escapeForGitLab(text).length },
  };
  const body = escapeForGitLab(`${marker}\n${renderMarkdown(report, options)}`);
  return { marker, body, mustWrite: makeOverwriteRule(report) };
}

/**
 * Whether there is something to say: an apply that had nothing to do, or came too late to do anything, is no news where
 * there is no note, and takes no "applied" back. Nor does the plan of a merge request that is merged.
 */
function makeOverwriteRule(report: Report): StickyNote['mustWrite'] {
  const failure = chooseFailureReason(report);
  const isIdle = failure === '' && report.prompts.every(({ status }) => status === 'unchanged');
  if (report.mode === 'apply' && !isIdle && failure !== 'superseded') return () => true;
  return (found) => (found === null ? report.mode !== 'apply' : !reportsApply(found.body));
}
