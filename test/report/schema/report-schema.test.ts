import { describe, expect, test } from 'vitest';
import { ReportShape, type Report } from '../../../src/report/schema/report-schema.ts';
import { promptOf, reportOf } from '../support.ts';

/** Returns the paths of the fields that the schema rejects. */
function findRejectedFields(report: Report): readonly string[] {
  return (ReportShape.safeParse(report).error?.issues ?? []).map(({ path }) => path.join('.'));
}

describe('the address of a prompt in a report', () => {
  const rejectedIn = (url: string) => findRejectedFields(reportOf([promptOf({ url })]));

  test('The report schema accepts web addresses of prompts and rejects everything that could act as something else', () => {
    const good = [
      'https://cloud.langfuse.com/project/p/prompts/a%2Fb',
      'http://127.0.0.1:3000/langfuse/project/p/prompts/a%20%28v2%29',
      'http://[::1]:3000/project/p/prompts/a',
    ];
    expect(good.flatMap(rejectedIn)).toEqual([]);
    const schemes = ['javascript:alert(1)', 'javascript:alert%281%29', 'data:text/html,x', '//example.com/a', '/a', ''];
    const characters = [...' \n()<>"\'`\\|ü'].map((character) => `https://example.com/${character}`);
    const bad = [...schemes, ...characters, ' https://example.com/a'];
    expect(bad.filter((url) => rejectedIn(url).join() !== 'prompts.0.url')).toEqual([]);
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
