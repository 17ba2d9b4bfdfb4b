import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeProblem, type Problem } from '../../../src/problem.ts';
import { renderHtml } from '../../../src/report/formats/html-page.ts';
import { type MarkdownOptions, renderMarkdown } from '../../../src/report/formats/markdown.ts';
import { renderText } from '../../../src/report/formats/terminal-text.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { anyMarkdown, NASTY } from './nasty-markdown.ts';
import {
  DIGEST,
  hostileReports,
  NO_SUMMARY,
  promptOf,
  ref,
  reportOf,
  setActive,
  SHORT_DIGEST,
  type SetActive,
  testTexts,
} from '../support.ts';
import { expectInert, readMarkdown } from '../../support/markdown.ts';
import { runs } from '../../support/seed.ts';

const NOT_WHOLE = '> This page is not complete.';
const RUN = 'https://github.com/acme/prompts/actions/runs/4711';
const OPTIONS: MarkdownOptions = {
  ...{ title: 'plan', workspace: null, commit: null, runUrl: RUN, limit: null },
};

function page(report: Report, options: Partial<MarkdownOptions> = {}): string {
  return renderMarkdown(report, { ...OPTIONS, ...options });
}

function prompt(parts: Partial<ReportPrompt> = {}): ReportPrompt {
  return promptOf({ path: 'prompts/a.md', status: 'pending', ...parts });
}

function report(prompts: readonly ReportPrompt[], parts: Partial<Report> = {}): Report {
  const set = prompts.flatMap(({ changes }) => changes).length;
  return reportOf(prompts, { summary: { ...NO_SUMMARY, prompts: prompts.length, set_active: set }, ...parts });
}

const set = (before: number | null, after: number | 'new', environment = 'production'): SetActive =>
  setActive({
    ...{ environment, before: before === null ? null : ref(before) },
    after: after === 'new' ? { new: true } : ref(after),
  });
const create = { kind: 'create-version', digest: DIGEST, change_summary: 'Soften the tone' } as const;
const rename = { kind: 'update-prompt', fields: { name: { before: 'Old', after: 'New' } } } as const;

const field: ReportDrift = {
  ...{ field: 'name', kind: 'unfinished', restores: false, expected: 'First', observed: 'Theirs' },
};

/** Returns the rows of the table without its header. */
function rowsOf(markdown: string): readonly string[] {
  return markdown.split('\n').filter((line) => /^\| (?!prompt \||---)/.test(line));
}

function headingsOf(markdown: string): readonly string[] {
  return markdown.split('\n').filter((line) => line.startsWith('#### '));
}

