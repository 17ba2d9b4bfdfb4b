import { describe, expect, test } from 'vitest';
import { makeProblem, type Problem } from '../../src/problem.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { isInterrupted, problemsIn } from '../../src/report/problems.ts';
import { renderStatus } from '../../src/report/status.ts';
import { makeScreen } from '../../src/report/screen.ts';
import { renderText } from '../../src/report/text.ts';
import type { Report, ReportPrompt } from '../../src/report/schema.ts';
import { DIGEST, NO_SUMMARY, promptOf, ref, reportOf, setActive } from './support.ts';

const prompt = (key: string, parts: Partial<ReportPrompt> = {}) => promptOf({ key, ...parts });

function text(parts: Partial<Report>, quiet = false): string {
  return renderText(reportOf(parts.prompts ?? [], { summary: NO_SUMMARY, ...parts }), { colour: false, quiet });
}

const timeout = makeProblem('service/timeout', { seconds: 15 });
const tooMany = makeProblem('guard/max-changes', { changing: 2, allowed: 1 });
const setStaging = setActive({ before: ref(1), after: ref(2) });
const failed = (key: string, problem: Problem) => prompt(key, { status: 'failed', problems: [problem] });
const blocked = (key: string) => prompt(key, { status: 'blocked', changes: [setStaging], problems: [tooMany] });

const origin = `https://prompts.example.com · commit 9f2c9f2c9f2c · plan ${DIGEST}`;

describe('the last lines', () => {
  test.each<[string, Partial<Report>, string]>([
    ['nothing to do', { summary: { ...NO_SUMMARY, unchanged: 3 } }, 'nothing to do: 3 prompts in sync.\n'],
    [
      'a plan',
      { summary: { ...NO_SUMMARY, create_version: 1, update_prompt: 2, set_active: 3, unchanged: 4 } },
      `Plan: 1 to create, 2 to update, 3 to activate, 4 unchanged.\n${origin}\n`,
    ],
    [
      'an apply',
      { mode: 'apply', summary: { ...NO_SUMMARY, create_version: 2, update_prompt: 1, set_active: 1, failed: 1 } },
      `Applied: 2 created, 1 updated, 1 activated, 1 failed.\n${origin}\n`,
    ],
    [
      'what was not done',
      { mode: 'apply', summary: { ...NO_SUMMARY, blocked: 2, failed: 1, not_attempted: 1 } },
      `Nothing applied: 2 blocked, 1 failed, 1 not attempted.\n${origin}\n`,
    ],
    [
      'without git and without a plan',
      { commit: null, plan_digest: null, summary: { ...NO_SUMMARY, set_active: 1 } },
      'Plan: 1 to activate.\nhttps://prompts.example.com\n',
    ],
    ['valid files', { mode: 'validate', summary: { ...NO_SUMMARY, prompts: 2 } }, '2 prompts valid.\n'],
  ])('%s', (_, parts, expected) => {
    expect(text(parts)).toBe(expected);
  });
});

test.each<[string, string | null, string]>([
  ['in a repository', 'c0ffee', 'commit them.'],
  ['outside of one', null, 'promptsync sync (in a git repository after a commit).'],
])('a conflict in a file is resolved first %s', (_, commit, then) => {
  const prompts = [failed('a', makeProblem('pull/conflict', { places: 1 }))];
  expect(text({ mode: 'pull', commit, prompts })).toContain(`Next: resolve the conflicts in the files, then ${then}\n`);
});

