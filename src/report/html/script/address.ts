import { choice, firstOf, type Page } from './elements.ts';

const CHOICES = ['show', 'view'] as const;

/** What is shown can be sent to somebody: `#show=drift&search=refund&view=split`, or `#prompt:KEY`. */
export function readAddress(page: Page): void {
  const hash = location.hash.slice(1);
  if (hash.startsWith('prompt:')) return reveal(page, hash);
  const asked = new URLSearchParams(hash);
  page.search.value = asked.get('search') ?? '';
  for (const name of CHOICES) choice(page, name, asked.get(name) ?? firstOf(page, name));
}

export function writeAddress(page: Page): void {
  const now = new URLSearchParams();
  for (const name of CHOICES) if (choice(page, name) !== firstOf(page, name)) now.set(name, choice(page, name));
  if (page.search.value !== '') now.set('search', page.search.value);
  history.replaceState(null, '', `#${now}`);
}

/** A prompt that was linked to is shown, whatever is filtered. */
function reveal(page: Page, id: string): void {
  const target = document.getElementById(id);
  const row = target?.closest<HTMLDetailsElement>('.prompt') ?? null;
  if (target === null || row === null) return;
  if (row.hidden) {
    page.search.value = '';
    choice(page, 'show', 'all');
  }
  row.hidden = false;
  row.open = true;
  requestAnimationFrame(() => target.scrollIntoView({ block: 'start' }));
}
