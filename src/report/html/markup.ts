import { showHidden } from '../../text.ts';

/** Well-formed HTML in which all values are escaped. Only `markup` creates it. */
export type Markup = { readonly html: string };

/** A value in a template. Strings are escaped. */
type MarkupValue = Markup | readonly Markup[] | string | number;

/** Returns the HTML of a template. It escapes every value that is not markup itself. */
export function markup(parts: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return { html: parts.map((part, index) => part + toMarkup(values[index] ?? '')).join('') };
}

export const NO_MARKUP: Markup = { html: '' };

function toMarkup(value: MarkupValue): string {
  if (typeof value === 'string') return escapeMarkup(value);
  if (typeof value === 'number') return String(value);
  return isList(value) ? value.map(({ html }) => html).join('') : value.html;
}

/** Replaces `Array.isArray`, because TypeScript does not use that to recognize readonly arrays. */
function isList(value: Markup | readonly Markup[]): value is readonly Markup[] {
  return Array.isArray(value);
}

/**
 * Escapes a text for an element or a quoted attribute, and makes its hidden characters visible. `##[`, and `::` at the
 * start of a line, are escaped as well: they would be workflow commands if a GitHub runner prints the page.
 */
function escapeMarkup(text: string): string {
  const shown = showHidden(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return shown.replaceAll('##[', '##&#91;').replace(/^(\s*):(?=:)/gm, '$1&#58;');
}
