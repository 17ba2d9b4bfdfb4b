import { describeChangeStatus, type NoteContext } from '../describe-changes.ts';
import type { DriftContext } from '../describe-drift.ts';
import {
  type Block,
  isMarkerLine,
  makeTextDiffs,
  type MarkedLine,
  markWords,
  nameInvisibleChanges,
  type TextDiff,
} from '../text-diff.ts';
import { UNKNOWN_TEXT_NOTES } from './render-diff.ts';
import { type Entry, LABELS, listEntries } from '../change-entries.ts';
import { escapeLine } from '../escape.ts';
import { describeDifference, makeHistoryTables, type HistoryTable } from './render-history.ts';
import { combineProblems, formatProblemPlace, groupProblems } from '../problem-list.ts';
import type { Report, ReportProblem, ReportPrompt, ReportRow } from '../schema/report-schema.ts';
import { formatDistance, makeMatrixCell, type MatrixCell } from './status-matrix.ts';
import { listDifferingRows, hasHistory } from './summary.ts';
import { renderWebUrl } from '../../domain/network.ts';
import { formatCount } from '../../text.ts';
import { describeStatus, getServiceNoun, hasFailed, isDone } from '../describe-report.ts';
import { markup, NO_MARKUP, type Markup } from './html-markup.ts';

/** The properties of a page that are needed to render its rows. */
export type PageContext = DriftContext &
  NoteContext & {
    readonly environments: readonly string[];
    /** Returns the HTML id of a prompt's row. A link to the row consists of `#` and this id. */
    readonly findLink: (prompt: ReportPrompt) => string;
    readonly withoutDiffs: boolean;
  };

/** A property of a prompt that readers can filter by. */
export type PromptTrait = (typeof PROMPT_TRAITS)[number];

/** All traits that a prompt can have. Every prompt that needs attention has the trait `review`. */
export const PROMPT_TRAITS = ['review', 'changed', 'drift', 'blocked', 'failed'] as const;

/** Returns the traits of a prompt, in the order of `PROMPT_TRAITS`. */
export function listTraits(prompt: ReportPrompt, mode: Report['mode']): readonly PromptTrait[] {
  const { status, changes, edits = [], drift, environments = [], problems, waiting = [] } = prompt;
  const differsFromPin = status === 'unchanged' && environments.some(({ in_sync: inSync }) => !inSync);
  const traits = {
    changed: changes.length + edits.length > 0 || status === 'applied' || status === 'pending',
    drift: drift.length > 0 || differsFromPin,
    blocked: status === 'blocked',
    failed: hasFailed(prompt, mode),
  };
  const review = problems.length + waiting.length > 0 || Object.values(traits).includes(true);
  return PROMPT_TRAITS.filter((trait) => (trait === 'review' ? review : traits[trait]));
}

/** Renders one row of the matrix. When expanded, the row shows everything that the report contains about the prompt. */
export function renderPromptRow(prompt: ReportPrompt, context: PageContext, isOpen: boolean): Markup {
  const link = context.findLink(prompt);
  const diffs = context.withoutDiffs ? [] : makeTextDiffs(prompt, Infinity);
  const parts = diffs.map((diff) => renderDiffTable(diff, link));
  const classes = ['prompt', prompt.status, ...listTraits(prompt, context.mode)].join(' ');
  const name = markup`<span class="name"><b>${prompt.key}</b> <span>${prompt.path}</span></span>`;
  const status = markup`<span class="status"><b>${chooseStatusWord(prompt, context)}</b>${renderLineCounts(diffs)}${renderFields(prompt)}</span>`;
  return markup`<details id="${link}" class="${classes}"${isOpen ? markup` open` : NO_MARKUP}><summary>${name}${renderCells(prompt, context)}${status}</summary>
<div class="body">${renderPromptBody(prompt, context)}${parts}<p class="link"><a href="#${link}">Link to this prompt</a>${renderServiceLink(prompt, context)}</p></div></details>
`;
}

/** Renders a link to the page of the prompt in the service, if the report contains its address. */
function renderServiceLink({ url = '' }: ReportPrompt, context: PageContext): Markup {
  const address = renderWebUrl(url);
  if (address === null) return NO_MARKUP;
  return markup` · <a href="${address}" rel="noreferrer">Open in ${getServiceNoun(context)}</a>`;
}

/** Returns the status. `validate` attempts no prompt and `history` changes none, so they use words of their own. */
function chooseStatusWord(prompt: ReportPrompt, { mode }: PageContext): string {
  if (prompt.status === 'not_attempted' && mode === 'validate') return 'checked';
  if (hasHistory(prompt)) return listDifferingRows(prompt).length > 0 ? 'not as pinned' : 'as pinned';
  return prompt.status === 'pending' ? 'changes' : describeStatus(prompt.status);
}

