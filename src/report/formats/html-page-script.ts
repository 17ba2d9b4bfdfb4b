// The script of the HTML report (`--format html`). All content is visible without the script.

type PageElements = {
  readonly controls: HTMLFormElement;
  readonly search: HTMLInputElement;
  readonly count: HTMLOutputElement;
  readonly empty: HTMLElement;
  readonly rows: readonly HTMLDetailsElement[];
};

/** The lowercase text of each row. Cached when a search first needs it. */
const searchTexts = new WeakMap<Element, string>();

const page = findPage();
if (page !== null) startPage(page);

/** Finds the elements that the script uses. Returns null if the page has no prompts. */
function findPage(): PageElements | null {
  const controls = document.querySelector<HTMLFormElement>('.controls');
  const search = document.querySelector<HTMLInputElement>('#search');
  const count = document.querySelector<HTMLOutputElement>('output');
  const empty = document.querySelector<HTMLElement>('p.none');
  if (!controls || !search || !count || !empty) return null;
  return { controls, search, count, empty, rows: [...document.querySelectorAll<HTMLDetailsElement>('.prompt')] };
}

function startPage(page: PageElements): void {
  const { controls } = page;
  controls.hidden = false;
  applyChoices(page);
  revealLinkedPrompt(page);
  addEventListener('hashchange', () => revealLinkedPrompt(page));
  controls.addEventListener('input', () => applyChoices(page));
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLButtonElement)
      for (const row of listShownRows(page)) row.open = target.value === 'expand';
  });
  const onToggle = ({ target }: Event) => {
    if (target instanceof Element && isSplit(page)) copyUnchangedLines(target);
  };
  document.addEventListener('toggle', onToggle, true);
}

/** Returns the selected filter (`show`) or diff view (`view`), or an empty string without such a control. */
function readChoice({ controls }: PageElements, name: 'show' | 'view'): string {
  return controls.querySelector<HTMLInputElement>(`[name=${name}]:checked`)?.value ?? '';
}

function applyChoices(page: PageElements): void {
  filterRows(page);
  document.body.classList.toggle('split', isSplit(page));
  if (isSplit(page)) for (const row of page.rows) if (row.open) copyUnchangedLines(row);
}

/** Opens the prompt of the URL fragment (`#prompt:KEY`). Resets the filter and the search if they hide it. */
function revealLinkedPrompt(page: PageElements): void {
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

function listShownRows({ rows }: PageElements): readonly HTMLDetailsElement[] {
  return rows.filter((row) => !row.hidden);
}

/** Shows only the rows that have the selected trait and contain every word of the search query. */
function filterRows(page: PageElements): void {
  const trait = readChoice(page, 'show');
  const words = page.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of page.rows) {
    row.hidden = !(trait === '' || trait === 'all' || row.classList.contains(trait)) || !hasWords(row, words);
  }
  const shownCount = listShownRows(page).length;
  page.empty.hidden = shownCount > 0;
  page.count.textContent = `${shownCount} of ${page.rows.length} shown`;
}

function hasWords(row: Element, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = searchTexts.get(row) ?? (row.textContent ?? '').toLowerCase();
  searchTexts.set(row, text);
  return words.every((word) => text.includes(word));
}

function isSplit(page: PageElements): boolean {
  return readChoice(page, 'view') === 'split';
}

/** Copies unchanged lines, so that both columns of the side-by-side view show them, but screen readers only one. */
function copyUnchangedLines(row: Element): void {
  if (row.querySelector('.copy') !== null) return;
  for (const text of row.querySelectorAll('.text span')) {
    const copy = text.cloneNode(true);
    if (!(copy instanceof Element)) continue;
    copy.className = 'copy';
    copy.setAttribute('aria-hidden', 'true');
    text.after(copy);
  }
}
