import type { Html, Nodes } from 'mdast';
import { parseMarkdown } from '../support/markdown.ts';

const DIRECTIVES = ['world', 'exit', 'setup', 'file', 'elsewhere', 'other', 'wrong'] as const;
export type Directive = (typeof DIRECTIVES)[number];

/** A fenced block of a page, with what the comments right above it say. */
export type Block = {
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The empty text where a directive needs no more. */
  readonly directives: ReadonlyMap<Directive, string>;
};

/** The fenced and indented blocks of a page, in order. Throws on a comment above a block that means nothing. */
export function blocksIn(markdown: string): readonly Block[] {
  return blocksBelow(parseMarkdown(markdown));
}

function blocksBelow(node: Nodes): readonly Block[] {
  const children: readonly Nodes[] = 'children' in node ? node.children : [];
  return children.flatMap((child, index) => {
    if (child.type !== 'code') return blocksBelow(child);
    const directives = new Map(commentsAbove(children.slice(0, index)).flatMap(directiveIn));
    return [{ line: child.position!.start.line, language: child.lang ?? '', text: child.value, directives }];
  });
}

function commentsAbove(before: readonly Nodes[]): readonly Html[] {
  const first = before.findLastIndex((node) => node.type !== 'html' || !node.value.startsWith('<!--'));
  return before.slice(first + 1).filter((node) => node.type === 'html');
}

function directiveIn({ value, position }: Html): readonly [Directive, string][] {
  const [, name = '', text = ''] = /^<!--\s*([\w-]+)(?::\s*|\s)([\s\S]*?)\s*-->$/.exec(value) ?? [];
  if (['begin', 'end', 'prettier-ignore'].includes(name)) return [];
  const known = DIRECTIVES.find((one) => one === name);
  if (known === undefined)
    throw new Error(`line ${position?.start.line}: ${value} is none of ${DIRECTIVES.join(', ')}`);
  return [[known, text]];
}
