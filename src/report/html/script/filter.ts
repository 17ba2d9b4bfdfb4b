import { choice, type Page, shownRows, wordsOf } from './elements.ts';

/** What a row is searched in, made when it is first searched. */
const texts = new WeakMap<Element, string>();

/** Shows the rows that have what is asked for: the checked trait, and every word of the search. */
export function filterRows(page: Page): void {
  const trait = choice(page, 'show');
  const words = wordsOf(page);
  for (const row of page.rows) {
    const has = trait === '' || trait === 'all' || row.classList.contains(trait);
    row.hidden = !has || !words.every((word) => textOf(row).includes(word));
  }
  const shown = shownRows(page).length;
  page.empty.hidden = shown > 0;
  if (shown === 0) page.elsewhere.textContent = elsewhere(page, words);
  page.told.textContent = `${shown} of ${page.rows.length} shown`;
}

/** What a filter hides is not looked for in vain. */
function elsewhere({ rows }: Page, words: readonly string[]): string {
  const found = rows.filter((row) => words.every((word) => textOf(row).includes(word))).length;
  return found === 0 ? '' : ` Of all prompts, ${found} ${found === 1 ? 'is' : 'are'}.`;
}

function textOf(row: Element): string {
  const known = texts.get(row) ?? (row.textContent ?? '').toLowerCase();
  texts.set(row, known);
  return known;
}
