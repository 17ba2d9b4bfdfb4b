import { describe, expect, test } from 'vitest';
import { escapeForGitLab } from '../../src/report/escape.ts';
import { hostileReports, promptOf, reportOf, setActive, testTexts } from '../report/support.ts';
import { anyMarkdown, NASTY } from '../report/nasty-markdown.ts';
import { expectInert, readMarkdown } from '../support/markdown.ts';
import { makeJob } from './support.ts';

/** Texts that GitLab would do something for, and GitHub would not. */
const ALIVE = {
  'a quick action': '/merge',
  'one behind blanks': 'x\n \t/close\n/approve now\n',
  'one after a carriage return': 'x\r/merge\r\n/merge',
  'one after a fence': '```\n/merge\n```\n/merge',
  'one in a comment': '<!--\n/merge\n-->',
  'one in letters of another size': '/MERGE',
  'paths, which are none': '/etc/passwd\n//x\n/',
  references: '#1 !1 ~bug ~"two words" %"v1" &1 $1 @all *iteration:1 [vulnerability:1] ^alert#1',
  'includes and contents': '::include{file=x}\n[[_TOC_]]\n[TOC]',
  'front matter': '---\ntitle: x\n---',
};

/** What is a reference or an emoji to GitLab outside of code. */
const REFERENCE = /[@#!~%&$]\w|[@~%]"|:\w+:|\[\[|\[TOC\]/;

describe('whatever files and the service say, a note is read and does nothing', () => {
  test.each(Object.entries(ALIVE))('%s', async (_, text) => {
    const { gitlab, publish } = await makeJob();
    for (const [at, report] of hostileReports(text).entries()) await publish(report, { in: `r${at}` });
    const bodies = gitlab.notes(1).map(({ body }) => body);
    expect(bodies).toHaveLength(5);
    for (const body of bodies) {
      expectInert(body, [gitlab.mergeRequestVariables(1).CI_JOB_URL]);
      expect(readMarkdown(body).texts.filter((one) => REFERENCE.test(one))).toEqual([]);
    }
    expect(gitlab.actions).toEqual([]);
  });

  test('nor where a file that looks like a report says why the service was not asked', async () => {
    const { gitlab, publish } = await makeJob();
    const message = '@all ~bug <b>x</b> www.evil.example\n\n/merge';
    const problem = { code: 'service/not-asked', severity: 'warning', message, hint: '' } as const;
    await publish(reportOf([promptOf()], { problems: [problem] }));
    expectInert(gitlab.notes(1)[0]!.body, [gitlab.mergeRequestVariables(1).CI_JOB_URL]);
    expect(gitlab.actions).toEqual([]);
  });
});

describe('no line begins with a slash, and no other character changes', () => {
  testTexts({ ...NASTY, ...ALIVE }, anyMarkdown, (text) => {
    const page = escapeForGitLab(text);
    return {
      found: { begins: /^[^\S\n]*\//m.test(page), back: page.replaceAll('\\u{2f}', '/') },
      wanted: { begins: false, back: text.replaceAll('\\u{2f}', '/') },
    };
  });
});

describe('a note of more than 1,000,000 characters is cut, and says so', () => {
  test.each<[string, string]>([
    ['plain ones', 'x'.repeat(99_000)],
    ['those outside of the basic plane', '😀'.repeat(24_000)],
  ])('%s', async (_, text) => {
    const { gitlab, publish } = await makeJob();
    const prompts = Array.from({ length: 40 }, (_, at) =>
      promptOf({ key: `k/${at}`, status: 'pending', changes: [setActive({ after_text: text })] }),
    );
    expect((await publish(reportOf(prompts))).exitCode).toBe(0);
    const [{ body } = { body: '' }] = gitlab.notes(1);
    expect(body).toMatch(/not complete\. Left out for want of room: \d+ diffs\. All of it is in .*\[the run\]\(http/);
    expect(body.length).toBeGreaterThan(700_000);
    expectInert(body, [gitlab.mergeRequestVariables(1).CI_JOB_URL]);
  });
});
