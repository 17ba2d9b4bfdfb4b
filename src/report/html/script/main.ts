import { readAddress, writeAddress } from './address.ts';
import { buttonsOf, choice, findPage, type Page, shownRows } from './elements.ts';
import { filterRows } from './filter.ts';
import { markFound } from './highlight.ts';
import { listenToKeys, moveFocus } from './keys.ts';
import { layOutTexts } from './split.ts';

/** The script of a page of --format html, which can be read without it. */
const page = findPage();
if (page !== null) start(page);

function start(page: Page): void {
  page.controls.hidden = false;
  show(page);
  page.controls.addEventListener('input', () => {
    apply(page);
    writeAddress(page);
  });
  page.controls.addEventListener('submit', (event) => event.preventDefault());
  page.controls.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLElement) act(page, target.dataset['do']);
  });
  addEventListener('hashchange', () => show(page));
  document.addEventListener(
    'toggle',
    soon(() => layOut(page)),
    true,
  );
  listenToKeys(page, commands(page));
}

function show(page: Page): void {
  apply(page);
  readAddress(page);
  apply(page);
}

function apply(page: Page): void {
  filterRows(page);
  layOut(page);
}

function layOut(page: Page): void {
  layOutTexts(page);
  markFound(page);
}

/** Once, however many rows are opened together. */
function soon(act: () => void): () => void {
  let waiting = 0;
  return () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(act);
  };
}

function openAll(page: Page, open: boolean): void {
  for (const row of shownRows(page)) row.open = open;
}

/** What the buttons do, by the names that they have in the page. */
function actions(page: Page) {
  return {
    expand: () => openAll(page, true),
    collapse: () => openAll(page, false),
    help: () => page.help.showModal(),
  };
}

function act(page: Page, name: string | undefined): void {
  for (const [known, action] of Object.entries(actions(page))) if (known === name) action();
}

function commands(page: Page): Readonly<Record<string, () => void>> {
  const { expand, collapse, help } = actions(page);
  const pick = (name: 'show' | 'view', value: string) => () => {
    choice(page, name, value);
    apply(page);
    writeAddress(page);
  };
  const filters = buttonsOf(page, 'show').map(({ value }) => value);
  return {
    '/': () => page.search.focus(),
    j: () => moveFocus(page, 1),
    k: () => moveFocus(page, -1),
    e: expand,
    c: collapse,
    '?': help,
    v: () => pick('view', choice(page, 'view') === 'split' ? 'unified' : 'split')(),
    ...Object.fromEntries(filters.map((name, index) => [String(index + 1), pick('show', name)])),
  };
}
