/** The parts of the page that the script works with. */
export type Page = {
  readonly controls: HTMLFormElement;
  readonly search: HTMLInputElement;
  readonly told: HTMLOutputElement;
  readonly empty: HTMLElement;
  readonly elsewhere: HTMLElement;
  readonly help: HTMLDialogElement;
  readonly letters: HTMLInputElement;
  readonly rows: readonly HTMLDetailsElement[];
};

/** Null on a page without prompts. */
export function findPage(): Page | null {
  const controls = document.querySelector<HTMLFormElement>('.controls');
  const search = document.querySelector<HTMLInputElement>('#search');
  const told = document.querySelector<HTMLOutputElement>('output');
  const empty = document.querySelector<HTMLElement>('p.none');
  const elsewhere = empty?.querySelector('span');
  const help = document.querySelector<HTMLDialogElement>('dialog');
  const letters = document.querySelector<HTMLInputElement>('#letters');
  if (!controls || !search || !told || !empty || !elsewhere || !help || !letters) return null;
  const rows = [...document.querySelectorAll<HTMLDetailsElement>('.prompt')];
  return { controls, search, told, empty, elsewhere, help, letters, rows };
}

type Choice = 'show' | 'view';

/** The buttons of a choice, which a page without anything to choose has not. */
export function buttonsOf({ controls }: Page, name: Choice): readonly HTMLInputElement[] {
  return [...controls.querySelectorAll<HTMLInputElement>(`[name=${name}]`)];
}

/** What is chosen; with `value`, that is chosen where it can be. */
export function choice(page: Page, name: Choice, value?: string): string {
  const buttons = buttonsOf(page, name);
  const wanted = buttons.find((button) => !button.disabled && button.value === value);
  if (wanted !== undefined) wanted.checked = true;
  return buttons.find((button) => button.checked)?.value ?? '';
}

/** What the page chose. */
export function firstOf(page: Page, name: Choice): string {
  return buttonsOf(page, name).find((button) => button.defaultChecked)?.value ?? '';
}

export function shownRows({ rows }: Page): readonly HTMLDetailsElement[] {
  return rows.filter((row) => !row.hidden);
}

/** The words of the search, in lower case. */
export function wordsOf({ search }: Page): readonly string[] {
  return search.value.toLowerCase().split(/\s+/).filter(Boolean);
}