describe('problems', () => {
  test('what all prompts have in common is said once, without naming them', () => {
    const prompts = [failed('a', timeout), failed('b', timeout)];
    expect(text({ prompts, plan_digest: null, summary: { ...NO_SUMMARY, failed: 2 } })).toBe(
      [
        'error: The service did not answer within 15 s. [service/timeout]',
        '  Run again, or raise `timeout_seconds`.',
        '',
        'No prompt could be observed; nothing was written.',
        '',
      ].join('\n'),
    );
  });

  test('a guard that refuses many prompts is said once, below their changes', () => {
    const prompts = [blocked('a'), blocked('b'), prompt('c')];
    const shown = text({ prompts, summary: { ...NO_SUMMARY, blocked: 2, unchanged: 1 } });
    expect(shown.split('max_changes allows')).toHaveLength(2);
    expect(shown).toContain(
      'a  a.md  blocked\n  → staging: v1 → v2\n\nb  b.md  blocked\n  → staging: v1 → v2\n\nerror:',
    );
  });

  test('quiet leaves out changes and keeps problems', () => {
    const prompts = [prompt('a', { status: 'pending', changes: [setStaging] }), failed('b', timeout)];
    const shown = text({ prompts, summary: { ...NO_SUMMARY, set_active: 1, failed: 1 } }, true);
    expect(shown).not.toContain('staging');
    expect(shown).toContain('b  b.md  failed\n  error:');
  });

  test('warnings are not in the report', () => {
    const warning = makeProblem('prompt/hidden-character', { character: '\\u{200b}', count: 1 }, { path: 'a.md' });
    expect(text({ problems: [warning], summary: { ...NO_SUMMARY, unchanged: 1 } })).toBe(
      'nothing to do: 1 prompt in sync.\n',
    );
  });
});

describe('the changes of a prompt', () => {
  const lines = (change: ReportPrompt['changes'][number], others: ReportPrompt['changes'] = []) =>
    text({ prompts: [prompt('a', { status: 'pending', changes: [change, ...others] })] }).split('\n')[1];
  const create = { kind: 'create-version', digest: DIGEST, change_summary: null } as const;
  const follows = { ...setStaging, after: { new: true } } as const;

  test.each<[string, string | undefined]>([
    ['  + create version', lines(create, [follows])],
    ['  + create version (no environment follows it)', lines(create)],
    ['  + create version: Soften the tone', lines({ ...create, change_summary: 'Soften the tone' }, [follows])],
    ['  + create version of git:v1.4.0', lines({ ...create, ref: 'v1.4.0' }, [follows])],
    [
      '  + created version v7',
      lines({ ...create, status: 'made', version: ref(7) }, [{ ...setStaging, after: ref(7), status: 'made' }]),
    ],
    ['  + create version (not made)', lines({ ...create, status: 'not_made' }, [follows])],
    ['  + create version (not known whether it was made)', lines({ ...create, status: 'unknown' }, [follows])],
    [
      '  + adopted version v7 (it was there already)',
      lines({ ...create, status: 'adopted', version: ref(7) }, [{ ...setStaging, after: ref(7) }]),
    ],
    ['  → staging: v1 → v2', lines(setStaging)],
    ['  → staging: none → new version', lines({ ...follows, before: null })],
    ['  → staging: v1 → ver_x', lines({ ...setStaging, after: { id: 'ver_x', version_number: null } })],
    ['  ~ name: "A" → "B"', lines({ kind: 'update-prompt', fields: { name: { before: 'A', after: 'B' } } })],
  ])('%s', (expected, shown) => {
    expect(shown).toBe(expected);
  });
});

