import { readPage } from './pages.ts';
import { blocksIn } from './steps.ts';

/** Returns the content of a file that a page shows in a block with the directive `file`. Throws if there is none. */
export function readPageFile(page: string, path: string): string {
  const block = blocksIn(readPage(page)).find(({ directives }) => directives.get('file') === path);
  if (block === undefined) throw new Error(`${page} does not show the file ${path}`);
  return `${block.text}\n`;
}
