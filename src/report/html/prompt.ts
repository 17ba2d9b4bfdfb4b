import { makeTextDiffs, markWords, type Block, type MarkedBlock, type MarkedLine, type TextDiff } from '../diff.ts';
import { unknownText } from '../diff-text.ts';
import { escapeLine } from '../escape.ts';
import { differsText, historyTables, type HistoryTable } from '../history.ts';
import { placeText } from '../problems.ts';
import type { Report, ReportChange, ReportProblem, ReportPrompt } from '../schema.ts';
import { cellOf, type MatrixCell } from '../status.ts';
import { differingRows, hasHistory } from '../summary.ts';
import * as words from '../words.ts';
import { markup, nothing, type Markup } from './markup.ts';

export type PageContext = {
  readonly mode: Report['mode'];
  readonly environments: readonly string[];
  /** The id of a prompt's row, and what a link to it leads to. */
  readonly linkOf: (prompt: ReportPrompt) => string;
};

/** What a page's filters ask of a prompt. */
export type Trait = (typeof TRAITS)[number];

/** `review`: whatever there is to look at. */
export const TRAITS = ['review', 'changed', 'drift', 'blocked', 'failed'] as const;

export function traitsOf({ status, ...prompt }: ReportPrompt, mode: Report['mode']): readonly Trait[] {
  const { changes, edits = [], drift, environments = [], problems } = prompt;
  const unresolved = status === 'unchanged' && environments.some(({ in_sync: inSync }) => !inSync);
  const is = {
    changed: changes.length + edits.length > 0 || status === 'applied' || status === 'pending',
    drift: drift.length > 0 || unresolved,
    blocked: status === 'blocked',
    // A validation attempts nothing.
    failed: status === 'failed' || (status === 'not_attempted' && mode !== 'validate'),
  };
  const review = problems.length > 0 || Object.values(is).includes(true);
  return TRAITS.filter((trait) => (trait === 'review' ? review : is[trait]));
}

/** One row of the matrix, which opens on everything that is known of the prompt. */
export function promptRow(prompt: ReportPrompt, context: PageContext, open: boolean): Markup {
  const link = context.linkOf(prompt);
  const diffs = makeTextDiffs(prompt, Infinity);
  const parts = diffs.map((diff) => diffOf(diff, link));
  const classes = ['prompt', prompt.status, ...traitsOf(prompt, context.mode)].join(' ');
  const name = markup`<span class="name"><b>${prompt.key}</b> <span>${prompt.path}</span></span>`;
  const status = markup`<span class="status"><b>${wordOf(prompt, context)}</b>${countOf(diffs)}${fieldsOf(prompt)}</span>`;
  return markup`<details id="${link}" class="${classes}"${open ? markup` open` : nothing}><summary>${name}${cellsOf(prompt, context)}${status}</summary>
<div class="body">${bodyOf(prompt, context)}${parts}<p class="link"><a href="#${link}">Link to this prompt</a></p></div></details>
`;
}

/** A validation attempts nothing, and a history is not of changes. */
function wordOf(prompt: ReportPrompt, { mode }: PageContext): string {
  if (prompt.status === 'not_attempted' && mode === 'validate') return 'checked';
  if (hasHistory(prompt)) return differingRows(prompt).length > 0 ? 'not as pinned' : 'as pinned';
  return prompt.status === 'pending' ? 'changes' : words.statusText(prompt.status);
}

function countOf(diffs: readonly TextDiff[]): Markup {
  const blocks = diffs.flatMap(({ hunks }) => hunks).flatMap((hunk) => hunk.blocks);
  const lines = (wanted: Block['kind']) =>
    blocks.reduce((sum, block) => sum + (block.kind === wanted ? block.lines.length : 0), 0);
  const [added, removed] = [lines('added'), lines('removed')];
  return added + removed === 0 ? nothing : markup` <span class="count">+${added} −${removed}</span>`;
}

/** The matrix has environments alone. */
function fieldsOf({ changes }: ReportPrompt): Markup {
  const fields = changes.flatMap((change) => (change.kind === 'update-prompt' ? Object.keys(change.fields) : []));
  return fields.length === 0 ? nothing : markup` <span class="count">~ ${fields.join(', ')}</span>`;
}

/** Each cell says its environment: a narrow page has no columns. */
function cellsOf(prompt: ReportPrompt, { environments }: PageContext): readonly Markup[] {
  return environments.map((environment) => {
    const cell = cellOf(prompt, environment);
    const refused = cell.kind === 'change' && prompt.status === 'blocked';
    // It can be seen without colour as well: what is blocked is struck out.
    const content = refused ? markup`${cell.now} → <s>${cell.next}</s> <em>blocked</em>` : contentOf(cell);
    const kind = refused ? 'refused' : cell.kind;
    return markup`<span class="cell ${kind}"><i>${environment} </i>${content}${driftMark(cell)}</span>`;
  });
}

function contentOf({ kind, now, next, status }: MatrixCell): Markup {
  if (kind === 'unpinned') return markup`<span class="none">not pinned</span>`;
  if (kind === 'unread') return markup`not known`;
  if (kind === 'in-sync') return markup`${now}`;
  if (kind === 'differs') return markup`${now} <em>not as pinned</em>`;
  return markup`${now || 'not pinned'} → <b>${next}</b>${words.statusNote({ status })}`;
}

