import { describe, expect, test } from 'vitest';
import { makeProblem, type Problem } from '../../../src/problem.ts';
import { renderHtml } from '../../../src/report/formats/html-page.ts';
import { renderStatus } from '../../../src/report/formats/status-matrix.ts';
import { renderEndedRun } from '../../../src/report/formats/summary.ts';
import { renderText } from '../../../src/report/formats/terminal-text.ts';
import { combineProblems, groupProblems, listProblems } from '../../../src/report/problem-list.ts';
import type { Report, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { makeScreen } from '../../../src/report/terminal-screen.ts';
import { promptOf, ref, reportOf, setActive, summarize } from '../support.ts';

const down = makeProblem('service/unexpected-status', { status: 503, said: '' });
const broken = makeProblem('service/unexpected-status', { status: 500, said: '' });
const stopped = makeProblem('apply/interrupted');

/** Returns a prompt with a change. */
const change = (key: string, problems: readonly Problem[], parts: Partial<ReportPrompt> = {}) =>
  promptOf({ key, status: 'failed', changes: [setActive({})], problems, ...parts });

const report = (prompts: readonly ReportPrompt[], parts: Partial<Report> = {}) =>
  reportOf(prompts, { summary: summarize(prompts), ...parts });
const summaryOf = (one: Report) => renderText(one, { colour: false, quiet: true });

test('Outside a git repository, the next step after a pull conflict is to run promptsync sync', () => {
  const conflict = report([change('a', [makeProblem('pull/conflict', { places: 1 })])], {
    mode: 'pull',
    commit: null,
  });
  expect(summaryOf(conflict)).toContain(
    'Next: resolve the conflicts in the files, then run promptsync sync (in a git repository, commit first).\n',
  );
});

describe('a report on a narrow terminal', () => {
  const row = { environment: 'staging', pin: 'latest', active: ref(1), wanted: ref(1), in_sync: true };

  test('On a narrow terminal, status lists environments below each prompt and explains only the signs of this list', () => {
    const prompts = [
      promptOf({ key: 'a-prompt-with-a-long-name', environments: [{ ...row, wanted: ref(2), in_sync: false }] }),
      promptOf({ key: 'b', environments: [row, { ...row, environment: 'production' }] }),
    ];
    const shown = renderStatus(report(prompts, { mode: 'status' }), {
      ...{ colour: false, quiet: false, screen: makeScreen(30) },
    });
    expect(shown).toMatch(
      /^a-prompt-with-a-long-name\n {2}staging: v1 → v2\nb\n {2}staging: v1\n {2}production: v1\n\n(?![^]*·:)/,
    );
  });

  test('A text report shows each command for drift on a separate line if the terminal is too narrow for both commands', () => {
    const drift = {
      ...({ environment: 'staging', kind: 'outside', restores: true, expected: ref(1), pull: true } as const),
      observed: { ...ref(3), made_by: 'outside' as const },
    };
    const changes = [setActive({ before: ref(3), after: ref(1) })];
    const drifted = report([promptOf({ key: 'support/refund', status: 'pending', changes, drift: [drift] })]);
    expect(renderText(drifted, { colour: false, quiet: false, screen: makeScreen(60) })).toContain(
      '\n    Keep v3: promptsync pull support/refund\n    Restore v1: promptsync sync support/refund\n',
    );
  });
});

// The recorded reports show problems of all prompts, and lists of files.
describe('listProblems', () => {
  test.each<[string, readonly ReportPrompt[], readonly (string | undefined)[]]>([
    [
      'listProblems returns a problem of some prompts once for each of them',
      [change('a', [down]), change('b', [down]), change('c', [])],
      ['a.md', 'b.md'],
    ],
    [
      'listProblems adds the path only to the problem that is not shared',
      [change('a', [down, broken]), change('b', [down])],
      [undefined, 'a.md'],
    ],
    ['listProblems adds the path to the problem of the only prompt', [change('a', [down])], ['a.md']],
    [
      'listProblems adds no path if the path of the prompt is unknown',
      [change('a', [down], { path: '' })],
      [undefined],
    ],
  ])('%s', (_, prompts, paths) => {
    expect(listProblems({ problems: [], prompts }).map(({ path }) => path)).toEqual(paths);
  });

  test('listProblems returns the problems of the whole run before those of the prompts', () => {
    const listed = listProblems({ problems: [stopped], prompts: [change('b', [down]), change('a', [broken])] });
    expect(listed.map(({ path }) => path)).toEqual([undefined, 'b.md', 'a.md']);
  });
});

describe('groupProblems', () => {
  const at = (path: string, parts: Partial<Problem> = {}): Problem => ({ ...down, path, ...parts });
  const pin = (key: string) => {
    const evidence = { environment: `of-${key}`, number: 1, key, known: 'others' as const, hasPathId: false };
    return makeProblem('pin/unknown-number', evidence, { path: `${key}.md` });
  };
  const together = [['a.md', 'b.md']];

  test.each<[string, readonly Problem[], readonly (readonly string[])[]]>([
    [
      'groupProblems combines errors with different messages and the same hint',
      [at('a.md', { message: 'About a.' }), at('b.md', { message: 'About b.' })],
      together,
    ],
    ['groupProblems combines errors whose hints differ only in the command at the end', [pin('a'), pin('b')], together],
    [
      'groupProblems does not combine errors with different hints',
      [at('a.md', { hint: 'Do x.' }), at('b.md', { hint: 'Do y.' })],
      [['a.md'], ['b.md']],
    ],
  ])('%s', (_, problems, expected) => {
    expect(groupProblems(problems).map((group) => group.map(({ path }) => path))).toEqual(expected);
  });

  test.each([
    [
      'combineProblems shows as an example the command of the first hint if only the commands differ',
      ['Pin it. To see more, run: `promptsync plan a`', 'Pin it. To see more, run: `promptsync plan b`'],
      'Pin it. To see more, run, for example: `promptsync plan a`',
    ],
    [
      'combineProblems shows as an example the first hint if the hints differ',
      ['Do x.', 'Do y.'],
      'For example, in `a.md`: Do x.',
    ],
  ] as const)('%s', (_, [first, second], expected) => {
    const group = [at('a.md', { hint: first }), at('b.md', { hint: second })] as const;
    expect(combineProblems(group).title.hint).toBe(expected);
  });
});

describe('the report of an interrupted run', () => {
  const cut = (mode: Report['mode']) => report([promptOf(), change('b', [stopped])], { mode, plan_digest: null });

  test('The summary of an interrupted import starts with "Interrupted" and counts the other prompts', () => {
    expect(summaryOf(cut('import'))).toContain('Interrupted. 1 prompt failed, 1 already here.');
  });

  test('After an interrupted rollback that made a commit, the summary does not claim that nothing changed', () => {
    const before = report([change('a', [stopped], { status: 'not_attempted' })], { mode: 'rollback' });
    expect(renderEndedRun(before)).toBe('Interrupted. promptsync made no changes.');
    expect(renderEndedRun({ ...before, committed: { commit: 'f'.repeat(40), branch: 'rollback' } })).toBeNull();
  });

  test('An HTML report does not show an interrupted run as a success', () => {
    expect(renderHtml(cut('dry-run'), 'x')).toContain('<p class="outcome bad">Interrupted.');
  });
});
