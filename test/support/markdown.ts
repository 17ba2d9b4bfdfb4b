import type { Code, Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { expect } from 'vitest';
import { showHidden } from '../../src/domain/text.ts';

export type ReadMarkdown = ReturnType<typeof readMarkdown>;

/** The tree of a Markdown text, as GitHub reads it. */
export function parseMarkdown(text: string): Root {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/** Reads Markdown as GitHub does. */
export function readMarkdown(text: string) {
  const nodes = nodesIn(parseMarkdown(text));
  const html = nodes.filter((node) => node.type === 'html');
  const blocks = nodes.filter((node) => node.type === 'code');
  return {
    /** Code, fenced and indented. */
    blocks,
    /** Every kind of node that there is, each once. */
    kinds: [...new Set(nodes.map(({ type }) => type))],
    spans: nodes.flatMap((node) => (node.type === 'inlineCode' ? [node.value] : [])),
    /** What is seen outside of code. */
    texts: nodes.flatMap((node) => (node.type === 'text' ? [node.value] : [])),
    html: html.map(({ value, position }) => ({ value, line: position!.start.line })),
    /** Those that GFM makes of mere text as well. */
    addresses: nodes.flatMap((node) => ('url' in node ? [node.url] : [])),
    /** First lines of the blocks of code that no fence closes. */
    unclosed: blocks.flatMap((block) => unclosedIn(block, text)),
    /** `<details>` and `</details>` as they come. */
    details: html.flatMap(({ value }) => value.match(/<\/?details\b/gi) ?? []).map((tag) => `${tag}>`),
  };
}

/** A node and all below it, in order. */
export function nodesIn(node: Nodes): readonly Nodes[] {
  const children: readonly Nodes[] = 'children' in node ? node.children : [];
  return [node, ...children.flatMap(nodesIn)];
}

/** A fence is closed where its last line is one at least as long as the first; indented code has none. */
function unclosedIn({ position }: Code, text: string): readonly string[] {
  const lines = text.slice(position!.start.offset, position!.end.offset).split('\n');
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  const fence = /^(?:`{3,}|~{3,})/.exec(first)?.[0];
  const end = last.replace(/^[ >]*/, '').trimEnd();
  const closed = fence !== undefined && lines.length > 1 && end.startsWith(fence) && isRun(end);
  return closed ? [] : [first];
}

function isRun(text: string): boolean {
  return text === (text[0] ?? '').repeat(text.length);
}

/** The kinds of nodes that a page of ours has; none of them is formatting that a value could ask for. */
const OWN_KINDS: readonly Nodes['type'][] = [
  ...(['root', 'heading', 'paragraph', 'blockquote', 'list', 'listItem'] as const),
  ...(['table', 'tableRow', 'tableCell', 'text', 'link', 'inlineCode', 'code', 'html'] as const),
];

/** A value within HTML: what could end it, or is a mention or code, is an entity. */
export const SAFE_HTML = '(?:[^&<>"\'@`\\n]|&#(?:34|38|39|60|62|64|96);)*';

const DETAILS = new RegExp(
  `^<details><summary><code>${SAFE_HTML}</code> <code>${SAFE_HTML}</code></summary>$|^</details>$`,
);
const COMMENT = /^<!-- (?:promptsync [0-9a-f]+|plan sha256:[0-9a-f]{64}(?: [0-9a-f]{16})+) -->$/;

/** Mentions, references to issues, and addresses that GitHub or somebody's mail program may make links of. */
const ALIVE = /@|#\d|\bGH-\d|:\/\/|\bwww\.|\bmailto:/i;

/**
 * A page of ours that does nothing but be read: whatever came from outside stands in code. Addresses are links to
 * those given only.
 */
export function expectInert(markdown: string, addresses: readonly string[] = []): void {
  const read = readMarkdown(markdown);
  expect(read.kinds.filter((kind) => !OWN_KINDS.includes(kind))).toEqual([]);
  expect(read.html.filter((one) => !isOwnHtml(one))).toEqual([]);
  expect(read.texts.filter((text) => ALIVE.test(text))).toEqual([]);
  expect(read.addresses.filter((address) => !addresses.includes(address))).toEqual([]);
  expect(read.unclosed).toEqual([]);
  expect(read.details).toEqual(read.details.map((_, index) => (index % 2 === 0 ? '<details>' : '</details>')));
  expect(read.details.length % 2).toBe(0);
  expect(showHidden(markdown) === markdown, 'nothing in it is hidden').toBe(true);
}

/** Comments are what the next run finds a page by: they stand in its first two lines and nowhere else. */
function isOwnHtml({ value, line }: ReadMarkdown['html'][number]): boolean {
  return DETAILS.test(value) || (COMMENT.test(value) && line <= 2);
}
