import { relative } from 'node:path';
import { readReport } from '../../report/read-report.ts';
import { makeStickySection } from '../make-sticky-section.ts';
import { makeMarker, makeWorkspacePath } from '../update-sticky-text.ts';
import { mapStrings } from '../../domain/json.ts';
import type { System } from '../../domain/system.ts';
import { escapeForGitLab, escapeLine } from '../../report/escape.ts';
import { renderComment, renderCommentSection, type MarkdownOptions } from '../../report/formats/markdown.ts';
import type { SizeLimit } from '../../report/formats/markdown-sections.ts';
import {
  chooseFailureReason,
  makeOutcomeTitle,
  reportsApply,
  hasChangedNothing,
} from '../../report/formats/outcome-title.ts';
import type { Report } from '../../report/schema/report-schema.ts';
import { getCommandName } from '../../report/describe-report.ts';
import { connectGitLab } from './gitlab-client.ts';
import { upsertNote, findMergeRequest, type StickyNote } from './merge-request.ts';

/** The options of the command `comment`. */
export type NoteOptions = {
  /** The path of a JSON report, relative to the working directory. */
  readonly file: string;
  /** The path of the configuration from --config. It is part of the marker of the note. */
  readonly config?: string | undefined;
  /** Redacts the secrets in a string. `System.keepSecret` registers the secrets. */
  readonly hide: (text: string) => string;
};

/**
 * Publishes a report as a note on the merge request of this GitLab CI job. Returns a log line with the URL of the note,
 * or with the reason why there is none. If publishing fails, throws a `ProblemError` within a minute.
 */
export async function publishNote({ file, config, hide }: NoteOptions, system: System): Promise<string> {
  const { environment, workingDirectory } = system;
  if (!environment['GITLAB_CI']) return explainNoNote('this is not a GitLab CI job');
  const token = environment['GITLAB_TOKEN']?.trim() ?? '';
  if (token === '') return explainNoNote('the variable `GITLAB_TOKEN` is not set');
  system.keepSecret(token);
  const gitlab = connectGitLab(token, system);
  try {
    const request = await findMergeRequest(gitlab, environment);
    if (request === null) return explainNoNote('this commit has no merge request');
    const report = mapStrings(readReport(file, workingDirectory), hide);
    const note = await upsertNote(gitlab, request, makeNote(report, config, system));
    const address = escapeLine(request.address);
    if (note === null) return explainNoNote(`there is nothing new to report on ${address}`);
    return `Note ${note.action}: ${address}#note_${note.id}`;
  } finally {
    await gitlab.close();
  }
}

function explainNoNote(reason: string): string {
  return `No note published: ${reason}.`;
}

/** The length limit of a note in GitLab, in characters. */
const NOTE_LIMIT = { most: 1_000_000, measure: (text: string): number => escapeForGitLab(text).length };

function makeNote(report: Report, config: string | undefined, system: System): StickyNote {
  const { environment, workingDirectory } = system;
  const folder = relative(environment['CI_PROJECT_DIR'] || workingDirectory, workingDirectory);
  const marker = makeMarker(folder, config);
  const isApply = report.mode === 'apply';
  const options: MarkdownOptions = {
    title: isApply ? makeOutcomeTitle(report, chooseFailureReason(report), system.now()) : getCommandName(report),
    workspace: makeWorkspacePath(folder, config),
    // Show the head commit, because readers do not know the test merge commit that GitLab checks out.
    commit: environment['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || null,
    runUrl: environment['CI_JOB_URL'] || null,
    limit: { ...NOTE_LIMIT, most: NOTE_LIMIT.most - marker.length - 1 },
  };
  const mustOverwrite = makeOverwriteRule(report);
  const { environments, promotion_order: promotionOrder = [] } = report;
  if (environments === undefined) {
    const makeBody = () => escapeForGitLab(`${marker}\n${renderComment(report, options)}`);
    return { marker, makeBody, mustWrite: (existing) => mustOverwrite(existing?.body ?? null) };
  }
  const render = (limit: SizeLimit): string =>
    escapeForGitLab(renderCommentSection({ ...report, environments }, { ...options, limit }));
  const source = { marker, environments, promotionOrder, limit: NOTE_LIMIT, render };
  const { makeBody, findOwnPart, isComplete } = makeStickySection(source);
  return {
    marker,
    makeBody,
    mustWrite: (existing) => mustOverwrite(findOwnPart(existing?.body ?? '')),
    isComplete: ({ body }) => isComplete(body),
  };
}

/**
 * Returns the rule that decides whether to write the note, or this job's section of it. A plan does not overwrite the
 * report of an apply, because the merge request may have been merged in the meantime. An apply that changed nothing or
 * was superseded creates no note and does not overwrite the report of an apply. The rule receives the posted text, or
 * null if there is none.
 */
function makeOverwriteRule(report: Report): (posted: string | null) => boolean {
  const failure = chooseFailureReason(report);
  const mustReport = !hasChangedNothing(report, failure) && failure !== 'superseded';
  if (report.mode === 'apply' && mustReport) return () => true;
  return (posted) => (posted === null ? report.mode !== 'apply' : !reportsApply(posted));
}
