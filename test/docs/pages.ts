import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodesIn, parseMarkdown } from '../support/markdown.ts';
import { blocksIn } from './steps.ts';
import { ROOT } from './worlds.ts';

/** The pages whose commands are run, relative to the root. */
export const PAGES: readonly string[] = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted()];

export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/**
 * Returns the content of a file that a page shows in a block with the directive `file`. If several sections show a file
 * with this path, `variant` is the index of one of them.
 */
export function readPageFile(page: string, path: string, variant = 0): string {
  const variants = blocksIn(readPage(page)).filter(({ directives }) => directives.get('file') === path);
  const block = variants[variant];
  if (block === undefined) throw new Error(`${page} does not show variant ${variant} of ${path}`);
  return `${block.text}\n`;
}

/** Returns the anchors of a page: its headings in the form that GitHub gives them, and every `<a id="…">`. */
export function anchorsIn(markdown: string): readonly string[] {
  const nodes = nodesIn(parseMarkdown(markdown));
  const headings = nodes.filter((node) => node.type === 'heading').map((heading) => slug(textOf(nodesIn(heading))));
  const numbered = headings.map((one, index) => {
    const before = headings.slice(0, index).filter((other) => other === one).length;
    return before === 0 ? one : `${one}-${before}`;
  });
  const named = nodes.flatMap((node) => (node.type === 'html' ? [...node.value.matchAll(/<a id="([^"]+)">/g)] : []));
  return [...numbered, ...named.map(([, name = '']) => name)];
}

function textOf(nodes: ReturnType<typeof nodesIn>): string {
  return nodes.map((node) => (node.type === 'text' || node.type === 'inlineCode' ? node.value : '')).join('');
}

function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
