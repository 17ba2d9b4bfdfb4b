import type { Code, Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { expect } from 'vitest';
import { showHidden } from '../../src/text.ts';

export type ReadMarkdown = ReturnType<typeof readMarkdown>;

/** Parses a text as GitHub Flavored Markdown. */
export function parseMarkdown(text: string): Root {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/** Parses a text as GitHub Flavored Markdown and collects its nodes by kind. */
export function readMarkdown(text: string) {
  const nodes = nodesIn(parseMarkdown(text));
  const html = nodes.filter((node) => node.type === 'html');
  const blocks = nodes.filter((node) => node.type === 'code');
  return {
    /** Fenced and indented code blocks. */
    blocks,
    /** The kinds of all nodes without duplicates. */
    kinds: [...new Set(nodes.map(({ type }) => type))],
    spans: nodes.flatMap((node) => (node.type === 'inlineCode' ? [node.value] : [])),
    /** The visible texts outside code. */
    texts: nodes.flatMap((node) => (node.type === 'text' ? [node.value] : [])),
    html: html.map(({ value, position }) => ({ value, line: position!.start.line })),
    /** The bold and the struck-out parts. They mark the changed lines and words of a diff. */
    marks: nodes.filter((node) => node.type === 'strong' || node.type === 'delete'),
    /** The addresses of links, including plain URLs that GitHub turns into links. */
    addresses: nodes.flatMap((node) => ('url' in node ? [node.url] : [])),
    /** The first lines of code blocks that no fence closes. */
    unclosed: blocks.flatMap((block) => unclosedIn(block, text)),
    /** The tags `<details>` and `</details>` in order. */
    details: html.flatMap(({ value }) => value.match(/<\/?details\b/gi) ?? []).map((tag) => `${tag}>`),
  };
}

/** Returns a node and all of its descendants in order. */
export function nodesIn(node: Nodes): readonly Nodes[] {
  const children: readonly Nodes[] = 'children' in node ? node.children : [];
  return [node, ...children.flatMap(nodesIn)];
}

/**
 * Returns the first line of a code block that no fence closes. A closing fence is at least as long as the opening one.
 */
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

/** The kinds of nodes on a page of promptsync. No value may add another kind, such as formatting. */
const OWN_KINDS: readonly Nodes['type'][] = [
  ...(['root', 'heading', 'paragraph', 'blockquote', 'list', 'listItem'] as const),
  ...(['table', 'tableRow', 'tableCell', 'text', 'link', 'inlineCode', 'code', 'html'] as const),
  ...(['strong', 'delete'] as const),
];

/** Matches an escaped value in HTML. Characters that could end it, mention somebody or start code are entities. */
export const SAFE_HTML = '(?:[^&<>"\'@`\\n]|&#(?:34|38|39|60|62|64|96);)*';

const DETAILS = new RegExp(
  `^<details><summary><code>${SAFE_HTML}</code> <code>${SAFE_HTML}</code></summary>$|^</details>$`,
);
const COMMENT = /^<!-- (?:promptsync [0-9a-f]+|plan sha256:[0-9a-f]{64}(?: [0-9a-f]{16})+) -->$/;

const SECTION_END = '<!-- promptsync section end -->';
const SECTION = new RegExp(`^(?:<!-- promptsync section (?:applied )?(?:[0-9a-f]{16} )+-->|${SECTION_END})$`);

/** Matches mentions, issue references and addresses that GitHub or a mail program may turn into links. */
const ALIVE = /@|#\d|\bGH-\d|:\/\/|\bwww\.|\bmailto:/i;

/**
 * Expects a page of promptsync without any effect: all outside values are in code, and links lead only to the given
 * addresses.
 */
export function expectInert(markdown: string, addresses: readonly string[] = []): void {
  const read = readMarkdown(markdown);
  expect(read.kinds.filter((kind) => !OWN_KINDS.includes(kind))).toEqual([]);
  expect(read.html.filter((one) => !isOwnHtml(one))).toEqual([]);
  expect(read.marks.filter((mark) => !isOwnMark(mark))).toEqual([]);
  expect(read.texts.filter((text) => ALIVE.test(text))).toEqual([]);
  expect(read.addresses.filter((address) => !addresses.includes(address))).toEqual([]);
  expect(read.unclosed).toEqual([]);
  expect(read.details).toEqual(read.details.map((_, index) => (index % 2 === 0 ? '<details>' : '</details>')));
  expect(read.details.length % 2).toBe(0);
  const sectionLines = markdown.split('\n').filter((line) => SECTION.test(line));
  expect(sectionLines.filter((line, index) => (line === SECTION_END) === (index % 2 === 0))).toEqual([]);
  expect(showHidden(markdown) === markdown, 'nothing in it is hidden').toBe(true);
}

/** Whether a mark is the sign of a diff line or a single code span. The text of a code span cannot act as Markdown. */
function isOwnMark({ children: [child, ...others] }: ReadMarkdown['marks'][number]): boolean {
  const isSign = child?.type === 'text' && ['+', '−'].includes(child.value);
  return others.length === 0 && (isSign || child?.type === 'inlineCode');
}

/**
 * Whether promptsync wrote the HTML. The comments that identify the page are only in the first two lines. The hidden
 * lines of sections may be anywhere, but a start and an end take turns, as `expectInert` checks.
 */
function isOwnHtml({ value, line }: ReadMarkdown['html'][number]): boolean {
  return DETAILS.test(value) || (COMMENT.test(value) && line <= 2) || SECTION.test(value);
}
