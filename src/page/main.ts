import { readAddress, writeAddress } from './address.ts';
import { choice, findPage, shownRows, type Page } from './elements.ts';
import { filterRows } from './filter.ts';
import { listenToKeys, moveFocus } from './keys.ts';
import { layOutTexts } from './split.ts';

/** The script of a page of --format html, which can be read without it. */
const page = findPage();
if (page !== null) start(page);

function start(page: Page): void {
  page.controls.hidden = false;
  // Where some change and most do not, those that do are what the reader has come for.
  if (isMixed(page)) choice(page, 'show', 'changed');
  show(page);
  page.controls.addEventListener('input', () => {
    apply(page);
    writeAddress(page);
  });
  page.controls.addEventListener('submit', (event) => event.preventDefault());
  page.controls.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLElement) actions(page)[target.dataset['do'] ?? '']?.();
  });
  addEventListener('hashchange', () => show(page));
  addEventListener('beforeprint', () => openAll(page, true));
  document.addEventListener('toggle', () => layOutTexts(page), true);
  listenToKeys(page, commands(page));
}

function isMixed({ rows }: Page): boolean {
  const dull = rows.filter((row) => row.classList.contains('unchanged')).length;
  return dull > 0 && dull < rows.length && rows.some((row) => row.classList.contains('changed'));
}

function show(page: Page): void {
  apply(page);
  readAddress(page);
  apply(page);
}

function apply(page: Page): void {
  filterRows(page);
  layOutTexts(page);
}

function openAll(page: Page, open: boolean): void {
  for (const row of shownRows(page)) row.open = open;
}

function actions(page: Page) {
  return {
    expand: () => openAll(page, true),
    collapse: () => openAll(page, false),
    help: () => page.help.showModal(),
  } as Readonly<Record<string, () => void>>;
}

function commands(page: Page): Readonly<Record<string, () => void>> {
  const { expand, collapse, help } = actions(page);
  const pick = (name: 'show' | 'view', value: string) => () => {
    choice(page, name, value);
    apply(page);
    writeAddress(page);
  };
  const filters = ['all', 'changed', 'drift', 'blocked', 'failed'];
  return {
    '/': () => page.search.focus(),
    j: () => moveFocus(page, 1),
    k: () => moveFocus(page, -1),
    ...(expand && { e: expand }),
    ...(collapse && { c: collapse }),
    ...(help && { '?': help }),
    v: () => pick('view', choice(page, 'view') === 'split' ? 'unified' : 'split')(),
    ...Object.fromEntries(filters.map((name, index) => [String(index + 1), pick('show', name)])),
  };
}
