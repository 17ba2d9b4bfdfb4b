import { describe, expect, test } from 'vitest';
import { makeProblem, type Problem } from '../../../src/problem.ts';
import { renderMarkdown } from '../../../src/report/formats/markdown.ts';
import { renderHtml } from '../../../src/report/formats/html-page.ts';
import { renderEndedRun } from '../../../src/report/formats/summary.ts';
import { describeEdit } from '../../../src/report/describe-changes.ts';
import { combineProblems, groupProblems, isInterrupted, listProblems } from '../../../src/report/problem-list.ts';
import { renderStatus } from '../../../src/report/formats/status-matrix.ts';
import { makeScreen } from '../../../src/report/terminal-screen.ts';
import { renderText } from '../../../src/report/formats/terminal-text.ts';
import type { Report, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { DIGEST, NO_SUMMARY, promptOf, ref, reportOf, setActive, SHORT_DIGEST } from '../support.ts';

const prompt = (key: string, parts: Partial<ReportPrompt> = {}) => promptOf({ key, ...parts });

function text(parts: Partial<Report>, quiet = false): string {
  return renderText(reportOf(parts.prompts ?? [], { summary: NO_SUMMARY, ...parts }), { colour: false, quiet });
}

const timeout = makeProblem('service/timeout', { seconds: 15 });
const tooMany = makeProblem('guard/max-changes', { changing: 2, allowed: 1 });
const gone = makeProblem('prompt/gone', {
  ...{ id: 'p', key: 'k', base: 'main', file: 'deleted', pins: [], serves: '', newPath: null },
});
const setStaging = setActive({ before: ref(1), after: ref(2) });
const failed = (key: string, problem: Problem) => prompt(key, { status: 'failed', problems: [problem] });
const blocked = (key: string) => prompt(key, { status: 'blocked', changes: [setStaging], problems: [tooMany] });

const origin = `https://prompts.example.com · commit 9f2c9f2c9f2c · plan ${SHORT_DIGEST}`;

describe('the summary of a text report', () => {
  test.each<[string, Partial<Report>, string]>([
    [
      'The text report of a plan without changes counts the prompts that are in sync',
      { summary: { ...NO_SUMMARY, unchanged: 3 } },
      'nothing to do: 3 prompts in sync.\n',
    ],
    [
      'The summary of a plan counts the changing prompts first, then their changes, and then the other prompts',
      {
        prompts: [changing('a', 'pending'), changing('b', 'pending'), prompt('c')],
        summary: { ...NO_SUMMARY, prompts: 40, create_version: 1, update_prompt: 2, set_active: 3, unchanged: 38 },
        problems: [gone],
      },
      `Plan: 2 of 40 prompts change (1 new version, 2 field updates, 3 activations). 38 unchanged, 1 no longer managed.\n${origin}\n`,
    ],
    [
      'The summary of a sync counts only the changes that the sync made',
      {
        mode: 'apply',
        prompts: [changing('a', 'applied', 'made'), changing('b', 'failed', 'not_made')],
        summary: { ...NO_SUMMARY, prompts: 2, create_version: 2, update_prompt: 1, set_active: 1, failed: 1 },
      },
      `Applied: 1 prompt (2 new versions, 1 field update, 1 activation). 1 failed.\n${origin}\n`,
    ],
    [
      'If invalid files stop a command, the summary names a prompt whose file is valid',
      {
        prompts: [changing('a', 'not_attempted')],
        summary: { ...NO_SUMMARY, prompts: 1, not_attempted: 1 },
        problems: [makeProblem('prompt/nul', {}, { path: 'b.md' })],
      },
      '1 error.\nTo continue with prompts whose files are valid, name them, such as a.\n',
    ],
    [
      'The text report counts prompts that were blocked, failed, or not attempted',
      { mode: 'apply', summary: { ...NO_SUMMARY, blocked: 2, failed: 1, not_attempted: 1 } },
      `Nothing applied. 2 blocked, 1 failed, 1 not attempted.\n${origin}\n`,
    ],
    [
      'If there is no commit and no plan digest, the text report identifies only the service',
      { commit: null, plan_digest: null, summary: { ...NO_SUMMARY, prompts: 2, blocked: 1, unchanged: 1 } },
      'Plan: no prompt changes. 1 unchanged, 1 blocked.\nhttps://prompts.example.com\n',
    ],
    [
      'The text report of a validation counts the valid prompts',
      { mode: 'validate', summary: { ...NO_SUMMARY, prompts: 2 } },
      '2 prompts valid.\n',
    ],
  ])('%s', (_, parts, expected) => {
    // Only the end of the report is the subject.
    expect(text(parts).slice(-expected.length)).toBe(expected);
  });

  test('A quiet report omits the line with the service, the commit and the plan digest', () => {
    expect(text({ summary: { ...NO_SUMMARY, prompts: 1, blocked: 1 } }, true)).toBe(
      'Plan: no prompt changes. 1 blocked.\n',
    );
  });
});

test.each<[string, string | null, string]>([
  [
    'In a git repository, the text report of a pull conflict recommends that users commit the resolved files',
    'c0ffee',
    'commit them.',
  ],
  [
    'Outside a git repository, the text report of a pull conflict recommends that users run promptsync sync',
    null,
    'run promptsync sync (in a git repository, commit first).',
  ],
])('%s', (_, commit, then) => {
  const prompts = [failed('a', makeProblem('pull/conflict', { places: 1 }))];
  expect(text({ mode: 'pull', commit, prompts })).toContain(`Next: resolve the conflicts in the files, then ${then}\n`);
});

describe('the problems of a text report', () => {
  test('If all prompts have the same problem, the text report shows it only once and without prompt names', () => {
    const prompts = [failed('a', timeout), failed('b', timeout)];
    expect(text({ prompts, plan_digest: null, summary: { ...NO_SUMMARY, failed: 2 } })).toBe(
      [
        'error: The service did not respond within 15 seconds. [service/timeout]',
        '  Run the command again, or increase `timeout_seconds` in `promptsync.yaml`.',
        '',
        'promptsync could not read any prompts, so it wrote nothing.',
        '',
      ].join('\n'),
    );
  });

  test('If several prompts have the same guard error, the text report shows it only once, below their changes', () => {
    const prompts = [blocked('a'), blocked('b'), prompt('c')];
    const shown = text({ prompts, summary: { ...NO_SUMMARY, blocked: 2, unchanged: 1 } });
    expect(shown.split('`max_changes` allows only')).toHaveLength(2);
    expect(shown).toContain(
      'a  a.md  blocked\n  → staging: v1 → v2 (blocked)\n\nb  b.md  blocked\n  → staging: v1 → v2 (blocked)\n\nerror:',
    );
    expect(shown).toContain('[guard/max-changes]\n  a.md\n  b.md\n');
  });

  test('A quiet text report omits changes but shows problems', () => {
    const prompts = [prompt('a', { status: 'pending', changes: [setStaging] }), failed('b', timeout)];
    const shown = text({ prompts, summary: { ...NO_SUMMARY, set_active: 1, failed: 1 } }, true);
    expect(shown).not.toContain('staging');
    expect(shown).toContain('b  b.md  failed\n  error:');
  });

  test('The text report omits warnings', () => {
    const warning = makeProblem('prompt/hidden-character', { character: '\\u{200b}', count: 1 }, { path: 'a.md' });
    expect(text({ problems: [warning], summary: { ...NO_SUMMARY, unchanged: 1 } })).toBe(
      'nothing to do: 1 prompt in sync.\n',
    );
  });
});

describe('the changes of a text report', () => {
  const lines = (change: ReportPrompt['changes'][number], others: ReportPrompt['changes'] = []) =>
    text({ prompts: [prompt('a', { status: 'pending', changes: [change, ...others] })] }).split('\n')[1];
  const create = { kind: 'create-version', digest: DIGEST, change_summary: null } as const;
  const follows = { ...setStaging, after: { new: true } } as const;

  test.each<{ readonly line: string; readonly shown: string | undefined }>([
    { line: '  + create version', shown: lines(create, [follows]) },
    { line: '  + create version (no pin uses it)', shown: lines(create) },
    {
      line: '  + create version: Soften the tone',
      shown: lines({ ...create, change_summary: 'Soften the tone' }, [follows]),
    },
    { line: '  + create version of git:v1.4.0', shown: lines({ ...create, ref: 'v1.4.0' }, [follows]) },
    {
      line: '  + created version v7',
      shown: lines({ ...create, status: 'made', version: ref(7) }, [{ ...setStaging, after: ref(7), status: 'made' }]),
    },
    { line: '  + create version (not made)', shown: lines({ ...create, status: 'not_made' }, [follows]) },
    {
      line: '  + create version (outcome unknown)',
      shown: lines({ ...create, status: 'unknown' }, [follows]),
    },
    {
      line: '  + adopted version v7 (already existed)',
      shown: lines({ ...create, status: 'adopted', version: ref(7) }, [{ ...setStaging, after: ref(7) }]),
    },
    {
      line: '  + created version v7 (the response was lost)',
      shown: lines({ ...create, status: 'adopted', recovered: true, version: ref(7) }, [
        { ...setStaging, after: ref(7), status: 'made' },
      ]),
    },
    { line: '  → staging: v1 → v2', shown: lines(setStaging) },
    { line: '  → staging: none → new version', shown: lines({ ...follows, before: null }) },
    { line: '  → staging: v1 → ver_x', shown: lines({ ...setStaging, after: { id: 'ver_x', version_number: null } }) },
    {
      line: '  ~ name: "A" → "B"',
      shown: lines({ kind: 'update-prompt', fields: { name: { before: 'A', after: 'B' } } }),
    },
  ])('The text report shows a change as "$line"', ({ line, shown }) => {
    expect(shown).toBe(line);
  });
});

test('describeEdit says that an environment no longer follows the file if an edit replaces the pin latest with a version', () => {
  const edit = { kind: 'set-pin', environment: 'dev', after: '4' } as const;
  expect(describeEdit({ ...edit, before: 'latest' }, String)).toBe('dev: latest → 4 (dev no longer follows the file)');
  expect(describeEdit({ ...edit, before: '3' }, String)).toBe('dev: 3 → 4');
});

describe('renderStatus', () => {
  const row = (environment: string, parts: Partial<NonNullable<ReportPrompt['environments']>[number]> = {}) => ({
    ...{ environment, pin: 'latest', active: ref(1), wanted: ref(1), in_sync: true },
    ...parts,
  });
  const status = (prompts: readonly ReportPrompt[], parts: Partial<Report> = {}, quiet = false) =>
    renderStatus(reportOf(prompts, { mode: 'status', ...parts }), { colour: false, quiet });

  test('The status matrix shows active, desired, and unknown versions', () => {
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
    expect(status(prompts).split('\n').slice(0, 10)).toEqual([
      'prompt    staging             production',
      'unread    ?                   ·',
      'behind ~  v1 → new version    v1',
      'first     none → new version  ·',
      'lost      ·                   v1 → 7?',
      'in-sync   v1                  v1',
      '',
      'n?: promptsync did not find the pinned version; for details, run promptsync plan',
      '·: the file does not pin this environment',
      '~: a sync would change the key, the name, or the description',
    ]);
    const none = { title: 'status', workspace: null, commit: null, runUrl: null, limit: null };
    expect(renderMarkdown(reportOf(prompts, { mode: 'status' }), none)).toContain(
      '| prompt | `staging` | `production` |\n| --- | --- | --- |\n| `unread` | `?` | `·` |\n',
    );
  });

  test('The status matrix starts with unread and blocked prompts and ends with prompts in sync', () => {
    const waiting = [{ environment: 'production', from: 'staging', versions: 2, since: null }];
    const prompts = [
      prompt('in-sync', { environments: [row('staging')] }),
      prompt('waiting', { environments: [row('staging')], waiting }),
      prompt('drifted', { environments: [row('staging', { in_sync: false })] }),
      prompt('changed', { environments: [row('staging')], status: 'pending', changes: [setStaging] }),
      prompt('blocked', { environments: [row('staging')], status: 'blocked' }),
      prompt('skipped', { environments: [row('staging')], status: 'not_attempted' }),
    ];
    const order = ['skipped', 'blocked', 'drifted', 'changed', 'waiting', 'in-sync'];
    const keysIn = (text: string) => text.match(/(?<=^(?:\| `)?)[a-z-]+(?=`? .*v1)/gm);
    expect(keysIn(status(prompts))).toEqual(order);
    const none = { title: 'status', workspace: null, commit: null, runUrl: null, limit: null };
    const page = renderMarkdown(reportOf(prompts, { mode: 'status' }), none);
    expect(keysIn(page.slice(0, page.indexOf('\n####', page.indexOf('Active versions'))))).toEqual(order);
    const html = renderHtml(reportOf(prompts, { mode: 'status' }), 'status');
    expect(Array.from(html.matchAll(/<details id="prompt:([a-z-]+)"/g), ([, key]) => key)).toEqual(order);
  });

  test('On a narrow terminal, status explains only the signs that its list contains', () => {
    const prompts = [prompt('a-prompt-with-a-long-name', { environments: [row('staging')] }), prompt('b', {})];
    const shown = renderStatus(reportOf(prompts, { mode: 'status' }), {
      ...{ colour: false, quiet: false, screen: makeScreen(20) },
    });
    expect(shown).toContain('a-prompt-with-a-long-name');
    expect(shown).not.toContain('·:');
    expect(status(prompts)).toContain('·:');
  });

  test('On a narrow terminal, the status matrix lists environments below each prompt', () => {
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

  test('renderStatus omits the status matrix in quiet mode or if there is no plan', () => {
    const prompts = [prompt('a', { environments: [row('staging')] })];
    const summary = { ...NO_SUMMARY, unchanged: 1 };
    expect(status(prompts, { summary }, true)).toBe('nothing to do: 1 prompt in sync.\n');
    const problems = [
      makeProblem('config/missing-service', { variables: ['PROMPTSYNC_BASE_URL'], suggestedUrl: null }),
    ];
    expect(status([prompt('a')], { plan_digest: null, problems })).toMatch(/^error: No service is configured\./);
  });
});

describe('the drift of a text report', () => {
  const drift: ReportPrompt['drift'][number] = {
    ...{ environment: 'staging', kind: 'outside', restores: true, expected: ref(1) },
    observed: { ...ref(3), made_by: 'outside' },
    pull: true,
  };
  const restore = setActive({ before: ref(3), after: ref(1) });
  const drifted = prompt('support/refund', { status: 'pending', changes: [restore], drift: [drift] });

  const linesOf = (columns: number, quiet = false) => {
    const options = { colour: false, quiet, screen: makeScreen(columns) };
    return renderText(reportOf([drifted], { base: 'main' }), options).split('\n');
  };

  test('A text report shows both commands for drift on one line below the description of the drift', () => {
    expect(linesOf(100).slice(1, 3)).toEqual([
      '  ! drift: staging serves v3, but main asks for v1. A sync restores v1.',
      '    Keep v3: promptsync pull support/refund    Restore v1: promptsync sync support/refund',
    ]);
    expect(linesOf(80, true).join('\n')).not.toContain('drift:');
  });

  test('A text report shows each command for drift on a separate line if the terminal is too narrow for both commands', () => {
    expect(linesOf(60).slice(3, 5)).toEqual([
      '    Keep v3: promptsync pull support/refund',
      '    Restore v1: promptsync sync support/refund',
    ]);
  });
});

const down = makeProblem('service/unexpected-status', { status: 503, said: '' });
const broken = makeProblem('service/unexpected-status', { status: 500, said: '' });
const placed = makeProblem('prompt/missing-id', {}, { path: 'elsewhere.md', line: 2 });
const stopped = makeProblem('apply/interrupted');

function change(key: string, problems: readonly Problem[], status: ReportPrompt['status'] = 'failed'): ReportPrompt {
  return prompt(key, { status, changes: [setActive({})], problems });
}

/** Returns a prompt with one change that a sync would make, or that it made or did not make. */
function changing(key: string, status: ReportPrompt['status'], result?: 'made' | 'not_made'): ReportPrompt {
  return prompt(key, {
    status,
    changes: [setActive({ before: ref(1), after: ref(2), ...(result && { status: result }) })],
  });
}

function changed(prompts: readonly ReportPrompt[], mode: Report['mode'] = 'apply'): Report {
  return reportOf(prompts, { mode, summary: { ...NO_SUMMARY, prompts: prompts.length, failed: prompts.length } });
}

describe('listProblems', () => {
  test.each<[string, readonly ReportPrompt[], readonly (string | undefined)[]]>([
    [
      'listProblems adds the file path to a problem that only one prompt has',
      [change('a', [down]), change('b', [])],
      ['a.md'],
    ],
    [
      'If only some prompts have the same problem, listProblems returns it once per prompt with the file path',
      [change('a', [down]), change('b', [down]), change('c', [])],
      ['a.md', 'b.md'],
    ],
    [
      'If all prompts have the same problem, listProblems returns it only once and without a file path',
      [change('a', [down]), change('b', [down])],
      [undefined],
    ],
    [
      'listProblems adds the file path to a problem that every changed prompt has but an unchanged prompt lacks',
      [change('a', [down]), change('b', [down]), prompt('c')],
      ['a.md', 'b.md'],
    ],
    [
      'listProblems adds the file path to a problem of one prompt but not to a problem that all prompts share',
      [change('a', [down, broken]), change('b', [down])],
      [undefined, 'a.md'],
    ],
    ['listProblems adds the file path to a problem if there is only one prompt', [change('a', [down])], ['a.md']],
    [
      'listProblems does not replace the file path that a problem already has',
      [change('a', [placed]), change('b', [])],
      ['elsewhere.md'],
    ],
    [
      'listProblems adds no file path if the path of the prompt is unknown',
      [{ ...change('a', [down]), path: '' }],
      [undefined],
    ],
  ])('%s', (_, prompts, paths) => {
    expect(listProblems({ problems: [], prompts }).map(({ path }) => path)).toEqual(paths);
  });

  test.each<[string, readonly ReportPrompt[], readonly string[]]>([
    [
      'The text report shows an error in the block of its prompt if no other prompt has an error of its kind',
      [change('a', [down]), change('b', [stopped]), change('c', [])],
      ['a', 'status 503', 'b', 'interrupted'],
    ],
    [
      'The text report groups errors of the same kind and shows them only once, below all prompts',
      [change('a', [down]), change('b', [broken]), change('c', [])],
      ['status 503', 'status 500'],
    ],
    [
      'If an error in another file affects several prompts, the text report shows it only once, below all prompts',
      [change('a', [placed]), change('b', [placed]), change('c', [])],
      ['elsewhere.md'],
    ],
  ])('%s', (_, prompts, expected) => {
    const lines = text(changed(prompts), true).split('\n');
    const shown = /^[abc] (?= )|status \d+|interrupted(?=.*\[)|elsewhere\.md/;
    expect(lines.flatMap((line) => shown.exec(line)?.[0].trim() ?? [])).toEqual(expected);
  });
});

describe('groupProblems', () => {
  const at = (path: string, parts: Partial<Problem> = {}): Problem => ({ ...down, path, ...parts });
  const warnAt = (path: string, message: string): Problem => ({ ...down, path, message, severity: 'warning' });

  test.each<[string, readonly Problem[], readonly (readonly string[])[]]>([
    [
      'groupProblems combines errors with the same message from two files',
      [at('a.md'), at('b.md')],
      [['a.md', 'b.md']],
    ],
    [
      'groupProblems combines warnings with the same code from two files even if their messages differ',
      [warnAt('a.md', 'x'), warnAt('b.md', 'y')],
      [['a.md', 'b.md']],
    ],
    ['groupProblems does not combine two errors from the same file', [at('a.md'), at('a.md')], [['a.md'], ['a.md']]],
    [
      'groupProblems combines errors with different messages and the same hint in two files into one list',
      ['a.md', 'b.md'].map((path) => at(path, { message: `About ${path}.` })),
      [['a.md', 'b.md']],
    ],
    [
      'groupProblems ignores the command at the end of a hint when it compares hints',
      ['a.md', 'b.md'].map((path) => at(path, { hint: `Then run: \`promptsync pull ${path}\`` })),
      [['a.md', 'b.md']],
    ],
    [
      'groupProblems combines the unknown version numbers of several prompts and environments into one list',
      ['a', 'b'].map((key) => {
        const evidence = { environment: `of-${key}`, number: 1, key, known: 'others' as const, hasPathId: false };
        return makeProblem('pin/unknown-number', evidence, { path: `${key}.md` });
      }),
      [['a.md', 'b.md']],
    ],
    [
      'groupProblems does not combine errors with different hints',
      [at('a.md', { hint: 'Do x.' }), at('b.md', { hint: 'Do y.' })],
      [['a.md'], ['b.md']],
    ],
  ])('%s', (_, problems, expected) => {
    expect(groupProblems(problems).map((group) => group.map(({ path }) => path))).toEqual(expected);
  });

  test.each<[sentence: string, hints: readonly [string, string], expected: string]>([
    [
      'combineProblems shows the command of the first hint as an example if only the commands differ',
      ['Pin it. To see more, run: `promptsync plan a`', 'Pin it. To see more, run: `promptsync plan b`'],
      'Pin it. To see more, run, for example: `promptsync plan a`',
    ],
    [
      'combineProblems shows the first hint as an example if the hints differ',
      ['Do x.', 'Do y.'],
      'For example, in `a.md`: Do x.',
    ],
  ])('%s', (_, [first, second], expected) => {
    const group = [at('a.md', { hint: first }), at('b.md', { hint: second })] as const;
    expect(combineProblems(group).title.hint).toBe(expected);
  });
});

describe('the report of an interrupted run', () => {
  const report = changed([change('a', [], 'applied'), change('b', [stopped], 'not_attempted')]);

  test('The summary of an interrupted run starts with the word Interrupted', () => {
    const summary = { ...NO_SUMMARY, prompts: 2, applied: 1, not_attempted: 1 };
    expect(text({ ...report, summary }, true)).toContain('Interrupted. Nothing applied. 1 not attempted.');
    expect(isInterrupted(report)).toBe(true);
  });

  test.each([
    ['pull', 'unchanged'],
    ['promote', 'unchanged'],
    ['rollback', 'unchanged'],
    ['import', 'already here'],
  ] as const)(
    'The summary of an interrupted %s starts with "Interrupted" and counts the other prompts as "%s"',
    (mode, note) => {
      const stoppedRun = changed([change('a', [], 'unchanged'), change('b', [stopped], 'failed')], mode);
      const cut = { ...stoppedRun, plan_digest: null };
      expect(text(cut, true)).toContain(`Interrupted. 1 prompt failed, 1 ${note}.`);
    },
  );

  test('After an interrupted rollback that made a commit, the summary does not claim that nothing changed', () => {
    const prompts = [change('a', [stopped], 'not_attempted')];
    const before = reportOf(prompts, { mode: 'rollback' });
    expect(renderEndedRun(before)).toBe('Interrupted. promptsync made no changes.');
    expect(renderEndedRun({ ...before, committed: { commit: 'f'.repeat(40), branch: 'rollback' } })).toBeNull();
  });

  test('An HTML report does not show an interrupted run as a success', () => {
    const cut = changed([change('a', [], 'unchanged'), change('b', [stopped], 'not_attempted')], 'dry-run');
    expect(renderHtml(cut, 'x')).toContain('<p class="outcome bad">Interrupted.');
  });

  test('isInterrupted returns false if a run failed without being interrupted', () => {
    expect(isInterrupted(changed([change('a', [down])]))).toBe(false);
  });
});

test.each<[string, Report['mode'], 'outside' | 'unfinished', string]>([
  [
    'The summary of a plan counts prompts with drift caused outside git',
    'dry-run',
    'outside',
    'Plan: 1 of 1 prompt changes (1 activation). 1 prompt has drifted.\n',
  ],
  [
    'The summary of a plan does not count prompts with unfinished drift',
    'dry-run',
    'unfinished',
    'Plan: 1 of 1 prompt changes (1 activation).\n',
  ],
  [
    'The summary of an apply does not count prompts with drift caused outside git',
    'apply',
    'outside',
    'Applied: 1 prompt (1 activation).\n',
  ],
])('%s', (_, mode, kind, line) => {
  const drift = [{ field: 'name', kind, restores: false, expected: 'a', observed: 'b' }] as const;
  const one = { ...(mode === 'apply' ? changing('a', 'applied', 'made') : changing('a', 'pending')), drift };
  const report = { ...changed([one], mode), summary: { ...NO_SUMMARY, prompts: 1, set_active: 1 } };
  expect(text(report, true)).toContain(line);
});