/** What this run has put right is said in the row alone. */
function driftMark({ kind, drift, status }: MatrixCell): Markup {
  const mended = kind === 'change' && (status === 'made' || status === 'adopted');
  return drift === null || mended ? nothing : markup` <em>${drift.kind === 'outside' ? 'drift' : 'unfinished'}</em>`;
}

function bodyOf(prompt: ReportPrompt, { mode }: PageContext): readonly Markup[] {
  const items = [
    ...prompt.drift.map((drift) => {
      return markup`<li class="drift"><b>Drift:</b> ${words.driftText(drift, prompt, mode, escapeLine)}</li>`;
    }),
    ...(prompt.edits ?? []).map(
      (edit) => markup`<li class="edit ${words.editKind(edit)}">${words.editText(edit)}</li>`,
    ),
    ...prompt.changes.flatMap((change) =>
      words.changeTexts(change).map((text) => {
        const note = words.changeNote(change, prompt, escapeLine);
        return markup`<li class="${change.kind}">${text}${note}${metadataOf(change)}</li>`;
      }),
    ),
    ...words.waitingTexts(prompt, escapeLine).map((text) => markup`<li>${text}</li>`),
    ...words
      .breakingTexts(prompt, escapeLine)
      .map((text) => markup`<li class="breaking"><b>Breaking:</b> ${text}</li>`),
  ];
  return [
    problemList(prompt.problems),
    items.length === 0 ? nothing : markup`<ul class="changes">${items}</ul>\n`,
    ...(hasHistory(prompt) ? historyOf(prompt) : [pinsOf(prompt)]),
  ];
}

/** The metadata that a new version takes over from another one. */
function metadataOf(change: ReportChange): Markup {
  const lines = words.keptMetadataLines(change).map((line) => markup`${escapeLine(line)}\n`);
  return lines.length === 0 ? nothing : markup`\n<div class="text">${lines}</div>`;
}

/** Of each problem where and what, then what to do. */
export function problemList(problems: readonly ReportProblem[]): Markup {
  const items = problems.map((problem) => {
    const place = placeText(problem);
    const where = place === '' ? nothing : markup`<code>${place}</code> `;
    const what = markup`<b>${problem.severity}:</b> ${where}${problem.message} <code class="code">${problem.code}</code>`;
    return markup`<li class="${problem.severity}">${what}<br>${problem.hint}</li>\n`;
  });
  return items.length === 0 ? nothing : markup`<ul class="problems">${items}</ul>\n`;
}

function pinsOf({ environments = [] }: ReportPrompt): Markup {
  if (environments.length === 0) return nothing;
  const pins = environments.map(({ environment, pin }) => markup` <span>${environment}: <code>${pin}</code></span>`);
  return markup`<p class="pins">Pins:${pins}</p>\n`;
}

function historyOf(prompt: ReportPrompt): readonly Markup[] {
  const notes = differingRows(prompt).map((row) => markup`<p class="note">${differsText(row, escapeLine)}</p>\n`);
  return [...historyTables(prompt, escapeLine).map(tableOf), ...notes];
}

function tableOf({ title, columns, rows }: HistoryTable): Markup {
  const caption = title === null ? nothing : markup`<p>${title}</p>\n`;
  if (rows.length === 0) return caption;
  const head = columns.map((column) => markup`<th scope="col">${column}</th>`);
  const body = rows.map((row) => markup`<tr>${row.map((cell) => markup`<td>${cell}</td>`)}</tr>\n`);
  return markup`${caption}<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>\n`;
}

/** Unchanged lines around a change that are shown at once. */
const CONTEXT_LINES = 3;

function diffOf({ environments, before, after, unknown, hunks }: TextDiff, link: string): Markup {
  const names = environments.map((environment, index) => {
    const id = `${link}@${encodeURIComponent(environment.toWellFormed())}`;
    return markup`${index === 0 ? '' : ', '}<a id="${id}" href="#${id}">${environment}</a>`;
  });
  if (unknown !== null) return markup`<h3>${names}</h3>\n<p class="note">${unknownText[unknown]}</p>\n`;
  const blocks = markWords(hunks.flatMap((hunk) => hunk.blocks));
  const shown = blocks.map((block, index) => blockOf(block, index === 0, index === blocks.length - 1));
  return markup`<h3>${names}: ${before ?? 'nothing'} → ${after}</h3>\n<div class="text">${shown}</div>\n`;
}

function blockOf({ kind, lines }: MarkedBlock, first: boolean, last: boolean): Markup {
  if (kind === 'removed') return markup`<del>${lines.map(lineOf)}</del>`;
  if (kind === 'added') return markup`<ins>${lines.map(lineOf)}</ins>`;
  const [from, to] = [first ? 0 : CONTEXT_LINES, lines.length - (last ? 0 : CONTEXT_LINES)];
  // A fold takes a line itself.
  if (to - from < 2) return sameOf(lines);
  const summary = words.counted([to - from, 'unchanged line', 'unchanged lines']);
  const fold = markup`<details class="fold"><summary>${summary}</summary>${sameOf(lines.slice(from, to))}</details>`;
  return markup`${sameOf(lines.slice(0, from))}${fold}${sameOf(lines.slice(to))}`;
}

function sameOf(lines: readonly MarkedLine[]): Markup {
  return lines.length === 0 ? nothing : markup`<span>${lines.map(lineOf)}</span>`;
}

/** Each line has its line feed: the last one of an element is not drawn. */
function lineOf(line: MarkedLine): Markup {
  return markup`${line.map(({ text, changed }) => (changed ? markup`<mark>${text}</mark>` : markup`${text}`))}\n`;
}
