import { type Page, shownRows, wordsOf } from './elements.ts';

/** More marks than these nobody looks at, and they cost time with every letter. */
const MOST_MARKS = 500;

/** Marks the words of the search where they are shown, in browsers that can do so without changing the page. */
export function markFound(page: Page): void {
  if (!('highlights' in CSS)) return;
  const words = wordsOf(page);
  const ranges: Range[] = [];
  for (const row of words.length === 0 ? [] : shownRows(page)) {
    const walker = document.createTreeWalker(row.open ? row : (row.firstElementChild ?? row), NodeFilter.SHOW_TEXT);
    while (ranges.length < MOST_MARKS && walker.nextNode()) ranges.push(...rangesIn(walker.currentNode, words));
    if (ranges.length >= MOST_MARKS) break;
  }
  CSS.highlights.set('search', new Highlight(...ranges));
}

function rangesIn(node: Node, words: readonly string[]): readonly Range[] {
  const text = node.nodeValue?.toLowerCase() ?? '';
  // The lower case of some letters is longer, and then places are others.
  if (text.length !== node.nodeValue?.length) return [];
  return words.flatMap((word) => {
    const ranges: Range[] = [];
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + word.length);
      ranges.push(range);
    }
    return ranges;
  });
}
