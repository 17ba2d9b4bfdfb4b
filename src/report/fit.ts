/** One part of a page. Its items go in whole or not at all; without any of them the part is left out. */
export type Section = {
  readonly open: string;
  readonly items: readonly string[];
  readonly close: string;
  /** What its items are called when some are left out, such as `diff`. */
  readonly item: string;
  /** How much of the room it may take at most, from 0 to 1: what comes later needs some as well. */
  readonly share: number;
};

/** How long a text may be, in a unit of the reader's choice. */
export type Limit = {
  readonly most: number;
  /** Length of a text in the unit of the limit. */
  readonly measure: (text: string) => number;
};

/** How many items of a section are left out. */
export type LeftOut = { readonly item: string; readonly count: number };

type Fitted = { readonly text: string; readonly leftOut: readonly LeftOut[] };

/** As much of the sections as the limit allows, the earlier ones first. Without a limit all of it. */
export function fitSections(sections: readonly Section[], limit: Limit | null): Fitted {
  let room = limit?.most ?? Infinity;
  const fitted = sections.map((section) => {
    const kept = keep(section, room * section.share, limit);
    const text = kept.length === 0 ? '' : `${section.open}${kept.join('')}${section.close}`;
    room -= limit?.measure(text) ?? 0;
    return { text, left: { item: section.item, count: section.items.length - kept.length } };
  });
  return {
    text: fitted.map(({ text }) => text).join(''),
    leftOut: fitted.map(({ left }) => left).filter(({ count }) => count > 0),
  };
}

function keep({ open, items, close }: Section, most: number, limit: Limit | null): readonly string[] {
  if (limit === null) return items;
  let room = most - limit.measure(open) - limit.measure(close);
  return items.filter((item) => {
    const length = limit.measure(item);
    if (length > room) return false;
    room -= length;
    return true;
  });
}
