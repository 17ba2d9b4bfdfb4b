/** The parts of the page that the script works with. */
export type Page = {
  readonly controls: HTMLFormElement;
  readonly search: HTMLInputElement;
  readonly told: HTMLOutputElement;
  readonly empty: HTMLElement;
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
  const help = document.querySelector<HTMLDialogElement>('dialog');
  const letters = document.querySelector<HTMLInputElement>('#letters');
  if (!controls || !search || !told || !empty || !help || !letters) return null;
  const rows = [...document.querySelectorAll<HTMLDetailsElement>('.prompt')];
  return { controls, search, told, empty, help, letters, rows };
}

/** The checked one of a group of radio buttons; another one is checked with `value`. */
export function choice({ controls }: Page, name: 'show' | 'view', value?: string): string {
  const group = controls.elements.namedItem(name);
  if (!(group instanceof RadioNodeList)) return '';
  const known = [...group].some((one) => one instanceof HTMLInputElement && !one.disabled && one.value === value);
  if (value !== undefined && known) group.value = value;
  return group.value;
}

export function shownRows({ rows }: Page): readonly HTMLDetailsElement[] {
  return rows.filter((row) => !row.hidden);
}