describe('the status matrix', () => {
  const row = (environment: string, parts: Partial<NonNullable<ReportPrompt['environments']>[number]> = {}) => ({
    ...{ environment, pin: 'latest', active: ref(1), wanted: ref(1), in_sync: true },
    ...parts,
  });
  const status = (prompts: readonly ReportPrompt[], parts: Partial<Report> = {}, quiet = false) =>
    renderStatus(reportOf(prompts, { mode: 'status', ...parts }), { colour: false, quiet });

  test('shows what is active, what should be, and what is not known', () => {
    const prompts = [
      prompt('in-sync', { environments: [row('staging'), row('production')] }),
      prompt('behind', {
        environments: [row('staging', { wanted: { new: true }, in_sync: false }), row('production')],
        changes: [{ kind: 'update-prompt', fields: { name: { before: 'a', after: 'b' } } }],
      }),
      prompt('first', { environments: [row('staging', { active: null, wanted: { new: true }, in_sync: false })] }),
      prompt('lost', { environments: [row('production', { pin: '7', wanted: null, in_sync: false })] }),
      prompt('unread', {
        status: 'failed',
        environments: [row('staging', { active: null, wanted: null, in_sync: false })],
      }),
    ];
    expect(status(prompts).split('\n').slice(0, 6)).toEqual([
      'prompt    staging             production',
      'in-sync   v1                  v1',
      'behind ~  v1 → new version    v1',
      'first     none → new version  ·',
      'lost      ·                   v1 → 7?',
      'unread    ?                   ·',
    ]);
    const none = { title: 'status', folder: null, commit: null, runUrl: null, limit: null };
    expect(renderMarkdown(reportOf(prompts, { mode: 'status' }), none)).toContain(
      '| prompt | `staging` | `production` |\n| --- | --- | --- |\n| `in-sync` | `v1` | `v1` |\n',
    );
  });

  test('has the environments below a prompt where the terminal is too narrow for a column each', () => {
    const prompts = [
      prompt('a-prompt-with-a-long-name', { environments: [row('staging', { wanted: ref(2), in_sync: false })] }),
      prompt('b', { environments: [row('staging'), row('production')] }),
    ];
    const options = { colour: false, quiet: false, screen: makeScreen(30) };
    const lines = renderStatus(reportOf(prompts, { mode: 'status' }), options).split('\n');
    expect(lines.slice(0, 5)).toEqual([
      'a-prompt-with-a-long-name',
      '  staging: v1 → v2',
      'b',
      '  staging: v1',
      '  production: v1',
    ]);
  });

  test('quiet leaves the matrix out, and so does a run without a plan', () => {
    const prompts = [prompt('a', { environments: [row('staging')] })];
    const summary = { ...NO_SUMMARY, unchanged: 1 };
    expect(status(prompts, { summary }, true)).toBe('nothing to do: 1 prompt in sync.\n');
    const problems = [makeProblem('config/missing-service')];
    expect(status([prompt('a')], { plan_digest: null, problems })).toMatch(/^error: No service is configured\./);
  });
});

describe('drift', () => {
  test.each<[string, ReportPrompt['drift'][number], string]>([
    [
      'that is unfinished names the commit that the version was made from',
      {
        ...{ environment: 'production', kind: 'unfinished', restores: true, expected: { new: true } },
        observed: { ...ref(6), made_by: 'git', commit: '9f2c1ab04d3e5f60' },
      },
      '  ! production serves v6, made from 9f2c1ab04d3e, the base wants new version (unfinished: merged, not live yet). A sync puts it back. To keep it, pin version:ver_6.',
    ],
    [
      'where nothing is active has nothing to go back to',
      { environment: 'qa', kind: 'unfinished', restores: true, expected: ref(1), observed: null },
      '  ! qa has nothing active, the base wants v1 (unfinished: merged, not live yet).',
    ],
  ])('%s', (_, drift, line) => {
    const drifted = prompt('a', { status: 'pending', changes: [setStaging], drift: [drift] });
    expect(text({ prompts: [drifted] }).split('\n')[1]).toBe(line);
    expect(text({ prompts: [drifted] }, true)).not.toContain('!');
  });
});

const down = makeProblem('service/unexpected-status', { status: 503, said: '' });
const broken = makeProblem('service/unexpected-status', { status: 500, said: '' });
const placed = makeProblem('prompt/missing-id', {}, { path: 'elsewhere.md', line: 2 });
const stopped = makeProblem('apply/interrupted');

function change(key: string, problems: readonly Problem[], status: ReportPrompt['status'] = 'failed'): ReportPrompt {
  return prompt(key, { status, changes: [setActive({})], problems });
}

function changed(prompts: readonly ReportPrompt[], mode: Report['mode'] = 'apply'): Report {
  return reportOf(prompts, { mode, summary: { ...NO_SUMMARY, prompts: prompts.length, failed: prompts.length } });
}

