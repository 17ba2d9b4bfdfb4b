import { breakingText, findBreaking } from '../breaking.ts';
import { driftSentences } from '../drift-sentences.ts';
import { differingRows, isTold } from '../history-summary.ts';
import { type HistoryTable, historyTables } from '../history-tables.ts';
import { driftText } from '../history-texts.ts';
import { cellsOf } from './cells.ts';
import type { PageContext } from './context.ts';
import { diffsOf, type PageDiffs } from './diffs.ts';
import { markup, type Markup, nothing } from './markup.ts';
import { problemItem } from './problems.ts';
import { traitsOf } from './traits.ts';
import { inertLine } from '../inert.ts';
import { changeNote, changeTexts } from '../render-change.ts';
import { editKind, editText } from '../render-edit.ts';
import type { ReportPrompt } from '../schema.ts';

const WORDS = {
  unchanged: 'unchanged',
  pending: 'changes',
  applied: 'applied',
  blocked: 'blocked',
  failed: 'failed',
  not_attempted: 'not attempted',
} as const satisfies Record<ReportPrompt['status'], string>;

/** One row of the matrix, which opens on everything that is known of the prompt. */
export function promptRow(prompt: ReportPrompt, context: PageContext, open: boolean): Markup {
  const { environments, texts } = context;
  const link = context.linkOf(prompt);
  const diffs = diffsOf(
    texts.get(prompt.id) ?? [],
    (environment) => `${link}@${encodeURIComponent(environment.toWellFormed())}`,
  );
  const classes = ['prompt', prompt.status, ...traitsOf(prompt, context.mode)].join(' ');
  const name = markup`<span class="name"><b>${prompt.key}</b> <span>${prompt.path}</span></span>`;
  const status = markup`<span class="status"><b>${wordOf(prompt, context)}</b>${countOf(diffs)}${fieldsOf(prompt)}</span>`;
  return markup`<details id="${link}" class="${classes}"${open ? markup` open` : nothing}><summary>${name}${cellsOf(prompt, environments)}${status}</summary>
<div class="body">${bodyOf(prompt, context)}${diffs.parts}<p class="link"><a href="#${link}">Link to this prompt</a></p></div></details>
`;
}

/** A validation attempts nothing, and a history is not of changes. */
function wordOf(prompt: ReportPrompt, { mode }: PageContext): string {
  if (prompt.status === 'not_attempted' && mode === 'validate') return 'checked';
  if (isTold(prompt)) return differingRows(prompt).length > 0 ? 'not as pinned' : 'as pinned';
  return WORDS[prompt.status];
}

function countOf({ added, removed }: PageDiffs): Markup {
  return added + removed === 0 ? nothing : markup` <span class="count">+${added} −${removed}</span>`;
}

/** The matrix has environments alone. */
function fieldsOf({ changes }: ReportPrompt): Markup {
  const fields = changes.flatMap((change) => (change.kind === 'update-prompt' ? Object.keys(change.fields) : []));
  return fields.length === 0 ? nothing : markup` <span class="count">~ ${fields.join(', ')}</span>`;
}

function bodyOf(prompt: ReportPrompt, context: PageContext): readonly Markup[] {
  const { problems } = prompt;
  const items = [...driftItems(prompt, context), ...changeItems(prompt), ...breakingItems(prompt, context)];
  return [
    problems.length === 0 ? nothing : markup`<ul class="problems">${problems.map(problemItem)}</ul>\n`,
    items.length === 0 ? nothing : markup`<ul class="changes">${items}</ul>\n`,
    ...(isTold(prompt) ? historyOf(prompt) : [pinsOf(prompt)]),
  ];
}

function driftItems(prompt: ReportPrompt, { mode, restored }: PageContext): readonly Markup[] {
  const context = { prompt, mode, restored, show: inertLine };
  return prompt.drift.map((drift) => markup`<li class="drift"><b>Drift:</b> ${driftSentences(drift, context)}</li>`);
}

function changeItems(prompt: ReportPrompt): readonly Markup[] {
  const { changes, edits = [] } = prompt;
  return [
    ...edits.map((edit) => markup`<li class="edit ${editKind(edit)}">${editText(edit)}</li>`),
    ...changes.flatMap((change) =>
      changeTexts(change).map((text) => markup`<li class="${change.kind}">${text}${changeNote(change, prompt)}</li>`),
    ),
  ];
}

function breakingItems(prompt: ReportPrompt, { texts }: PageContext): readonly Markup[] {
  const breaking = findBreaking(prompt, texts.get(prompt.id) ?? []);
  return breaking.map((one) => markup`<li class="breaking"><b>Breaking:</b> ${breakingText(one, inertLine)}</li>`);
}

function pinsOf({ environments = [] }: ReportPrompt): Markup {
  if (environments.length === 0) return nothing;
  const pins = environments.map(({ environment, pin }) => markup` <span>${environment}: <code>${pin}</code></span>`);
  return markup`<p class="pins">Pins:${pins}</p>\n`;
}

function historyOf(prompt: ReportPrompt): readonly Markup[] {
  const notes = differingRows(prompt).map((row) => markup`<p class="note">${driftText(row, inertLine)}</p>\n`);
  return [...historyTables(prompt, inertLine).map(tableOf), ...notes];
}

function tableOf({ title, columns, rows }: HistoryTable): Markup {
  const caption = title === null ? nothing : markup`<p>${title}</p>\n`;
  if (rows.length === 0) return caption;
  const head = columns.map((column) => markup`<th scope="col">${column}</th>`);
  const body = rows.map((row) => markup`<tr>${row.map((cell) => markup`<td>${cell}</td>`)}</tr>\n`);
  return markup`${caption}<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>\n`;
}
