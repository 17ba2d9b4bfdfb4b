import { expect, test } from 'vitest';
import { ReportShape, type Report } from '../../../src/report/schema/report-schema.ts';
import { promptOf, reportOf } from '../support.ts';

/** Returns the paths of the fields that the schema rejects. */
function findRejectedFields(report: Report): readonly string[] {
  return (ReportShape.safeParse(report).error?.issues ?? []).map(({ path }) => path.join('.'));
}

test('The report schema accepts web addresses of prompts and rejects everything that could act as something else', () => {
  const rejectedIn = (url: string) => findRejectedFields(reportOf([promptOf({ url })]));
  const good = [
    'https://cloud.langfuse.com/project/p/prompts/a%2Fb',
    'http://[::1]:3000/project/p/prompts/a%20%28v2%29',
  ];
  expect(good.flatMap(rejectedIn)).toEqual([]);
  const schemes = ['javascript:alert(1)', 'javascript:alert%281%29', 'data:text/html,x', '//example.com/a', '/a', ''];
  const characters = [...' \n()<>"\'`\\|ü'].map((character) => `https://example.com/${character}`);
  const bad = [...schemes, ...characters, ' https://example.com/a'];
  expect(bad.filter((url) => rejectedIn(url).join() !== 'prompts.0.url')).toEqual([]);
});

test('The report schema accepts only short plain words for the service and for an environment', () => {
  const rejectedIn = (service: string, environment: string) =>
    findRejectedFields(reportOf([], { vocabulary: { service, environment } }));
  const both = ['vocabulary.service', 'vocabulary.environment'];
  expect(rejectedIn('the service', 'environment')).toEqual([]);
  expect(rejectedIn('[x](https://example.com)', '<b>')).toEqual(both);
  expect(rejectedIn('a\nb', 'Label')).toEqual(both);
  expect(rejectedIn('x'.repeat(41), 'x'.repeat(21))).toEqual(both);
  expect(rejectedIn('', '')).toEqual(both);
});
