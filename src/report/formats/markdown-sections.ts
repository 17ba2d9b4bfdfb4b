import { renderCodeSpan } from '../escape.ts';
import type { ReportPrompt } from '../schema/report-schema.ts';
import { renderWebUrl } from '../../domain/network.ts';

/** The maximum length of a page. The caller chooses the unit, for example bytes. */
export type SizeLimit = {
  /** The maximum length, in the unit that `measure` returns. */
  readonly most: number;
  readonly measure: (text: string) => number;
};

/** A section of a page. The page includes each item completely or not at all. It omits a section without items. */
export type Section = {
  /** The text before the items: the heading and, if the items are table rows, the header row of the table. */
  readonly open: string;
  readonly items: readonly string[];
  /** The singular noun for an item, for example `change`. The note on omitted items uses it. */
  readonly item: string;
  /** The maximum share of the remaining space, from 0 to 1. The rest is left for sections that are fitted later. */
  readonly share: number;
  /** Whether the section gets only the space that all other sections leave. True for diffs, because they are long. */
  readonly isFittedLast?: boolean;
  /** The environment that the section belongs to. Absent if it belongs to no environment, or to several. */
  readonly environment?: string;
};

/** Builds a section from values. `renderItems` can return any number of items for a value. */
export function makeSection<Value>(
  open: string,
  item: string,
  share: number,
  values: readonly Value[],
  renderItems: (value: Value) => readonly string[],
): Section {
  return { open: `\n${open}`, items: values.flatMap(renderItems), item, share };
}

export function makeDiffSection(diffs: readonly string[]): Section {
  return { open: '', items: diffs, item: 'text change', share: 0.95, isFittedLast: true };
}

export type OmittedItems = { readonly item: string; readonly count: number };

type FittedSections = {
  readonly text: string;
  /** One entry for each kind of item that is incomplete. */
  readonly omitted: readonly OmittedItems[];
};

type FittedSection = OmittedItems & { readonly text: string };

/** Renders as many items as fit, starting with the first section. `wrap` wraps the sections of one environment. */
export function fitSections(
  sections: readonly Section[],
  limit: SizeLimit | null,
  wrap: (environment: string, text: string) => string = (_, text) => text,
): FittedSections {
  const measure = limit?.measure ?? (() => 0);
  let room = limit?.most ?? Number.MAX_SAFE_INTEGER;
  const fitted = new Map<Section, FittedSection>();
  for (const section of sections.toSorted((a, b) => Number(isFittedLast(a)) - Number(isFittedLast(b)))) {
    const { open, items, item, share } = section;
    let left = room * share - measure(open);
    const kept = items.filter((text) => {
      const fits = measure(text) <= left;
      if (fits) left -= measure(text);
      return fits;
    });
    const text = kept.length === 0 ? '' : `${open}${kept.join('')}`;
    room -= measure(text);
    fitted.set(section, { text, item, count: items.length - kept.length });
  }
  const groups = Map.groupBy(sections, (section) => section.environment ?? section);
  const texts = Array.from(groups, ([key, group]) => {
    const text = group.map((section) => fitted.get(section)?.text ?? '').join('');
    return typeof key === 'string' && text !== '' ? wrap(key, text) : text;
  });
  return {
    text: texts.join(''),
    omitted: sumOmittedItems([...fitted.values()]),
  };
}

function isFittedLast(section: Section): boolean {
  return section.isFittedLast === true;
}

function sumOmittedItems(fitted: readonly OmittedItems[]): readonly OmittedItems[] {
  const groups = Map.groupBy(fitted, ({ item }) => item);
  const sums = Array.from(groups, ([item, group]) => ({
    item,
    count: group.reduce((sum, { count }) => sum + count, 0),
  }));
  return sums.filter(({ count }) => count > 0);
}

export function renderTableHead(columns: readonly string[]): string {
  return renderTableRow(columns) + renderTableRow(columns.map(() => '---'));
}

/** Renders one table row, including its line feed. The cells must already be Markdown. */
export function renderTableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Renders the key of a prompt. If the report contains the address of its page in the service, the key is a link. */
export function renderPromptName({ key, url = '' }: Pick<ReportPrompt, 'key' | 'url'>): string {
  const address = renderWebUrl(url);
  return address === null ? renderCodeSpan(key) : `[${renderCodeSpan(key)}](${address})`;
}
