import type { Texts } from '../domain/text-changes.ts';
import { coloursFor } from './colours.ts';
import { counted } from './counted.ts';
import { fitSections, type LeftOut, type Limit } from './fit.ts';
import { inertCode } from './inert-markdown.ts';
import { sectionsOf } from './markdown-sections.ts';
import { renderOutcome } from './render-summary.ts';
import type { Restored } from './restored.ts';
import type { Report, ReportProblem } from './schema.ts';

/** What a page says beside the report, and how long it may be. */
export type MarkdownOptions = {
  readonly texts: Texts;
  /** The drift that a sync only puts back; the report does not tell it. */
  readonly restored: Restored;
  /** What the page is about, such as `plan`. */
  readonly title: string;
  /** The folder that the prompts are in, where a repository has several; null where it has one. */
  readonly folder: string | null;
  /** The commit that readers know it by; null: that of the report. */
  readonly commit: string | null;
  /** Address of the run, in which all can be seen; null outside of one. */
  readonly runUrl: string | null;
  readonly limit: Limit | null;
};

/** Where something was left out, the page is not whole: nobody can approve what cannot be seen. */
export type MarkdownPage = { readonly text: string; readonly whole: boolean };

/** The report as GitHub's Markdown. What files and the service say stands in code throughout: there it is inert. */
export function renderMarkdown(report: Report, options: MarkdownOptions): MarkdownPage {
  const [head, foot] = [headOf(report, options), footOf(report, options)];
  const { limit } = options;
  const room = limit && { ...limit, most: limit.most - limit.measure(head + foot) - RESERVE };
  const { text, leftOut } = fitSections(sectionsOf(report, options), room);
  return { text: `${head}${leftOutNote(leftOut, options)}${text}${foot}`, whole: leftOut.length === 0 };
}

/** For the note on what was left out, which is known last. */
const RESERVE = 1_000;

function headOf(report: Report, { title, folder }: MarkdownOptions): string {
  const where = folder === null ? '' : ` in ${inertCode(folder)}`;
  const reason = report.problems.find(({ code }) => code === NOT_ASKED);
  const note = reason === undefined ? '' : `\n> [!NOTE]\n> ${reason.message} ${reason.hint}\n`;
  return `### promptsync ${title}${where}\n\n${renderOutcome(report, coloursFor(false))}\n${note}`;
}

const NOT_ASKED: ReportProblem['code'] = 'service/not-asked';

function notAsked(problems: Report['problems']): readonly string[] {
  return problems.some(({ code }) => code === NOT_ASKED) ? ['the service was not asked'] : [];
}

function leftOutNote(leftOut: readonly LeftOut[], { runUrl }: MarkdownOptions): string {
  if (leftOut.length === 0) return '';
  const parts = leftOut.map(({ item, count }) => counted([count, item, `${item}s`]));
  const where = runUrl === null ? 'the report of the run' : `[the run](${runUrl})`;
  return (
    '\n> [!WARNING]\n' +
    `> This page is not complete, and not fit for approval. Left out for want of room: ${parts.join(', ')}. ` +
    `All of it is in ${where}.\n`
  );
}

function footOf(
  { service, commit: head, plan_digest: digest, problems, committed }: Report,
  { commit, runUrl }: MarkdownOptions,
): string {
  const shown = commit ?? head;
  const parts = [
    shown === null ? [] : [`commit ${inertCode(shown.slice(0, 12))}`],
    committed === undefined ? [] : [`committed ${inertCode(committed.commit.slice(0, 12))}`],
    service === null ? notAsked(problems) : [`service ${inertCode(service)}`],
    digest === null ? [] : [`plan ${inertCode(digest)}`],
    runUrl === null ? [] : [`[run](${runUrl})`],
  ];
  const line = parts.flat().join(' · ');
  return line === '' ? '' : `\n${line}\n`;
}
