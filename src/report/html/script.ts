/** The script of a page of --format html, which can be read without it. */
type Page = {
  readonly controls: HTMLFormElement;
  readonly search: HTMLInputElement;
  readonly count: HTMLOutputElement;
  readonly empty: HTMLElement;
  readonly rows: readonly HTMLDetailsElement[];
};

/** What a row is searched in, made when it is first searched. */
const texts = new WeakMap<Element, string>();

const page = findPage();
if (page !== null) start(page);

/** Null on a page without prompts. */
function findPage(): Page | null {
  const controls = document.querySelector<HTMLFormElement>('.controls');
  const search = document.querySelector<HTMLInputElement>('#search');
  const count = document.querySelector<HTMLOutputElement>('output');
  const empty = document.querySelector<HTMLElement>('p.none');
  if (!controls || !search || !count || !empty) return null;
  return { controls, search, count, empty, rows: [...document.querySelectorAll<HTMLDetailsElement>('.prompt')] };
}

function start(page: Page): void {
  const { controls } = page;
  controls.hidden = false;
  applyChoices(page);
  reveal(page);
  addEventListener('hashchange', () => reveal(page));
  controls.addEventListener('input', () => applyChoices(page));
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLButtonElement) for (const row of shownRows(page)) row.open = target.value === 'expand';
  });
  const onToggle = ({ target }: Event) => {
    if (target instanceof Element && isSplit(page)) doubleContext(target);
  };
  document.addEventListener('toggle', onToggle, true);
}

/** What is chosen: which prompts are shown, and how their texts are. Empty where there is nothing to choose. */
function choice({ controls }: Page, name: 'show' | 'view'): string {
  return controls.querySelector<HTMLInputElement>(`[name=${name}]:checked`)?.value ?? '';
}

function applyChoices(page: Page): void {
  filterRows(page);
  document.body.classList.toggle('split', isSplit(page));
  if (isSplit(page)) for (const row of page.rows) if (row.open) doubleContext(row);
}

/** A prompt that was linked to, as `#prompt:KEY`, is shown, whatever is filtered. */
function reveal(page: Page): void {
  const target = document.getElementById(location.hash.slice(1));
  const row = target?.closest<HTMLDetailsElement>('.prompt') ?? null;
  if (target === null || row === null) return;
  if (row.hidden) {
    page.search.value = '';
    const all = page.controls.querySelector<HTMLInputElement>('[value=all]');
    if (all !== null) all.checked = true;
    applyChoices(page);
  }
  row.open = true;
  requestAnimationFrame(() => target.scrollIntoView({ block: 'start' }));
}

// The filter and the search.

function shownRows({ rows }: Page): readonly HTMLDetailsElement[] {
  return rows.filter((row) => !row.hidden);
}

/** Shows the rows that have what is asked for: the checked trait, and every word of the search. */
function filterRows(page: Page): void {
  const trait = choice(page, 'show');
  const words = page.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of page.rows) {
    row.hidden = !(trait === '' || trait === 'all' || row.classList.contains(trait)) || !hasWords(row, words);
  }
  const shown = shownRows(page).length;
  page.empty.hidden = shown > 0;
  page.count.textContent = `${shown} of ${page.rows.length} shown`;
}

function hasWords(row: Element, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = texts.get(row) ?? (row.textContent ?? '').toLowerCase();
  texts.set(row, text);
  return words.every((word) => text.includes(word));
}

// Texts one below the other, or side by side.

function isSplit(page: Page): boolean {
  return choice(page, 'view') === 'split';
}

/** What both texts have stands on both sides. To a screen reader it is there once. */
function doubleContext(row: Element): void {
  if (row.querySelector('.copy') !== null) return;
  for (const text of row.querySelectorAll('.text span')) {
    const copy = text.cloneNode(true);
    if (!(copy instanceof Element)) continue;
    copy.className = 'copy';
    copy.setAttribute('aria-hidden', 'true');
    text.after(copy);
  }
}
