import { expect } from 'vitest';

export type Case = { readonly name: string; readonly file: string | null; readonly failure: string | null };

const ATTRIBUTES = String.raw`(?: [a-z]+="[^"<]*")*`;
const CASE = new RegExp(
  String.raw`<testcase(${ATTRIBUTES})(?:/>|>\n<failure(${ATTRIBUTES})>([^<]*)</failure>\n</testcase>)\n`,
  'y',
);

const OUTPUT = /<system-out>([^<]*)<\/system-out>\n/;
const END = new RegExp(String.raw`^(?:${OUTPUT.source})?</testsuite>\n</testsuites>\n$`);

/** Reads what `renderJunit` makes, and nothing but well-formed XML 1.0. */
export function readJunit(xml: string): readonly Case[] {
  // Characters that XML does not allow, and references that the report never uses.
  expect(xml).not.toMatch(/[^\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|&(?!#\d+;)/u);
  const [head = '', open = ''] =
    /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites[^<>]*>\n(<testsuite [^<>]*>)\n/.exec(xml) ?? [];
  expect(head).not.toBe('');
  const cases: Case[] = [];
  CASE.lastIndex = head.length;
  let at = head.length;
  for (let match = CASE.exec(xml); match !== null; match = CASE.exec(xml)) {
    const [, attributes = '', , failure] = match;
    const value = (name: string) => plain(new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1] ?? null);
    cases.push({ name: value('name') ?? '', file: value('file'), failure: plain(failure ?? null) });
    at = CASE.lastIndex;
  }
  expect(xml.slice(at)).toMatch(END);
  const failures = cases.filter(({ failure }) => failure !== null).length;
  expect(open).toContain(` tests="${cases.length}" failures="${failures}" `);
  return cases;
}

function plain(escaped: string | null): string | null {
  return escaped?.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))) ?? null;
}