function renderLineCounts(diffs: readonly TextDiff[]): Markup {
  const blocks = diffs.flatMap(({ hunks }) => hunks).flatMap((hunk) => hunk.blocks);
  const countLinesOf = (kind: Block['kind']): number =>
    blocks.reduce((sum, block) => sum + (block.kind === kind ? block.lines.length : 0), 0);
  const added = countLinesOf('added');
  const removed = countLinesOf('removed');
  return added + removed === 0 ? NO_MARKUP : markup` <span class="count">+${added} −${removed}</span>`;
}

/** Renders the names of the changed fields, because the matrix has columns only for environments. */
function renderFields({ changes }: ReportPrompt): Markup {
  const fields = changes.flatMap((change) => (change.kind === 'update-prompt' ? Object.keys(change.fields) : []));
  return fields.length === 0 ? NO_MARKUP : markup` <span class="count">~ ${fields.join(', ')}</span>`;
}

/** Renders a cell for each environment. It names the environment, because a narrow page does not show columns. */
function renderCells(prompt: ReportPrompt, { environments }: PageContext): readonly Markup[] {
  return environments.map((environment) => {
    const cell = makeMatrixCell(prompt, environment);
    const isBlocked = cell.kind === 'change' && prompt.status === 'blocked';
    // A blocked change is struck through, so that readers can recognize it even without color.
    const content = isBlocked
      ? markup`${renderActiveVersion(cell)} → <s>${cell.next}</s> <em>blocked</em>`
      : renderCellContent(cell);
    const kind = isBlocked ? 'refused' : cell.kind;
    return markup`<span class="cell ${kind}"><i>${environment} </i>${content}${renderDriftMark(cell)}</span>`;
  });
}

function renderCellContent(cell: MatrixCell): Markup {
  const { kind, next, status } = cell;
  if (kind === 'unpinned') return markup`<span class="none">not pinned</span>`;
  if (kind === 'unread') return markup`not known`;
  const active = renderActiveVersion(cell);
  if (kind === 'in-sync') return active;
  if (kind === 'differs') return markup`${active} <em>not as pinned</em>`;
  return markup`${active} → <b>${next}</b>${status === undefined ? '' : describeChangeStatus(status)}`;
}

/** Renders the version or the pin before a change, and the distance to the promotion source. */
function renderActiveVersion(cell: MatrixCell): Markup {
  const distance = formatDistance(cell);
  return markup`${cell.now || 'not pinned'}${distance === '' ? NO_MARKUP : markup` <em>${distance}</em>`}`;
}

/** Renders the drift mark of a cell. Drift that this run resolved gets no mark and appears only in the expanded row. */
function renderDriftMark(cell: MatrixCell): Markup {
  const { drift } = cell;
  if (drift === null || isDone(cell)) return NO_MARKUP;
  return markup` <em>${drift.kind === 'outside' ? 'drift' : 'unfinished'}</em>`;
}

function renderPromptBody(prompt: ReportPrompt, context: PageContext): readonly Markup[] {
  const items = listEntries(prompt, context, escapeLine).map(({ kind, text, commands, metadata }) => {
    const label = LABELS[kind] === undefined ? NO_MARKUP : markup`<b>${LABELS[kind]}</b>`;
    const below = commands.map((command) => markup`<br>${command}`);
    return markup`<li class="${kind}">${label}${text}${below}${renderKeptMetadata(metadata)}</li>`;
  });
  return [
    renderProblemList(prompt.problems),
    items.length === 0 ? NO_MARKUP : markup`<ul class="changes">${items}</ul>\n`,
    ...(hasHistory(prompt) ? renderHistoryTables(prompt, context) : [renderPins(prompt)]),
  ];
}

function renderKeptMetadata(metadata: Entry['metadata']): Markup {
  const lines = metadata.map((line) => markup`${escapeLine(line)}\n`);
  return lines.length === 0 ? NO_MARKUP : markup`\n<div class="text">${lines}</div>`;
}

/** Renders each problem with its hint. Problems of one kind are one item with a line for each file. */
export function renderProblemList(problems: readonly ReportProblem[]): Markup {
  const groups = groupProblems(problems).map((group) => {
    const { title, items } = combineProblems(group);
    const place = formatProblemPlace(title);
    const where = place === '' ? NO_MARKUP : markup`<code>${place}</code> `;
    const what = markup`<b>${title.severity}:</b> ${where}${title.message} <code class="code">${title.code}</code>`;
    const files = items.map((item) => markup`<br><code>${item.place}</code> ${item.message}`);
    return markup`<li class="${title.severity}">${what}${files}<br>${title.hint}</li>\n`;
  });
  return groups.length === 0 ? NO_MARKUP : markup`<ul class="problems">${groups}</ul>\n`;
}

