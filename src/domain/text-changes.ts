import { formatMessageName, listMarkers, parseMarkerLine } from './chat.ts';
import type { StoredContent } from './content.ts';
import type { SetActive } from './plan.ts';

/** The content that an environment serves before and after a change. */
export type TextChange = {
  readonly environment: string;
  /** The content before the change. Null if no version is active. `unknown` if promptsync has not read the version. */
  readonly before: StoredContent | 'unknown' | null;
  /** The content after the change. `unknown` if promptsync has not read the version. */
  readonly after: StoredContent | 'unknown';
};

export type PlannedTextChange = TextChange & { readonly change: SetActive };

/** The planned content changes in all environments, by prompt id. */
export type TextChangesByPrompt = ReadonlyMap<string, readonly PlannedTextChange[]>;

/**
 * A variable or a placeholder that is only in the old or only in the new content. Callers supply a value for each
 * variable, and messages for each placeholder.
 */
type BreakingChange = { readonly kind: 'added' | 'removed' } & (
  { readonly variable: string } | { readonly placeholder: string }
);

/**
 * Returns the variables and the placeholders that a change adds or removes. A variable counts only if no template tag
 * of the other text contains its name, because such a tag can use the same value: `{{ name | default("you") }}`.
 * Returns none if no version is active before the change, or if the text of either side is unknown.
 */
export function listBreakingChanges({
  before,
  after,
}: Pick<TextChange, 'before' | 'after'>): readonly BreakingChange[] {
  if (before === null || before === 'unknown' || after === 'unknown') return [];
  const addedVariables = omitNames(listVariables(after), listTagNames(before));
  const removedVariables = omitNames(listVariables(before), listTagNames(after));
  const addedPlaceholders = omitNames(listPlaceholders(after), listPlaceholders(before));
  const removedPlaceholders = omitNames(listPlaceholders(before), listPlaceholders(after));
  return [
    ...addedVariables.map((variable) => ({ variable, kind: 'added' as const })),
    ...removedVariables.map((variable) => ({ variable, kind: 'removed' as const })),
    ...addedPlaceholders.map((placeholder) => ({ placeholder, kind: 'added' as const })),
    ...removedPlaceholders.map((placeholder) => ({ placeholder, kind: 'removed' as const })),
  ];
}

function omitNames(names: readonly string[], omitted: Iterable<string>): readonly string[] {
  const omittedNames = new Set(omitted);
  return names.filter((name) => !omittedNames.has(name));
}

const VARIABLE = /\{\{[ \t]*([\p{L}\p{M}\p{N}_.-]+)[ \t]*\}\}/gu;

/** Handlebars keywords that look like variables. Callers never supply values for them. */
const KEYWORDS: ReadonlySet<string> = new Set(['else', 'this']);

/** Returns the names in the order of their first use. In a chat prompt, only the content of the messages counts. */
export function listVariables(content: Pick<StoredContent, 'type' | 'text'>): readonly string[] {
  const names = [...getMessageText(content).matchAll(VARIABLE)].map((match) => match[1] ?? '');
  return [...new Set(names)].filter((name) => !KEYWORDS.has(name));
}

/** Returns every name in the text's `{{…}}` and `{%…%}` tags, including keywords and filter names. */
function listTagNames(content: Pick<StoredContent, 'type' | 'text'>): ReadonlySet<string> {
  const text = getMessageText(content);
  const tags = [...listEnclosed(text, '{{', '}}'), ...listEnclosed(text, '{%', '%}')];
  return new Set(tags.flatMap((tag) => tag.match(/[\p{L}\p{M}\p{N}_.-]+/gu) ?? []));
}

/** A regular expression would take quadratic time if many tags are unclosed. */
function listEnclosed(text: string, open: string, close: string): readonly string[] {
  const enclosed: string[] = [];
  let start = text.indexOf(open);
  while (start !== -1) {
    const end = text.indexOf(close, start + open.length);
    if (end === -1) break;
    enclosed.push(text.slice(start + open.length, end));
    start = text.indexOf(open, end + close.length);
  }
  return enclosed;
}

function getMessageText({ type, text }: Pick<StoredContent, 'type' | 'text'>): string {
  return type === 'chat' ? omitMarkerLines(text) : text;
}

/** A role can look like a variable, as in `{{role "{{name}}"}}`. In an invalid file, blanks can follow a marker. */
function omitMarkerLines(text: string): string {
  const lines = text.split('\n');
  return lines.filter((line) => parseMarkerLine(line.trimEnd()) === null).join('\n');
}

/** Returns none for a text prompt. */
function listPlaceholders({ type, text }: Pick<StoredContent, 'type' | 'text'>): readonly string[] {
  if (type === 'text') return [];
  const placeholders = listMarkers(text).filter(({ kind }) => kind === 'placeholder');
  return [...new Set(placeholders.map(({ name }) => name))];
}

/** The messages of a chat prompt before and after a change, as lists of formatted names. */
export type MessageChange = { readonly before: readonly string[]; readonly after: readonly string[] };

/** Returns null for a text prompt, an unchanged sequence or an unknown text, or without an active version before. */
export function compareMessages({ before, after }: Pick<TextChange, 'before' | 'after'>): MessageChange | null {
  if (before === null || before === 'unknown' || after === 'unknown') return null;
  if (before.type !== 'chat' || after.type !== 'chat') return null;
  const change = { before: listMessageNames(before.text), after: listMessageNames(after.text) };
  return change.before.join('\n') === change.after.join('\n') ? null : change;
}

function listMessageNames(text: string): readonly string[] {
  return listMarkers(text).map(formatMessageName);
}
