import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../../src/problem.ts';
import { type MarkdownOptions, renderMarkdown } from '../../../src/report/formats/markdown.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { expectInert } from '../../support/markdown.ts';
import { runs } from '../../support/seed.ts';
import {
  FORMATS,
  hostileReports,
  planOf,
  promptOf,
  ref,
  reportOf,
  setActive,
  SHORT_DIGEST,
  testTexts,
} from '../support.ts';
import { anyMarkdown, NASTY } from './nasty-markdown.ts';

const RUN = 'https://github.com/acme/prompts/actions/runs/4711';
const OPTIONS: MarkdownOptions = { title: 'plan', workspace: null, commit: null, runUrl: RUN, limit: null };

const page = (report: Report, options: Partial<MarkdownOptions> = {}) =>
  renderMarkdown(report, { ...OPTIONS, ...options });

const serve = setActive({ environment: 'production', before: ref(7), after: ref(9) });
const changeText = (before_text: string, after_text: string) => setActive({ before: ref(6), before_text, after_text });

const inBytes = (most: number) => ({ most, measure: (text: string) => Buffer.byteLength(text, 'utf8') });
const inCharacters = (most: number) => ({ most, measure: (text: string) => text.length });

describe('a Markdown page with hostile texts', () => {
  const pagesOf = (text: string, limit: MarkdownOptions['limit'] = null): readonly string[] =>
    hostileReports(text).map((report) => page(report, { workspace: text, commit: text, limit }));

  // The tests of renderCodeSpan and renderCodeBlock try each hostile text alone. Here, a few texts contain all of them.
  const all = Object.values(NASTY);
  const texts = Array.from({ length: 5 }, (_, start) => all.filter((_, at) => at % 5 === start).join('\n'));

  testTexts(
    'A Markdown page stays inert and complete for',
    { ...Object.fromEntries(texts.entries()), 'an image': NASTY['an image'], 'an empty text': '' },
    anyMarkdown,
    (text) => {
      const pages = pagesOf(text);
      for (const shown of pages) expectInert(shown, [RUN]);
      return { found: pages.filter((shown) => shown.includes('> This page is not complete.')), wanted: [] };
    },
    24,
  );

  test('A Markdown report of hostile text contains no active markup at any size limit', () => {
    fc.assert(
      fc.property(anyMarkdown, fc.integer({ min: 2_500, max: 12_000 }), (text, most) => {
        const limit = inBytes(most);
        fc.pre(limit.measure(text) < 200);
        for (const shown of pagesOf(text, limit)) {
          expectInert(shown, [RUN]);
          expect(limit.measure(shown)).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: runs(24) },
    );
  });

  test('A Markdown report keeps a URL from the service within its link and table cell, and links only HTTP and HTTPS URLs', () => {
    const rowOf = (url: string) => page(planOf([serve], { url })).match(/^\| .*k\/1.*$/m)?.[0];
    const change = '`production`: `v7` → `v9`';
    expect(rowOf('https://x.example/a|b) @octocat')).toBe(
      `| [\`k/1\`](https://x.example/a%7Cb%29%20@octocat) | ${change} |`,
    );
    expect(rowOf('javascript:alert(1)')).toBe(`| \`k/1\` | ${change} |`);
  });
});

describe('renderMarkdown', () => {
  test.each<[string, string, string, readonly string[]]>([
    [
      'A diff in a Markdown report shows an extra space before the continuation of a long line',
      `${'Be kind to all. '.repeat(6)}Bye.`,
      `${'Be kind to all. '.repeat(6)}Good night.`,
      ['…', '   Be kind to all.', '   Be kind to all.', '-  Bye.', '+  Good night.'],
    ],
    [
      'A diff in a Markdown report shows an ellipsis in place of omitted lines',
      'a\nb\nc\nd\ne\n-\nf\ng\nh\ni\nj\nk',
      'a\nb\nC\nd\ne\n-\nf\ng\nH\ni\nj\nk',
      [' a', ' b', '-c', '+C', ' d', ' e', '…', ' f', ' g', '-h', '+H', ' i', ' j', '…'],
    ],
    [
      'A diff in a Markdown report shows unusual spaces as code points, but only in changed lines',
      'a\u00a0b\nc d',
      'a\u00a0b\nc\u00a0d',
      [' a\u00a0b', '-c d', '+c\\u{a0}d', '(only white space differs)'],
    ],
  ])('%s', (_, before, after, lines) => {
    expect(page(planOf([changeText(before, after)]))).toContain(`\n\n\`\`\`diff\n${lines.join('\n')}\n\`\`\`\n\n`);
  });

  test('A Markdown report without diffs shows every change but no prompt text', () => {
    const shown = page(planOf([changeText('Hi', 'Hello')]), { withoutDiffs: true });
    expect(shown).toContain('\n| `k/1` | `staging`: `v6` → new version |\n');
    expect(shown).not.toContain('Hello');
  });

  test('A Markdown report names its subject and its workspace, and outside CI it has no link to a run', () => {
    const shown = page(reportOf([]), { title: 'drift', workspace: 'apps/chat', runUrl: null });
    expect(shown).toMatch(/^### promptsync drift in `apps\/chat`\n/);
    expect(shown).toContain(`plan \`${SHORT_DIGEST}\`\n`);
  });
});

describe('a Markdown page over its size limit', () => {
  const ids = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const many = reportOf(
    ids.map((id) => {
      const first = { ...setActive({ after: ref(9) }), after_text: `${'ab漢字😀'.repeat(30)}\n{{${id}}}` };
      const problems = [makeProblem('usage/invalid', { reason: id }), makeProblem('git/shallow', { of: 'drift' })];
      const drift = [{ field: 'name', kind: 'unfinished', restores: false, expected: id, observed: 'Theirs' }] as const;
      return promptOf({ key: `k/${id}`, status: 'pending', changes: [first], drift, problems });
    }),
  );

  test.each([
    ['characters', inCharacters(12_000)],
    ['bytes', inBytes(20_000)],
  ])(
    'A Markdown report limited in %s stays within its limit and states the kind and number of omitted items',
    (_, limit) => {
      const shown = page(many, { limit });
      expect(limit.measure(shown)).toBeLessThanOrEqual(limit.most);
      expect(limit.measure(shown)).toBeGreaterThan(limit.most / 2);
      expectInert(shown, [RUN]);
      expect(shown).toMatch(
        /\n> \[!WARNING\]\n> This page is not complete\. This page omits \d+ drift notes, \d+ text changes\./,
      );
      expect(shown).toContain(`For the complete report, see the summary and the page of [the run](${RUN}).\n`);
      expect(shown.endsWith(`· [run](${RUN})\n`)).toBe(true);
      expect(page(many, { limit, runUrl: null })).toContain("For the complete report, see the run's report.\n");
    },
  );

  test('A Markdown report with a size limit lists at most 100 files for each warning', () => {
    const warning = { ...makeProblem('usage/invalid', { reason: 'x' }), severity: 'warning' } as const;
    const problems = Array.from({ length: 120 }, (_, index) => ({ ...warning, path: `p${index}.md` }));
    const limited = page(reportOf([], { problems }), { limit: inCharacters(60_000) });
    expect(limited).toContain('\n  p99.md\n  … and 20 more\n');
    expect(page(reportOf([], { problems }))).toContain('\n  p118.md\n  p119.md\n');
  });

  test('A Markdown report is complete if it fits within its size limit', () => {
    expect(page(planOf([serve]), { limit: inCharacters(2_500) })).toBe(page(planOf([serve])));
  });
});

test.each([
  [
    'All formats label a difference of Unicode normalization and white space once',
    ...(['a caf\u00e9', 'a\u00a0cafe\u0301', '(only Unicode normalization and white space differ)'] as const),
  ],
  [
    'All formats label a difference of white space once, even if a long line is wrapped differently',
    'A word '.repeat(20).trim(),
    'A word '
      .repeat(20)
      .trim()
      .replaceAll('d A', `d${' '.repeat(9)}A`),
    '(only white space differs)',
  ],
])('%s', (_, before, after, name) => {
  const report = planOf([changeText(before, after)]);
  const [text, markdown, html] = Object.values(FORMATS).map((render) => render(report));
  expect(markdown).toContain(`\n${name}\n`);
  expect(html).toContain(`<div class="note">${name}</div>`);
  expect(text).toContain(`      ${name}\n`);
  for (const rendered of [markdown, html, text]) expect(rendered?.split('(only ')).toHaveLength(2);
});