describe('A problem of a prompt', () => {
  test.each<[string, readonly ReportPrompt[], readonly (string | undefined)[]]>([
    ['says whose it is', [change('a', [down]), change('b', [])], ['a.md']],
    [
      'says whose it is where others have it too',
      [change('a', [down]), change('b', [down]), change('c', [])],
      ['a.md', 'b.md'],
    ],
    ['that all have says it once for all', [change('a', [down]), change('b', [down])], [undefined]],
    [
      'that all have which change says it once for all',
      [change('a', [down]), change('b', [down]), prompt('c')],
      [undefined],
    ],
    ['that all have beside others', [change('a', [down, broken]), change('b', [down])], [undefined, 'a.md']],
    ['of the only prompt is that of the prompt', [change('a', [down])], ['a.md']],
    ['with a place of its own keeps it', [change('a', [placed]), change('b', [])], ['elsewhere.md']],
    ['of a file that is not known has no place', [{ ...change('a', [down]), path: '' }], [undefined]],
  ])('%s', (_, prompts, paths) => {
    expect(problemsIn({ problems: [], prompts }).map(({ path }) => path)).toEqual(paths);
  });

  test('stands with its prompt in a text where others do not have it', () => {
    const two = changed([change('a', [down]), change('b', [broken]), change('c', [broken])]);
    const lines = text(two, true).split('\n');
    expect(lines.flatMap((line) => /^[abc] (?= )|status \d+/.exec(line)?.[0].trim() ?? [])).toEqual([
      'a',
      'status 503',
      'b',
      'status 500',
      'c',
      'status 500',
    ]);
  });
});

test('An interruption is told once, however many prompts have it', () => {
  const prompts = ['a', 'b', 'c'].map((one) => change(one, one === 'a' ? [] : [stopped], 'not_attempted'));
  expect(problemsIn({ problems: [], prompts })).toEqual([stopped]);
});

describe('A run that was interrupted', () => {
  const report = changed([change('a', [], 'applied'), change('b', [stopped], 'not_attempted')]);

  test('says so first', () => {
    const summary = { ...NO_SUMMARY, prompts: 2, set_active: 1, applied: 1, not_attempted: 1 };
    expect(text({ ...report, summary }, true)).toContain('Interrupted. Applied: 1 activated, 1 not attempted.');
    expect(isInterrupted(report)).toBe(true);
  });

  test.each(['pull', 'promote', 'rollback', 'import'] as const)('says so first where it edits files: %s', (mode) => {
    const cut = changed([change('a', [], 'unchanged'), change('b', [stopped], 'failed')], mode);
    expect(text(cut, true)).toContain('Interrupted. 1 prompt failed, 1 unchanged.');
  });

  test('is not shown as a good outcome on its page', () => {
    const cut = changed([change('a', [], 'unchanged'), change('b', [stopped], 'not_attempted')], 'dry-run');
    expect(renderHtml(cut, 'x')).toContain('<p class="outcome bad">Interrupted.');
  });

  test('one that was not does not', () => {
    expect(isInterrupted(changed([change('a', [down])]))).toBe(false);
  });
});

test.each<[string, Report['mode'], 'outside' | 'unfinished', string]>([
  ['a plan that would undo it', 'dry-run', 'outside', 'Plan: 1 to activate. 1 prompt has drifted.\n'],
  ['not what no sync has come to', 'dry-run', 'unfinished', 'Plan: 1 to activate.\n'],
  ['nor an apply, which has undone it', 'apply', 'outside', 'Applied: 1 activated.\n'],
])('Drift is told beside the numbers: %s', (_, mode, kind, line) => {
  const drift = [{ field: 'name', kind, restores: false, expected: 'a', observed: 'b' }] as const;
  const one = { ...change('a', [], mode === 'apply' ? 'applied' : 'pending'), drift };
  const report = { ...changed([one], mode), summary: { ...NO_SUMMARY, prompts: 1, set_active: 1 } };
  expect(text(report, true)).toContain(line);
});
