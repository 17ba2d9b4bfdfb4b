import { describe, expect, test } from 'vitest';
import { ReportShape, type Report } from '../../../src/report/schema/report-schema.ts';
import { promptOf, reportOf } from '../support.ts';

/** Returns the paths of the fields that the schema rejects. */
function findRejectedFields(report: Report): readonly string[] {
  return (ReportShape.safeParse(report).error?.issues ?? []).map(({ path }) => path.join('.'));
}

describe('the address of a prompt in a report', () => {
  const rejectedIn = (url: string) => findRejectedFields(reportOf([promptOf({ url })]));

  test.each([
    'https://cloud.langfuse.com/project/p/prompts/a%2Fb',
    'http://127.0.0.1:3000/langfuse/project/p/prompts/a%20%28v2%29',
    'http://[::1]:3000/project/p/prompts/a',
  ])('The report schema accepts the prompt address %j', (url) => {
    expect(rejectedIn(url)).toEqual([]);
  });

  test.each([
    'javascript:alert(1)',
    'javascript:alert%281%29',
    'data:text/html,x',
    '//example.com/a',
    '/project/p/prompts/a',
    '',
    'https://example.com/a)',
    'https://example.com/a(b',
    'https://example.com/a b',
    'https://example.com/a\nb',
    'https://example.com/<b>',
    'https://example.com/"onclick="x',
    "https://example.com/'x",
    'https://example.com/`x`',
    'https://example.com/\\x',
    'https://example.com/|@octocat',
    'https://example.com/ü',
    ' https://example.com/a',
  ])('The report schema rejects the prompt address %j', (url) => {
    expect(rejectedIn(url)).toEqual(['prompts.0.url']);
  });
});

describe('the vocabulary of a report', () => {
  test.each<[service: string, environment: string, rejected: readonly string[]]>([
    ['Langfuse', 'label', []],
    ['the service', 'environment', []],
    ['[x](https://example.com)', 'label', ['vocabulary.service']],
    ['a\nb', 'label', ['vocabulary.service']],
    ['', 'label', ['vocabulary.service']],
    ['Langfuse', '<b>', ['vocabulary.environment']],
    ['Langfuse', 'Label', ['vocabulary.environment']],
    ['x'.repeat(41), 'x'.repeat(21), ['vocabulary.service', 'vocabulary.environment']],
  ])(
    'If a report calls the service %j and an environment %j, the report schema rejects the fields %j',
    (service, environment, rejected) => {
      expect(findRejectedFields(reportOf([], { vocabulary: { service, environment } }))).toEqual(rejected);
    },
  );
});
