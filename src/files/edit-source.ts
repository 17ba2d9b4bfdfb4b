import { withLineFeeds } from '../domain/digest.ts';
import { movedBy, replaceInOriginal, type Replacement, replacementFor } from './replacement.ts';
import { editYaml, type YamlEdit } from './edit-yaml.ts';
import { offsetsOf } from './front-matter.ts';

const BYTE_ORDER_MARK = '\ufeff';

/** A file's text, byte order mark and line endings as they are written, with edits of its front matter. */
export function editFrontMatter(original: string, edits: readonly YamlEdit[]): string {
  return edits.reduce((text, edit) => replaceInYaml(text, (yaml) => editYaml(yaml, edit)), original);
}

/** The file's text with another text of the prompt. */
export function editText(original: string, text: string): string {
  return replaceInSource(original, (source) => {
    const start = offsetsOf(source).body;
    const body = source.slice(start);
    return movedBy(start, replacementFor(body, bodyLike(body, text)));
  });
}

/** A body with the blank line and the final newline of another one, and with those that the text needs. */
function bodyLike(body: string, text: string): string {
  const first = body.startsWith('\n') || text.startsWith('\n') ? '\n' : '';
  const last = body.endsWith('\n') || text.endsWith('\n') ? '\n' : '';
  return first + text + last;
}

function replaceInYaml(original: string, replace: (yaml: string) => readonly Replacement[]): string {
  return replaceInSource(original, (source) => {
    const { start, end } = offsetsOf(source).yaml;
    return movedBy(start, replace(source.slice(start, end)));
  });
}

function replaceInSource(original: string, replace: (source: string) => readonly Replacement[]): string {
  const mark = original.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  return mark + replaceInOriginal(original.slice(mark.length), replace(sourceOf(original)));
}

/** As the parser reads it. */
function sourceOf(original: string): string {
  return withLineFeeds(original.startsWith(BYTE_ORDER_MARK) ? original.slice(1) : original);
}

/** What git writes behind its markers: where each side comes from. */
export type ConflictLabels = { readonly ours: string; readonly theirs: string };

/** Both sides of all lines from the first to the last one that differs, between git's markers. The last line is equal. */
export function markDifference(ours: string, theirs: string, labels: ConflictLabels): string {
  const [own, other] = [ours.split(/(?<=\n)/), theirs.split(/(?<=\n)/)];
  const most = Math.min(own.length, other.length);
  let start = 0;
  while (start < most && own[start] === other[start]) start += 1;
  let kept = 0;
  while (kept < most - start && own.at(-1 - kept) === other.at(-1 - kept)) kept += 1;
  const newline = /\r?\n/.exec(ours)?.[0] ?? '\n';
  return [
    ...own.slice(0, start),
    `<<<<<<< ${onOneLine(labels.ours)}${newline}`,
    ...own.slice(start, own.length - kept),
    `=======${newline}`,
    ...other.slice(start, other.length - kept),
    `>>>>>>> ${onOneLine(labels.theirs)}${newline}`,
    ...own.slice(own.length - kept),
  ].join('');
}

/** A label may hold an id of the service. */
function onOneLine(label: string): string {
  return label.replaceAll(/\p{Cc}+/gu, ' ');
}
