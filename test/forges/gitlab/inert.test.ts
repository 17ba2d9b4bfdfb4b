import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeForGitLab } from '../../../src/report/escape.ts';
import { hostileReports, promptOf, reportOf } from '../../report/support.ts';
import { anyMarkdown, NASTY } from '../../report/formats/nasty-markdown.ts';
import { expectInert, readMarkdown } from '../../support/markdown.ts';
import { makeJob } from './support.ts';

/** Texts with a special meaning for GitLab but not for GitHub. */
const ALIVE = [
  '/merge',
  'x\n \t/close\n/approve now\n',
  'x\r/merge\r\n/merge',
  '```\n/merge\n```\n/merge',
  '<!--\n/merge\n-->',
  '/MERGE',
  '/etc/passwd\n//x\n/',
  '#1 !1 ~bug ~"two words" %"v1" &1 $1 @all *iteration:1 [vulnerability:1] ^alert#1',
  '::include{file=x}\n[[_TOC_]]\n[TOC]',
  '---\ntitle: x\n---',
];

/** Matches references and emoji shortcodes, which GitLab renders outside of code. */
const REFERENCE = /[@#!~%&$]\w|[@~%]"|:\w+:|\[\[|\[TOC\]/;

test('A GitLab note renders quick actions, references, includes and markup as inert text', async () => {
  const { gitlab, publish } = await makeJob();
  const message = '@all ~bug <b>x</b> www.evil.example\n\n/merge';
  const forged = { code: 'service/not-asked', severity: 'warning', message, hint: '' } as const;
  // One text begins with a quick action, and the other one has all special texts below each other.
  const reports = ['/merge\n/close', ALIVE.join('\n')].flatMap(hostileReports);
  for (const report of [...reports, reportOf([promptOf()], { problems: [forged] })]) {
    await publish(report, { in: `r${gitlab.notes(1).length}` });
  }
  const bodies = gitlab.notes(1).map(({ body }) => body);
  expect(bodies).toHaveLength(reports.length + 1);
  for (const body of bodies) {
    expectInert(body, [gitlab.mergeRequestVariables(1).CI_JOB_URL]);
    if (body !== bodies.at(-1)) expect(readMarkdown(body).texts.filter((one) => REFERENCE.test(one))).toEqual([]);
  }
  expect(gitlab.actions).toEqual([]);
});

test('escapeForGitLab escapes only leading slashes', () => {
  const texts = fc.oneof(anyMarkdown, fc.constantFrom(...ALIVE, ...Object.values(NASTY)));
  const check = (text: string) => {
    const page = escapeForGitLab(text);
    expect(page).not.toMatch(/^[^\S\n]*\//m);
    expect(page.replaceAll('\\u{2f}', '/')).toBe(text.replaceAll('\\u{2f}', '/'));
  };
  ALIVE.forEach(check);
  fc.assert(fc.property(texts, check));
});
