import { expect, test } from 'vitest';
import { renderJunit } from '../../../../src/report/formats/junit.ts';
import { describeInBrowser, openPage } from '../../../support/browser.ts';
import { HOSTILE } from '../../corpus.ts';
import { readJunit } from '../read-junit.ts';
import { hostileReports } from '../../support.ts';

describeInBrowser('renderJunit', () => {
  test('A browser and the JUnit parser of the test suite read the same test cases from reports with hostile text', async () => {
    const reports = Object.values(HOSTILE).flatMap((text) => hostileReports(text).map((one) => renderJunit(one, 'x')));
    const { page } = await openPage('<!doctype html><title>x</title>');
    const read = await page.evaluate((texts) => {
      return texts.map((text) => {
        const { documentElement: root } = new DOMParser().parseFromString(text, 'application/xml');
        return [...root.querySelectorAll('testsuites > testsuite > testcase, parsererror')].map((one) => ({
          name: one.getAttribute('name'),
          file: one.getAttribute('file'),
          failure: one.querySelector('failure')?.textContent ?? null,
        }));
      });
    }, reports);
    expect(read).toEqual(reports.map(readJunit));
  });
});