describe('a Markdown page with hostile texts', () => {
  const pagesOf = (text: string, limit: MarkdownOptions['limit'] = null): readonly string[] =>
    hostileReports(text).map((report) => page(report, { workspace: text, commit: text, limit }));

  testTexts(
    'A Markdown page stays inert and complete for',
    NASTY,
    anyMarkdown,
    (text) => {
      const pages = pagesOf(text);
      for (const shown of pages) expectInert(shown, [RUN]);
      return { found: pages.filter((shown) => shown.includes(NOT_WHOLE)), wanted: [] };
    },
    40,
  );

  test('A Markdown report of hostile text contains no active markup at any size limit', () => {
    fc.assert(
      fc.property(anyMarkdown, fc.integer({ min: 2_500, max: 12_000 }), (text, most) => {
        const limit = { most, measure: (one: string) => Buffer.byteLength(one, 'utf8') };
        fc.pre(limit.measure(text) < 200);
        for (const shown of pagesOf(text, limit)) {
          expectInert(shown, [RUN]);
          expect(limit.measure(shown)).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: runs(40) },
    );
  });
});

describe('renderMarkdown', () => {
  test('A Markdown report of a plan shows changes, breaking changes, and diffs', () => {
    const summary = { ...NO_SUMMARY, prompts: 1, create_version: 1, update_prompt: 1, set_active: 2 };
    const staging = change('Hi {{name}}', 'Hello {{name}} of {{town}}', { variable: 'town', kind: 'added' });
    const both = { ...rename, fields: { ...rename.fields, description: { before: '', after: 'Why' } } };
    const one = prompt({ changes: [create, both, staging, set(7, 9)] });
    expect(page(report([one], { summary }))).toBe(PLAN);
  });

  test.each<[string, string, string, readonly string[]]>([
    [
      'A Markdown report shows a text change as a diff code block with a sign before each line',
      'One.\nTwo.\nThree.',
      'One.\n2.\nThree.',
      ['```diff', ' One.', '-Two.', '+2.', ' Three.', '```'],
    ],
    [
      'A diff in a Markdown report indents the continuation of a long line by one extra space',
      `${'Be kind to all. '.repeat(6)}Bye.`,
      `${'Be kind to all. '.repeat(6)}Good night.`,
      ['```diff', '…', '   Be kind to all.', '   Be kind to all.', '-  Bye.', '+  Good night.', '```'],
    ],
    [
      'A diff in a Markdown report shows an ellipsis in place of omitted lines',
      'a\nb\nc\nd\ne\n-\nf\ng\nh\ni\nj\nk',
      'a\nb\nC\nd\ne\n-\nf\ng\nH\ni\nj\nk',
      ['```diff', ' a', ' b', '-c', '+C', ' d', ' e', '…', ' f', ' g', '-h', '+H', ' i', ' j', '…', '```'],
    ],
    [
      'A diff in a Markdown report shows unusual spaces as code points, but only in changed lines',
      'a\u00a0b\nc d',
      'a\u00a0b\nc\u00a0d',
      ['```diff', ' a\u00a0b', '-c d', '+c\\u{a0}d', '(only white space differs)', '```'],
    ],
    [
      'The fence of a diff in a Markdown report is longer than any run of backticks in the texts',
      '````',
      'x',
      ['`````diff', '-````', '+x', '`````'],
    ],
  ])('%s', (_, before, after, lines) => {
    expect(page(report([prompt({ changes: [change(before, after)] })]))).toContain(`\n\n${lines.join('\n')}\n\n`);
  });

  test('A Markdown report without diffs shows every change but no prompt text', () => {
    const one = report([prompt({ changes: [create, change('Hi', 'Hello')] })]);
    expect(rowsOf(page(one, { withoutDiffs: true }))).toEqual(rowsOf(page(one)));
    expect(page(one, { withoutDiffs: true })).not.toContain('Hello');
  });

  test('A Markdown report of a plan without changes shows only the summary', () => {
    const summary = { ...NO_SUMMARY, prompts: 2, unchanged: 2 };
    const text = page(report([prompt({ status: 'unchanged' })], { summary }));
    expect(text).toBe(`### promptsync plan\n\nnothing to do: 2 prompts in sync.\n\n${FOOT}`);
  });

  test.each<[string, Partial<MarkdownOptions>, Partial<Report>, readonly string[]]>([
    [
      'A Markdown report names the path of the workspace',
      { workspace: 'apps/chat' },
      {},
      ['### promptsync plan in `apps/chat`\n'],
    ],
    ['A Markdown report uses the given title', { title: 'drift' }, {}, ['### promptsync drift\n']],
    [
      'A Markdown report generated outside CI contains no link to a CI run',
      { runUrl: null },
      {},
      [`plan \`${SHORT_DIGEST}\`\n`],
    ],
    [
      'A Markdown report omits the plan digest if there is no plan',
      {},
      { plan_digest: null },
      ['commit `9f2c9f2c9f2c` · service `https:'],
    ],
  ])('%s', (_, options, parts, expected) => {
    const text = page(report([], parts), options);
    for (const part of expected) expect(text).toContain(part);
    expectInert(text, [RUN]);
  });

  test('A Markdown report mentions only in its opening note that promptsync did not contact the service', () => {
    const problems = [makeProblem('service/not-asked', { reason: 'this run has no API key' })];
    const text = page(report([], { problems, service: null, plan_digest: null }));
    expect(text).toMatch(
      /^### .*\n\n.*\n\n> \[!NOTE\]\n> promptsync did not contact the service because this run has no API key\. To compare/,
    );
    expect(text).not.toContain('#### Warnings');
    expect(text).not.toContain('service `');
    expectInert(text, [RUN]);
  });

  test('A Markdown report wraps long problems at 80 columns, because code blocks on a forge do not wrap', () => {
    const reason = 'a reason of many words '.repeat(10).trim();
    const text = page(report([], { problems: [makeProblem('usage/invalid', { reason })] }));
    const [block = ''] = /^```text\n[^]*?\n```$/m.exec(text) ?? [];
    expect(block.replaceAll(/\s+/g, ' ')).toContain(reason);
    expect(block.split('\n').filter((line) => line.length > 80 || line.endsWith(' '))).toEqual([]);
  });

  test('A Markdown report uses the heading "Other changes" for changed fields only if an environment also changes', () => {
    const environments = [{ environment: 'production', pin: '7', active: ref(7), wanted: ref(7), in_sync: true }];
    const fieldsOnly = prompt({ changes: [rename], environments });
    expect(headingsOf(page(report([fieldsOnly])))).toEqual(['#### What would change']);
    const both = page(report([fieldsOnly, prompt({ key: 'k/2', changes: [set(7, 8)], environments })]));
    expect(headingsOf(both)).toEqual(['#### production: 1 prompt', '#### Other changes']);
  });

  test('A Markdown report orders its sections by importance', () => {
    const problems = [makeProblem('usage/invalid', { reason: 'x' }), makeProblem('git/shallow', { of: 'drift' })];
    const one = prompt({
      changes: [change('Hi {{a}}', 'Hi', { variable: 'a', kind: 'removed' })],
      drift: [field],
      problems,
    });
    const sections = ['Problems', 'staging: 1 prompt', 'No longer used', 'Drift', 'Warnings'];
    const text = page(report([one]));
    expect(headingsOf(text)).toEqual(sections.map((title) => `#### ${title}`));
    expectInert(text, [RUN]);
  });

  test('A Markdown report lists problems of the whole run first, followed by those of each prompt in prompt order', () => {
    const keys = ['k/2', 'k/1', 'k/3'];
    const unknownField = (field: string): Problem => {
      return { ...makeProblem('config/unknown-field', { field, known: [] }), hint: `Remove ${field}.` };
    };
    const of = (key: string) => prompt({ key, id: key, changes: [set(7, 9)], problems: [unknownField(key)] });
    const text = page(report(keys.map(of), { problems: [unknownField('run')] }));
    expect(rowsOf(text)).toEqual(keys.map((key) => `| \`${key}\` | \`production\`: \`v7\` → \`v9\` |`));
    const fields = readMarkdown(text).blocks.map(({ value }) => /setting `(.*?)`/.exec(value)?.[1]);
    expect(fields).toEqual(['run', ...keys]);
  });
});

function change(before: string, after: string, ...breaking: SetActive['breaking']): SetActive {
  return { ...set(6, 'new', 'staging'), before_text: before, after_text: after, breaking };
}

const FOOT = `commit \`9f2c9f2c9f2c\` · service \`https://prompts.example.com\` · plan \`${SHORT_DIGEST}\` · [run](${RUN})\n`;

const PLAN = `### promptsync plan

Plan: 1 of 1 prompt changes (1 new version, 1 field update, 2 activations).

#### production: 1 prompt

| prompt | change |
| --- | --- |
| \`k/1\` | \`production\`: \`v7\` → \`v9\` |

#### staging: 1 prompt

| prompt | change |
| --- | --- |
| \`k/1\` | \`staging\`: \`v6\` → new version |

<details><summary><code>k/1</code> <code>prompts/a.md</code></summary>

\`staging\`: \`v6\` → \`new version\`

\`\`\`diff
-Hi {{name}}
+Hello {{name}} of {{town}}
\`\`\`

</details>

#### Other changes

| prompt | change |
| --- | --- |
| \`k/1\` | create version: \`Soften the tone\` |
| \`k/1\` | name: \`"Old"\` → \`"New"\` |
| \`k/1\` | description: \`""\` → \`"Why"\` |

#### Breaking

- \`k/1\`: \`staging\`: the variable \`{{town}}\` is added. Callers must supply it.

${FOOT}`;

describe('the table of a Markdown page', () => {
  test.each<[string, Partial<ReportPrompt>, readonly string[], readonly string[]]>([
    [
      'The change table in a Markdown report lists a new version that no environment will serve',
      { changes: [create] },
      ['create version: `Soften the tone` (no pin uses it)'],
      ['What would change'],
    ],
    [
      'The change table in a Markdown report marks the changes of a blocked prompt',
      { status: 'blocked', changes: [set(7, 9)] },
      ['`production`: `v7` → `v9` (blocked)'],
      ['production: 1 prompt'],
    ],
    ['The change table in a Markdown report omits a blocked prompt without changes', { status: 'blocked' }, [], []],
    [
      'The change table in a Markdown report lists a prompt that failed before planning',
      { status: 'failed' },
      ['failed'],
      ['What would change'],
    ],
    [
      'The change table in a Markdown report lists a prompt that was not attempted',
      { status: 'not_attempted' },
      ['not attempted'],
      ['What would change'],
    ],
    [
      'For a failed prompt, the change table in a Markdown report lists changes that were not made or whose outcome is unknown',
      {
        status: 'failed',
        changes: [
          { ...create, status: 'made', version: ref(8) },
          { ...rename, status: 'not_made' },
          { ...set(7, 8), status: 'unknown' },
        ],
      },
      [
        '`production`: `v7` → `v8` (outcome unknown)',
        'created version v8: `Soften the tone`',
        'name: `"Old"` → `"New"` (not made)',
      ],
      ['production: 1 prompt', 'Other changes'],
    ],
  ])('%s', (_, parts, cells, headings) => {
    const mode = parts.changes?.some(({ status }) => status !== undefined) === true ? 'apply' : 'dry-run';
    const text = page(report([prompt(parts)], { mode }));
    expect(rowsOf(text)).toEqual(cells.map((cell) => `| \`k/1\` | ${cell} |`));
    expect(headingsOf(text)).toEqual(headings.map((heading) => `#### ${heading}`));
    expectInert(text, [RUN]);
  });

  test('A Markdown report contains no diff for a failed prompt', () => {
    const failed = prompt({ status: 'failed', changes: [change('a', 'b')] });
    expect(page(report([failed]))).not.toContain('<details>');
  });
});

test('A Markdown report of history has a heading for a prompt without versions', () => {
  const version = { ...ref(1), id: 'ver_1', digest: DIGEST, made_by: 'git', active_in: [], pinned: [] } as const;
  const row = { environment: 'staging', pin: '7', active: null, wanted: null, in_sync: false };
  const text = page(
    report(
      [
        prompt({ key: 'k/1', history: { versions: [version] } }),
        prompt({ key: 'k/2', history: { versions: [] }, environments: [row] }),
      ],
      { mode: 'history' },
    ),
  );
  expect(headingsOf(text)).toEqual(['#### `k/1`', '#### `k/2`']);
});

describe('the drift of a Markdown page', () => {
  const moved: ReportDrift = {
    ...{ environment: 'production', kind: 'outside', restores: true, expected: ref(7) },
    observed: { ...ref(9), made_by: 'outside' },
    pull: true,
  };
  const back = { kind: 'update-prompt', fields: { name: { before: 'Theirs', after: 'First' } } } as const;
  const row = '`production`: `v9` → `v7`';
  const COMMANDS = '  - Keep `v9`: `promptsync pull k/1`\n  - Restore `v7`: `promptsync sync k/1`\n';
  const overwrites = (mode: 'dry-run' | 'apply') => {
    const [title, end] =
      mode === 'apply' ? ['Overwrote', 'this run undid them'] : ['Overwrites', 'a sync would undo them'];
    return `#### ${title} changes made in the service\n\nSomeone made changes in the service that are not in the files, and ${end}:`;
  };
  const NOW = '#### Drift\n\nThese differences already exist in the service:';
  const BEFORE = '#### Drift\n\nThese differences existed in the service before this run:';

  test.each<[string, ReportDrift, ReportChange, string, string, readonly string[]]>([
    [
      'A Markdown report lists a change that only undoes drift in a separate section instead of the section of its environment',
      ...([moved, set(9, 7), overwrites('dry-run')] as const),
      `\`production\` serves \`v9\`, but \`main\` asks for \`v7\`. A sync restores \`v7\`.\n${COMMANDS}`,
      [],
    ],
    [
      'A Markdown report also lists drift in the change table if the files now pin a different version than the base',
      ...([{ ...moved, restores: false }, set(9, 8), NOW] as const),
      ...(['`production` serves `v9`', ['`production`: `v9` → `v8`']] as const),
    ],
    [
      'A Markdown report also lists drift from an unfinished sync in the change table',
      ...([{ ...moved, kind: 'unfinished' }, set(9, 7), NOW, '`production` serves `v9`', [row]] as const),
    ],
    [
      'If a sync would only restore a prompt name that somebody changed, a Markdown report lists the change in a separate section',
      ...([
        { ...field, kind: 'outside', restores: true },
        back,
        overwrites('dry-run'),
        'name is `"Theirs"`',
        [],
      ] as const),
    ],
    [
      'After an apply, a Markdown report lists the drift that the run undid in a separate section',
      ...([moved, { ...set(9, 7), status: 'made' }, overwrites('apply'), '`production` served `v9`', []] as const),
    ],
    [
      'If a sync did not make a change that would have undone drift, a Markdown report marks the change as not made',
      ...([moved, { ...set(9, 7), status: 'not_made' }, BEFORE, '`production` serves `v9`'] as const),
      [`${row} (not made)`],
    ],
  ])('%s', (_, drift, change, open, note, cells) => {
    const mode = change.status === undefined ? 'dry-run' : 'apply';
    const text = page(report([prompt({ changes: [change], drift: [drift] })], { mode, base: 'main' }));
    expect(text).toContain(`\n${open}\n\n- \`k/1\`: ${note}`);
    expect(rowsOf(text)).toEqual(cells.map((cell) => `| \`k/1\` | ${cell} |`));
    expectInert(text, [RUN]);
  });

  test('A Markdown report does not claim that a run overwrote drift if the outcome of the change is unknown', () => {
    const change = { ...set(9, 7), status: 'unknown' } as const;
    const text = page(report([prompt({ status: 'failed', changes: [change], drift: [moved] })], { mode: 'apply' }));
    expect(headingsOf(text)).toEqual(['#### production: 1 prompt', '#### Drift']);
    expect(rowsOf(text)).toEqual([`| \`k/1\` | ${row} (outcome unknown) |`]);
  });

  test('A Markdown report lists the changed messages of a chat prompt even if the change only undoes drift', () => {
    const change = { ...set(9, 7), messages: { before: ['user'], after: ['system', 'user'] } };
    const text = page(report([prompt({ type: 'chat', changes: [change], drift: [moved] })]));
    expect(text).toContain(`${COMMANDS}- \`k/1\`: \`messages: user → system, user\`\n`);
  });
});

describe('a Markdown page over its size limit', () => {
  const LIMITS = [
    { name: '60,000 characters', limit: { most: 60_000, measure: (text: string) => text.length } },
    { name: '900 KiB', limit: { most: 900 * 1024, measure: (text: string) => Buffer.byteLength(text, 'utf8') } },
  ];
  const ids = Array.from({ length: 500 }, (_, index) => `p${index}`);
  const many = (line = '') =>
    report(
      ids.map((id) => {
        const text = `${line.repeat(2_000 / (Buffer.byteLength(line) || 1))}\n`.repeat(10);
        const first = { ...set(null, 9), after_text: `${text}{{${id}}}` };
        const problems = [makeProblem('usage/invalid', { reason: id }), makeProblem('git/shallow', { of: 'drift' })];
        return prompt({ id, key: `k/${id}`, changes: [first], drift: [{ ...field, expected: id }], problems });
      }),
    );

  describe.each(LIMITS)('a Markdown report limited to $name', ({ limit }) => {
    test.each(['abcdefgh', '漢字です', '😀👍'])(
      'A Markdown report of 500 prompts with the characters %s stays within its size limit',
      (line) => {
        const text = page(many(line), { limit });
        expect(limit.measure(text)).toBeLessThanOrEqual(limit.most);
        expect(limit.measure(text)).toBeGreaterThan(limit.most / 2);
        expectInert(text, [RUN]);
        expect(text).toContain('\n> [!WARNING]\n> This page is not complete. This page omits');
        expect(text).toContain(`For the complete report, see the summary and the page of [the run](${RUN}).\n`);
        expect(text.endsWith(FOOT)).toBe(true);
      },
    );
  });

  test('A Markdown report states the kind and number of omitted changes', () => {
    const limit = { most: 60_000, measure: (text: string) => text.length };
    const text = page(many(), { limit, runUrl: null });
    expect(text).toMatch(
      /This page omits \d+ problems, \d+ drift notes?, \d+ text changes\. For the complete report, see/,
    );
    expect(text).toContain("For the complete report, see the run's report.\n");
  });

  test('A Markdown report with a size limit lists at most 100 files for each warning', () => {
    const warning = { ...makeProblem('usage/invalid', { reason: 'x' }), severity: 'warning' } as const;
    const problems = Array.from({ length: 120 }, (_, index) => ({ ...warning, path: `p${index}.md` }));
    const limited = page(report([], { problems }), { limit: { most: 60_000, measure: (text) => text.length } });
    expect(limited).toContain('\n  p0.md\n  p1.md\n');
    expect(limited).toContain('\n  p99.md\n  … and 20 more\n');
    expect(page(report([], { problems }))).toContain('\n  p118.md\n  p119.md\n');
  });

  test('If the text of a change is too large, a Markdown report says that the report is incomplete and that the change still counts as reviewed', () => {
    const long = setActive({ after_text: null, text_omitted: true });
    const text = page(report([prompt({ changes: [long] })]));
    expect(text).toContain(
      'not complete. It omits the text of 1 change because of its size, but the change still counts as reviewed. To see',
    );
  });

  const LONG = 'A word '.repeat(20).trim();

  test.each([
    ['caf\u00e9', 'cafe\u0301', '(only Unicode normalization differs)'],
    [`${'A word '.repeat(20)}ends.`, `${'A word '.repeat(20)} ends.`, '(only white space differs)'],
    ['a caf\u00e9', 'a\u00a0cafe\u0301', '(only Unicode normalization and white space differ)'],
    // The display lines of such a line differ in number.
    [LONG, LONG.replaceAll('d A', `d${' '.repeat(9)}A`), '(only white space differs)'],
  ])('All formats label an invisible difference between %j and %j once', (before_text, after_text, name) => {
    const changes = [setActive({ before: ref(1), before_text, after_text })];
    const plan = report([prompt({ changes })]);
    const [markdown, html, text] = [
      page(plan),
      renderHtml(plan, 'plan'),
      renderText(plan, { colour: false, quiet: false }),
    ];
    expect(markdown).toContain(`\n${name}\n`);
    expect(html).toContain(`<div class="note">${name}</div>`);
    expect(text).toContain(`      ${name}\n`);
    for (const rendered of [markdown, html, text]) expect(rendered.split('(only ')).toHaveLength(2);
    const visible = page(report([prompt({ changes: [setActive({ before: ref(1), before_text, after_text: 'x' })] })]));
    expect(visible).not.toContain('(only ');
  });

  test.each(['name', 'description'] as const)('All formats label an invisible difference of the field %s', (field) => {
    const changes = [
      { kind: 'update-prompt', fields: { [field]: { before: 'Caf\u00e9 x', after: 'Cafe\u0301 x' } } },
    ] as const;
    const edits = [{ kind: 'set-field', field, before: '"a b"', after: '"a\u00a0b"', conflict: false }] as const;
    const plan = report([prompt({ changes, edits })]);
    for (const rendered of [page(plan), renderHtml(plan, 'plan'), renderText(plan, { colour: false, quiet: false })]) {
      expect(rendered).toMatch(/(?:"|&quot;|&#34;)`? \(only Unicode normalization differs\)/);
      expect(rendered).toMatch(/(?:"|&quot;|&#34;)`? \(only white space differs\)/);
    }
  });

  test('A Markdown report keeps a URL from the service within its link and table cell, and links only HTTP and HTTPS URLs', () => {
    const rowOf = (url: string) => page(report([prompt({ url, changes: [set(7, 9)] })])).match(/^\| .*k\/1.*$/m)?.[0];
    const change = '`production`: `v7` → `v9`';
    expect(rowOf('https://x.example/a|b) @octocat')).toBe(
      `| [\`k/1\`](https://x.example/a%7Cb%29%20@octocat) | ${change} |`,
    );
    expect(rowOf('javascript:alert(1)')).toBe(`| \`k/1\` | ${change} |`);
  });

  test('A Markdown report is complete if it fits within its size limit', () => {
    const limit = { most: 2_500, measure: (text: string) => text.length };
    const few = report([prompt({ changes: [set(7, 9)] })]);
    expect(page(few, { limit })).toBe(page(few));
    expect(page(few)).not.toContain(NOT_WHOLE);
  });
});
