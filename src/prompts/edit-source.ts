import { withLineFeeds } from '../domain/digest.ts';
import { movedBy, replacementFor, replaceInOriginal, type Replacement } from '../domain/replacement.ts';
import { editYaml, type YamlEdit } from '../yaml/edit-yaml.ts';
import { isFlowMapping } from '../yaml/find-target.ts';
import { offsetsOf } from './front-matter.ts';
import { markConflicts, type FieldConflict } from './mark-conflicts.ts';

const BYTE_ORDER_MARK = '\ufeff';

/** A file's text, byte order mark and line endings as they are written, with edits of its front matter. */
export function editFrontMatter(original: string, edits: readonly YamlEdit[]): string {
  return edits.reduce((text, edit) => replaceInYaml(text, (yaml) => editYaml(yaml, edit)), original);
}

/** The file's text with conflicts in its front matter. */
export function conflictFrontMatter(original: string, conflicts: readonly FieldConflict[]): string {
  return replaceInYaml(original, (yaml) => markConflicts(yaml, conflicts));
}

/** The file's text with another text of the prompt. */
export function editText(original: string, text: string): string {
  return replaceInSource(original, (source) => {
    const start = offsetsOf(source).body;
    const body = source.slice(start);
    return movedBy(start, replacementFor(body, bodyLike(body, text)));
  });
}

/** Whether the front matter is one mapping in braces. */
export function hasFlowFrontMatter(original: string): boolean {
  const source = sourceOf(original);
  const { start, end } = offsetsOf(source).yaml;
  return isFlowMapping(source.slice(start, end));
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
