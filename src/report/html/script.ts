/** The script of a page of --format html, which can be read without it. */
type Page = {
  readonly controls: HTMLFormElement;
  readonly search: HTMLInputElement;
  readonly count: HTMLOutputElement;
  readonly empty: HTMLElement;
  readonly help: HTMLDialogElement;
  readonly letters: HTMLInputElement;
  readonly rows: readonly HTMLDetailsElement[];
};

const CHOICES = ['show', 'view'] as const;
type Choice = (typeof CHOICES)[number];

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
  const help = document.querySelector<HTMLDialogElement>('dialog');
  const letters = document.querySelector<HTMLInputElement>('#letters');
  if (!controls || !search || !count || !empty || !help || !letters) return null;
  const rows = [...document.querySelectorAll<HTMLDetailsElement>('.prompt')];
  return { controls, search, count, empty, help, letters, rows };
}

function start(page: Page): void {
  const { controls } = page;
  controls.hidden = false;
  showAddress(page);
  addEventListener('hashchange', () => showAddress(page));
  controls.addEventListener('input', () => applyChoices(page));
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLElement) act(page, target.dataset['do']);
  });
  // However many rows are opened together, they are laid out once.
  let waiting = 0;
  const layOutSoon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => layOut(page));
  };
  document.addEventListener('toggle', layOutSoon, true);
  document.addEventListener('keydown', (event) => handleKey(page, event));
}

// Choices: which prompts are shown, and how their texts are.

/** The buttons of a choice, which a page without anything to choose has not. */
function buttonsOf({ controls }: Page, name: Choice): readonly HTMLInputElement[] {
  return [...controls.querySelectorAll<HTMLInputElement>(`[name=${name}]`)];
}

/** What is chosen; with `value`, that is chosen where it can be. */
function choice(page: Page, name: Choice, value?: string): string {
  const buttons = buttonsOf(page, name);
  const wanted = buttons.find((button) => button.value === value);
  if (wanted !== undefined) wanted.checked = true;
  return buttons.find((button) => button.checked)?.value ?? '';
}

/** What the page chose. */
function defaultOf(page: Page, name: Choice): string {
  return buttonsOf(page, name).find((button) => button.defaultChecked)?.value ?? '';
}

function applyChoices(page: Page): void {
  filterRows(page);
  layOut(page);
  writeAddress(page);
}

// The address: what is shown can be sent to somebody, as `#show=drift&search=refund&view=split` or `#prompt:KEY`.

function showAddress(page: Page): void {
  filterRows(page);
  readAddress(page);
  filterRows(page);
  layOut(page);
}

function readAddress(page: Page): void {
  const hash = location.hash.slice(1);
  if (hash.startsWith('prompt:')) return reveal(page, hash);
  const asked = new URLSearchParams(hash);
  page.search.value = asked.get('search') ?? '';
  for (const name of CHOICES) choice(page, name, asked.get(name) ?? defaultOf(page, name));
}

function writeAddress(page: Page): void {
  const now = new URLSearchParams();
  for (const name of CHOICES) if (choice(page, name) !== defaultOf(page, name)) now.set(name, choice(page, name));
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

// The filter and the search.

function shownRows({ rows }: Page): readonly HTMLDetailsElement[] {
  return rows.filter((row) => !row.hidden);
}

function wordsOf({ search }: Page): readonly string[] {
  return search.value.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Shows the rows that have what is asked for: the checked trait, and every word of the search. */
function filterRows(page: Page): void {
  const trait = choice(page, 'show');
  const words = wordsOf(page);
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

function layOut(page: Page): void {
  const split = choice(page, 'view') === 'split';
  document.body.classList.toggle('split', split);
  if (split) for (const row of page.rows) if (row.open) doubleContext(row);
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

// Buttons, and the letters that do the same.

function act(page: Page, name: string | undefined): void {
  if (name === 'expand' || name === 'collapse') for (const row of shownRows(page)) row.open = name === 'expand';
  if (name === 'help') page.help.showModal();
}

/** Does what a single letter is for, unless it is typed into something, or the reader has switched that off. */
function handleKey(page: Page, event: KeyboardEvent): void {
  const { search, letters, help } = page;
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (key === 'Escape' && target === search) return search.blur();
  if (target === search || !letters.checked || help.open || ctrlKey || metaKey || altKey) return;
  const command = commandOf(page, key);
  if (command === undefined) return;
  event.preventDefault();
  command();
}

function commandOf(page: Page, key: string): (() => void) | undefined {
  const pick = (name: Choice, value: string | undefined) => {
    choice(page, name, value);
    applyChoices(page);
  };
  const commands = new Map([
    ['/', () => page.search.focus()],
    ['j', () => moveFocus(page, 1)],
    ['k', () => moveFocus(page, -1)],
    ['e', () => act(page, 'expand')],
    ['c', () => act(page, 'collapse')],
    ['?', () => act(page, 'help')],
    ['v', () => pick('view', choice(page, 'view') === 'split' ? 'unified' : 'split')],
    ...buttonsOf(page, 'show').map(({ value }, index) => [`${index + 1}`, () => pick('show', value)] as const),
  ]);
  return commands.get(key);
}

/** Moves the focus so many rows on, of those that are shown. */
function moveFocus(page: Page, by: 1 | -1): void {
  const rows = shownRows(page);
  const now = rows.findIndex((row) => row.contains(document.activeElement));
  const next = now === -1 ? 0 : Math.min(Math.max(now + by, 0), rows.length - 1);
  rows[next]?.querySelector('summary')?.focus();
}