function renderPins({ environments = [] }: ReportPrompt): Markup {
  if (environments.length === 0) return NO_MARKUP;
  const pins = environments.map((row) => markup` <span>${row.environment}: <code>${formatShownPin(row)}</code></span>`);
  return markup`<p class="pins">Pins:${pins}</p>\n`;
}

/** Returns a pin as written, or the number of its version if the pin names the version by id. */
function formatShownPin({ pin, wanted }: ReportRow): string {
  if (!pin.startsWith('version:')) return pin;
  const number = wanted === null || 'new' in wanted ? null : wanted.version_number;
  return number === null ? 'a version by its id' : String(number);
}

function renderHistoryTables(prompt: ReportPrompt, context: PageContext): readonly Markup[] {
  const notes = listDifferingRows(prompt).map(
    (row) => markup`<p class="note">${describeDifference(row, escapeLine)}</p>\n`,
  );
  return [...makeHistoryTables(prompt, escapeLine, context).map(renderHistoryTable), ...notes];
}

function renderHistoryTable({ title, columns, rows }: HistoryTable): Markup {
  const caption = title === null ? NO_MARKUP : markup`<p>${title}</p>\n`;
  if (rows.length === 0) return caption;
  const head = columns.map((column) => markup`<th scope="col">${column}</th>`);
  const body = rows.map((row) => markup`<tr>${row.map((cell) => markup`<td>${cell}</td>`)}</tr>\n`);
  return markup`${caption}<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>\n`;
}

/** The number of unchanged lines to show before and after each change. All other unchanged lines are folded. */
const CONTEXT_LINES = 3;

function renderDiffTable({ environments, type, before, after, unknownReason, hunks }: TextDiff, link: string): Markup {
  const names = environments.map((environment, index) => {
    const id = `${link}@${encodeURIComponent(environment.toWellFormed())}`;
    return markup`${index === 0 ? '' : ', '}<a id="${id}" href="#${id}">${environment}</a>`;
  });
  if (unknownReason !== null)
    return markup`<h3>${names}</h3>\n<p class="note">${UNKNOWN_TEXT_NOTES[unknownReason]}</p>\n`;
  const unmarked = hunks.flatMap((hunk) => hunk.blocks);
  const marked = markWords(unmarked, type);
  const blocks = marked.map(({ kind, lines }) => ({ kind, lines: lines.map((line) => renderDiffLine(line, type)) }));
  const changeNames = nameInvisibleChanges(unmarked);
  const shown = blocks.map((block, index) => {
    const rendered = renderDiffBlock(block, index === 0, index === blocks.length - 1);
    const name = changeNames[index] ?? '';
    return name === '' ? rendered : markup`${rendered}<div class="note">${name}</div>`;
  });
  return markup`<h3>${names}: ${before ?? 'nothing'} → ${after}</h3>\n<div class="text">${shown}</div>\n`;
}

type RenderedBlock = { readonly kind: Block['kind']; readonly lines: readonly Markup[] };

/** Renders one block of a diff. Folds unchanged lines that are more than `CONTEXT_LINES` lines away from a change. */
function renderDiffBlock({ kind, lines }: RenderedBlock, isFirst: boolean, isLast: boolean): Markup {
  if (kind === 'removed') return markup`<del>${lines}</del>`;
  if (kind === 'added') return markup`<ins>${lines}</ins>`;
  const from = isFirst ? 0 : CONTEXT_LINES;
  const to = lines.length - (isLast ? 0 : CONTEXT_LINES);
  // The summary of a fold takes up one line, so folding a single line would save nothing.
  if (to - from < 2) return renderUnchangedLines(lines);
  const summary = formatCount(to - from, 'unchanged line');
  const fold = markup`<details class="fold"><summary>${summary}</summary>${renderUnchangedLines(lines.slice(from, to))}</details>`;
  return markup`${renderUnchangedLines(lines.slice(0, from))}${fold}${renderUnchangedLines(lines.slice(to))}`;
}

function renderUnchangedLines(lines: readonly Markup[]): Markup {
  return lines.length === 0 ? NO_MARKUP : markup`<span>${lines}</span>`;
}

/** Renders a line and a line feed. Browsers ignore a line feed at the end of an element, so all lines get one. */
function renderDiffLine(line: MarkedLine, type: TextDiff['type']): Markup {
  const content = line.map(({ text, changed }) => (changed ? markup`<mark>${text}</mark>` : markup`${text}`));
  const isMarker = isMarkerLine(line.map(({ text }) => text).join(''), type);
  return isMarker ? markup`<b class="marker">${content}</b>\n` : markup`${content}\n`;
}
