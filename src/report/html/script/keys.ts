import { type Page, shownRows } from './elements.ts';

export type Commands = Readonly<Record<string, () => void>>;

/** Does what a single letter is for, unless it is typed into something, or the reader has switched that off. */
export function listenToKeys(page: Page, commands: Commands): void {
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && event.target === page.search) return page.search.blur();
    if (!isCommand(page, event)) return;
    const command = commands[event.key];
    if (command === undefined) return;
    event.preventDefault();
    command();
  });
}

function isCommand({ letters, help }: Page, { target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const typing = target instanceof HTMLInputElement && target.type === 'search';
  return letters.checked && !help.open && !typing && !ctrlKey && !metaKey && !altKey;
}

/** Moves the focus so many rows on, of those that are shown. */
export function moveFocus(page: Page, by: 1 | -1): void {
  const rows = shownRows(page);
  const now = rows.findIndex((row) => row.contains(document.activeElement));
  const next = now === -1 ? 0 : Math.min(Math.max(now + by, 0), rows.length - 1);
  rows[next]?.querySelector('summary')?.focus();
}
