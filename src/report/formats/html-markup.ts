import { showHidden } from '../../text.ts';

/** Well-formed HTML in which all values are escaped. Only the template tag `markup` creates it. */
export type Markup = { readonly html: string };

type MarkupValue = Markup | readonly Markup[] | string | number;

/** Builds HTML from a template literal. Escapes every value that is not already markup. */
export function markup(parts: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return { html: parts.map((part, index) => part + toMarkup(values[index] ?? '')).join('') };
}

export const NO_MARKUP: Markup = { html: '' };

function toMarkup(value: MarkupValue): string {
  if (typeof value === 'string') return escapeMarkup(value);
  if (typeof value === 'number') return String(value);
  return isList(value) ? value.map(({ html }) => html).join('') : value.html;
}

/** Wraps `Array.isArray`, because TypeScript does not narrow a readonly array after a direct call. */
function isList(value: Markup | readonly Markup[]): value is readonly Markup[] {
  return Array.isArray(value);
}

/**
 * Escapes text for HTML. Also escapes `##[` and `::` at the start of a line, which a GitHub runner that prints the page
 * would execute. Escapes even a single colon there, because the template may add the second one.
 */
function escapeMarkup(text: string): string {
  const shown = showHidden(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return shown.replaceAll('##[', '##&#91;').replace(/^(\s*):/gm, '$1&#58;');
}
