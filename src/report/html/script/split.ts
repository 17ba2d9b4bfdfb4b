import { choice, type Page } from './elements.ts';

/** Lays the texts of open prompts out as the reader has chosen: one below the other, or side by side. */
export function layOutTexts(page: Page): void {
  const split = choice(page, 'view') === 'split';
  document.body.classList.toggle('split', split);
  if (split) for (const row of page.rows) if (row.open) doubleContext(row);
}

/** What both texts have stands on both sides. To a screen reader it is there once. */
function doubleContext(row: Element): void {
  if (row.querySelector('.copy') !== null) return;
  for (const text of row.querySelectorAll('.text > span, .text .fold > span')) {
    const copy = text.cloneNode(true);
    if (!(copy instanceof Element)) continue;
    copy.className = 'copy';
    copy.setAttribute('aria-hidden', 'true');
    text.after(copy);
  }
}
