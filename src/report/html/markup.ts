import { showHidden } from '../../domain/text.ts';

/** Markup that is whole and safe as it is. Only `markup` makes it. */
export type Markup = { readonly html: string };

type Value = Markup | readonly Markup[] | string | number;

/** Markup of a template: whatever is put into it is text, unless it was made here itself. */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return { html: parts.map((part, index) => part + markupOf(values[index] ?? '')).join('') };
}

export const nothing: Markup = { html: '' };

function markupOf(value: Value): string {
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'number') return String(value);
  return 'html' in value ? value.html : value.map(({ html }) => html).join('');
}

/**
 * A text within an element or a quoted attribute: no character of it is markup, and none hides. `##[`, and `::` at the
 * start of a line, would be a command where a GitHub runner prints the page.
 */
function escape(text: string): string {
  const shown = showHidden(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return shown.replaceAll('##[', '##&#91;').replace(/^(\s*):(?=:)/gm, '$1&#58;');
}
