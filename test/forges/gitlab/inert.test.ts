import { describe, expect, test } from 'vitest';
import { escapeForGitLab } from '../../../src/report/escape.ts';
import { hostileReports, promptOf, reportOf, setActive, testTexts } from '../../report/support.ts';
import { anyMarkdown, NASTY } from '../../report/formats/nasty-markdown.ts';
import { expectInert, readMarkdown } from '../../support/markdown.ts';
import { makeJob } from './support.ts';

/** Texts with a special meaning for GitLab but not for GitHub. The keys complete test titles. */
const ALIVE = {
  'a quick action': '/merge',
  'a quick action after whitespace': 'x\n \t/close\n/approve now\n',
  'a quick action after a carriage return': 'x\r/merge\r\n/merge',
  'a quick action after a code fence': '```\n/merge\n```\n/merge',
  'a quick action in an HTML comment': '<!--\n/merge\n-->',
  'a quick action in capital letters': '/MERGE',
  'paths that look like quick actions': '/etc/passwd\n//x\n/',
  references: '#1 !1 ~bug ~"two words" %"v1" &1 $1 @all *iteration:1 [vulnerability:1] ^alert#1',
  'includes and tables of contents': '::include{file=x}\n[[_TOC_]]\n[TOC]',
  'front matter': '---\ntitle: x\n---',
};

/** Matches references and emoji shortcodes, which GitLab renders outside of code. */
const REFERENCE = /[@#!~%&$]\w|[@~%]"|:\w+:|\[\[|\[TOC\]/;

describe('the note on a merge request', () => {
  test.each(Object.entries(ALIVE))('A GitLab note renders %s as inert text', async (_, text) => {
    const { gitlab, publish } = await makeJob();
    const reports = hostileReports(text);
    for (const [at, report] of reports.entries()) await publish(report, { in: `r${at}` });
    const bodies = gitlab.notes(1).map(({ body }) => body);
    expect(bodies).toHaveLength(reports.length);
    for (const body of bodies) {
      expectInert(body, [gitlab.mergeRequestVariables(1).CI_JOB_URL]);
      expect(readMarkdown(body).texts.filter((one) => REFERENCE.test(one))).toEqual([]);
    }
    expect(gitlab.actions).toEqual([]);
  });

  test('A GitLab note renders hostile text in a problem message of a forged report as inert text', async () => {
    const { gitlab, publish } = await makeJob();
    const message = '@all ~bug <b>x</b> www.evil.example\n\n/merge';
    const problem = { code: 'service/not-asked', severity: 'warning', message, hint: '' } as const;
    await publish(reportOf([promptOf()], { problems: [problem] }));
    expectInert(gitlab.notes(1)[0]!.body, [gitlab.mergeRequestVariables(1).CI_JOB_URL]);
    expect(gitlab.actions).toEqual([]);
  });
});

describe('escapeForGitLab', () => {
  testTexts('escapeForGitLab escapes only leading slashes in', { ...NASTY, ...ALIVE }, anyMarkdown, (text) => {
    const page = escapeForGitLab(text);
    return {
      found: { begins: /^[^\S\n]*\//m.test(page), back: page.replaceAll('\\u{2f}', '/') },
      wanted: { begins: false, back: text.replaceAll('\\u{2f}', '/') },
    };
  });
});

describe('comment with a large report', () => {
  test.each<[string, string]>([
    ['promptsync comment shortens an ASCII-only note that exceeds the GitLab size limit', 'x'.repeat(99_000)],
    ['promptsync comment shortens an emoji-filled note that exceeds the GitLab size limit', '😀'.repeat(24_000)],
  ])('%s', async (_, text) => {
    const { gitlab, publish } = await makeJob();
    const prompts = Array.from({ length: 40 }, (_, at) =>
      promptOf({ key: `k/${at}`, status: 'pending', changes: [setActive({ after_text: text })] }),
    );
    expect((await publish(reportOf(prompts))).exitCode).toBe(0);
    const [{ body } = { body: '' }] = gitlab.notes(1);
    expect(body).toMatch(
      /not complete\. This page omits \d+ text changes\. For the complete report, see .*\[the run\]\(http/,
    );
    expect(body.length).toBeGreaterThan(700_000);
    expectInert(body, [gitlab.mergeRequestVariables(1).CI_JOB_URL]);
  });
});
