import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { annotate, annotateRun } from '../../src/action/annotate.ts';
import { chooseMode, type Mode } from '../../src/action/choose-mode.ts';
import { differing, failureOf, type FailureReason } from '../../src/action/failure.ts';
import { INPUT_NAMES, readInputs, type Inputs } from '../../src/action/inputs.ts';
import { markerOf } from '../../src/action/marker.ts';
import { planMark, shownParts } from '../../src/action/plan-mark.ts';
import { pathsFromRoot } from '../../src/action/paths.ts';
import { notRun } from '../../src/commands/result.ts';
import { parseEvent, type Event } from '../../src/github/event.ts';
import { ProblemError, problemOf } from '../../src/problem.ts';
import { makeReport } from '../../src/report/make-report.ts';
import type { Report, ReportProblem, ReportPrompt } from '../../src/report/schema.ts';
import { makeWorkspace } from '../support/folder.ts';
import { pullEvent, pushEvent, scheduleEvent } from './events.ts';
import { inputsOf, makeRunner } from './support.ts';

const MAIN = 'refs/heads/main';
const HEAD = 'a'.repeat(40);
const BASE = 'b'.repeat(40);

/** What a call comes to, or the problem that it throws. */
function endOf(call: () => string): string {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { code, message } = problemOf(error);
    return `${code}: ${message}`;
  }
}

describe('the mode', () => {
  const pull = pullEvent(7, HEAD, BASE);
  const home = scheduleEvent();
  const eventOf = (words: string): Event => {
    const [name = '', ref = MAIN] = words.split(' ');
    return parseEvent(name, ref, name.startsWith('pull_request') ? pull : home);
  };

  test.each<[string, string, string, string, string]>([
    // The event, and what auto, plan, sync and drift come to.
    ['pull_request refs/pull/7/merge', 'plan', 'plan', 'refused', 'drift'],
    ['pull_request_target', 'plan', 'plan', 'refused', 'drift'],
    ['merge_group refs/heads/gh-readonly-queue/main/pr-7', 'plan', 'plan', 'sync', 'drift'],
    ['push', 'sync', 'plan', 'sync', 'drift'],
    ['push refs/heads/other', 'plan', 'plan', 'sync', 'drift'],
    ['push refs/heads/main-2', 'plan', 'plan', 'sync', 'drift'],
    ['push refs/heads/feature/refs/heads/main', 'plan', 'plan', 'sync', 'drift'],
    ['push refs/tags/main', 'plan', 'plan', 'sync', 'drift'],
    ['push main', 'plan', 'plan', 'sync', 'drift'],
    ['schedule', 'drift', 'plan', 'sync', 'drift'],
    ['workflow_dispatch', 'drift', 'plan', 'sync', 'drift'],
    ['repository_dispatch', 'drift', 'plan', 'sync', 'drift'],
    ['release', 'unsupported', 'plan', 'sync', 'drift'],
    ['pull_request_review', 'unsupported', 'plan', 'refused', 'drift'],
    ['', 'unsupported', 'plan', 'sync', 'drift'],
  ])('%s: auto is %s, plan %s, sync %s, drift %s', (words, ...expected) => {
    const short = (told: string): string =>
      told.replace(/^guard\/not-merged: .*$/, 'refused').replace(/^action\/unsupported-event: .*$/, 'unsupported');
    const modes = ['auto', 'plan', 'sync', 'drift'] as const;
    expect(modes.map((mode) => short(endOf(() => chooseMode(mode, eventOf(words)))))).toEqual(expected);
  });

  test.each<[string, string, string]>([
    ['a push whose payload does not name the default branch', 'push', 'push: its payload does not name the default'],
    ['an event that is not known', 'issues', 'issues: it is no event that it knows'],
  ])('%s is told with its name', (_, name, expected) => {
    expect(endOf(() => chooseMode('auto', parseEvent(name, MAIN, {})))).toContain(expected);
  });

  test('a push that is told what to do needs no default branch', () => {
    expect(chooseMode('sync', parseEvent('push', MAIN, {}))).toBe('sync');
  });

  test('a push of the default branch compares with what was there before', () => {
    expect(parseEvent('push', MAIN, pushEvent(HEAD, BASE))).toMatchObject({ before: BASE, defaultBranch: 'main' });
  });
});

describe('the inputs', () => {
  test('without any are the defaults', () => {
    expect(inputsOf()).toEqual({
      mode: 'auto',
      comment: 'always',
      'working-directory': '.',
      'require-reviewed-plan': false,
      'drift-issue': false,
    });
  });

  test('are read each', () => {
    const given = {
      ...{ mode: 'plan', config: 'a.yaml', 'working-directory': 'sub', 'base-url': 'https://a.example' },
      ...{ 'api-key': 'key', 'github-token': 'token', comment: 'changes', 'on-drift': 'fail' },
      ...{ 'max-changes': '25%', 'require-reviewed-plan': 'true', 'drift-issue': 'false' },
    };
    expect(Object.keys(given).toSorted()).toEqual([...INPUT_NAMES].toSorted());
    expect(inputsOf(given)).toEqual({
      ...given,
      'max-changes': { kind: 'percent', percent: 25 },
      'require-reviewed-plan': true,
      'drift-issue': false,
    });
  });

  test.each<[string, string, string]>([
    ['mode', 'apply', 'expected auto, plan, sync, drift'],
    ['mode', 'PLAN', 'expected auto, plan, sync, drift'],
    ['comment', 'sometimes', 'expected always, changes, never'],
    ['on-drift', 'ignore', 'expected overwrite, fail'],
    ['max-changes', 'many', 'expected a number, or a percentage such as 25%'],
    ['max-changes', '-1', 'expected a number, or a percentage such as 25%'],
    ['max-changes', '101%', 'expected a number, or a percentage such as 25%'],
    ['require-reviewed-plan', 'yes', 'expected true or false'],
    ['require-reviewed-plan', 'True', 'expected true or false'],
    ['drift-issue', '1', 'expected true or false'],
  ])('%s: %j is told by name, and the secrets before', (name, value, expected) => {
    const runner = makeRunner({ [name]: value, 'api-key': 'key', 'github-token': 'token' });
    const told = endOf(() => JSON.stringify(readInputs(runner)));
    expect(told).toContain(`action/invalid-input: The input \`${name}\` is not valid: ${expected}`);
    expect(runner.secrets).toEqual(['key', 'token']);
  });

  test('that were not given are no secrets', () => {
    const runner = makeRunner({ mode: 'drift' });
    readInputs(runner);
    expect(runner.secrets).toEqual([]);
  });
});

describe('why a run is no success', () => {
  type Status = ReportPrompt['status'];
  const blocked = (...codes: readonly string[]): ReportPrompt => promptOf('blocked', codes);

  test.each<[string, Mode, number, boolean, readonly ReportPrompt[], FailureReason]>([
    ['all is well', 'sync', 0, true, [promptOf('applied')], ''],
    ['a plan may differ', 'plan', 0, true, [promptOf('pending')], ''],
    ['drift may not', 'drift', 0, true, [promptOf('unchanged'), promptOf('pending')], 'drift'],
    ['no drift', 'drift', 0, true, [promptOf('unchanged')], ''],
    ['it could not begin', 'plan', 1, false, [], 'invalid'],
    ['nothing could be observed', 'sync', 1, true, [promptOf('failed')], 'failed'],
    ['something failed', 'sync', 4, true, [promptOf('failed'), blocked('guard/drift')], 'failed'],
    ['it was interrupted', 'sync', 130, true, [promptOf('not_attempted')], 'failed'],
    ['drift stands in the way', 'sync', 3, true, [blocked('guard/drift'), promptOf('applied')], 'drift'],
    ['so it does on a schedule', 'drift', 3, true, [blocked('guard/drift')], 'drift'],
    ['drift and more', 'sync', 3, true, [blocked('guard/drift'), blocked('guard/max-changes')], 'refused'],
    ['drift and more in one prompt', 'sync', 3, true, [blocked('guard/drift', 'guard/max-changes')], 'refused'],
    ['something else', 'plan', 3, true, [blocked('pin/unresolvable')], 'refused'],
    ['something newer is there', 'sync', 3, true, [blocked('guard/superseded')], 'superseded'],
    ['that goes first', 'sync', 3, true, [blocked('guard/drift'), blocked('guard/superseded')], 'superseded'],
    ['a warning is no reason', 'sync', 3, true, [blocked('guard/drift', 'warning/any')], 'drift'],
    ['what is not blocked is none', 'sync', 3, true, [blocked('guard/drift'), promptOf('failed', ['a/b'])], 'drift'],
  ])('%s', (_, mode, exitCode, planned, prompts, expected) => {
    const nothing = notRun('apply', { files: [], problems: [] });
    const run = planned ? { ...nothing, plan: { prompts: [], digest: '' } } : nothing;
    expect(failureOf(mode, { run, exitCode }, reportOf(prompts))).toBe(expected);
  });

  test('what differs is what the service holds otherwise: pending or blocked', () => {
    const all = ['unchanged', 'pending', 'blocked', 'failed', 'applied', 'not_attempted'] as const;
    const differ = all.filter((status) => differing(reportOf([promptOf('unchanged'), promptOf(status)])) > 0);
    expect(differ).toEqual(['pending', 'blocked']);
  });

  function promptOf(status: Status, codes: readonly string[] = []): ReportPrompt {
    const problems = codes.map((code) => problemOfKind(code.startsWith('warning/') ? 'warning' : 'error', { code }));
    return { path: 'prompts/a.md', id: 'prm_a', key: 'a', status, changes: [], drift: [], problems };
  }
});

function reportOf(prompts: readonly ReportPrompt[]): Report {
  return { ...makeReport(notRun('apply', { files: [], problems: [] })), prompts };
}

function problemOfKind(severity: ReportProblem['severity'], parts: Partial<ReportProblem> = {}): ReportProblem {
  return { code: 'prompt/any', severity, message: 'What happened.', hint: 'What to do.', ...parts };
}

describe('the marker', () => {
  const markerAt = (folder: string, config = ''): string => markerOf(inputsOf({ 'working-directory': folder, config }));

  test('is a comment of one line', () => {
    expect(markerAt('.')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
    expect(markerAt('--> a\n', '--> b\n')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
  });

  test.each<[string, readonly string[]]>([
    ['the root', ['.', './', '', './.', 'sub/..']],
    ['a folder', ['sub', './sub', 'sub/', 'sub/.', 'sub//', 'a/../sub']],
  ])('is one for %s, however it is written', (_, folders) => {
    expect(new Set(folders.map((folder) => markerAt(folder))).size).toBe(1);
  });

  test('is another for each other folder and configuration', () => {
    const places = [
      ...[['.'], ['sub'], ['sub/deep'], ['Sub'], ['.', 'a.yaml'], ['.', 'b.yaml'], ['sub', 'a.yaml'], ['a.yaml']],
    ];
    expect(new Set(places.map(([folder = '', config]) => markerAt(folder, config))).size).toBe(places.length);
  });

  test('does not change with anything else', () => {
    const other: Partial<Inputs> = { mode: 'drift', 'api-key': 'key', 'base-url': 'https://a.example' };
    expect(markerOf({ ...inputsOf(), ...other })).toBe(markerAt('.'));
  });
});

describe('the plan that a comment shows', () => {
  const digest = `sha256:${'0a'.repeat(32)}`;
  const parts = ['1'.repeat(16), '2'.repeat(16)];
  const line = planMark(digest, parts);
  test.each<[string, string, readonly string[] | null]>([
    ['stands in its second line', `marker\n${line}\ntext`, parts],
    ['also as GitHub gives it back, with CRLF', `marker\r\n${line}\r\ntext`, parts],
    ['also where nothing follows', `marker\n${line}`, parts],
    ['may have no part', `marker\n${planMark(digest, [])}\n`, []],
    ['is not read further down', `marker\n\n${line}\n`, null],
    ['nor in the first line', `${line}\ntext`, null],
    ['nor with anything before it', `marker\n ${line}\n`, null],
    ['nor with anything after it', `marker\n${line} \n`, null],
    ['nor behind a lone carriage return', `marker\r${line}\n`, null],
    ['nor with another digest', `marker\n${line.replace('0a', '0b')}\n`, null],
    ['nor with another part', `marker\n${line.replace('1111', '3333')}\n`, null],
    ['nor with one part less', `marker\n${line.replace(` ${parts[0]}`, '')}\n`, null],
    ['nor without a digest', 'marker\n<!-- plan sha256: -->\n', null],
    ['nor where there is none', '', null],
  ])('%s', (_, body, expected) => {
    expect(shownParts(body)).toEqual(expected);
  });
});

describe('annotations', () => {
  const many = (severity: ReportProblem['severity'], count: number): readonly ReportProblem[] =>
    Array.from({ length: count }, (_, n) => problemOfKind(severity, { message: `${severity} ${n + 1}.` }));
  const told = (problems: readonly ReportProblem[]): readonly string[] => {
    const runner = makeRunner();
    annotate(problems, (path) => `root/${path}`, runner);
    return runner.annotations.map(({ kind, text }) => `${kind}: ${text}`);
  };

  test.each<[number, string | undefined]>([
    [9, undefined],
    [10, 'error: 1 more error: see the summary of the run.'],
    [12, 'error: 3 more errors: see the summary of the run.'],
  ])('of %i of a kind nine are told, and how many more there are', (count, more) => {
    const lines = told(many('error', count));
    expect(lines.slice(0, 9)).toEqual(many('error', 9).map(({ message }) => `error: ${message} What to do.`));
    expect(lines.slice(9)).toEqual(more === undefined ? [] : [more]);
  });

  test('count errors and warnings apart, errors first', () => {
    const lines = told([...many('warning', 11), ...many('error', 9)]);
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      ...Array.from({ length: 9 }, () => 'error'),
      ...Array.from({ length: 10 }, () => 'warning'),
    ]);
    expect(lines.at(-1)).toBe('warning: 2 more warnings: see the summary of the run.');
  });

  test('tell equal problems once', () => {
    const one = problemOfKind('error', { path: 'a.md', line: 3 });
    expect(told(Array.from({ length: 20 }, () => ({ ...one })))).toHaveLength(1);
    expect(told([one, { ...one, line: 4 }])).toHaveLength(2);
  });

  test('of nothing are none', () => {
    expect(told([])).toEqual([]);
  });

  test.each<[string, Partial<ReportProblem>, object]>([
    ['without a path', {}, { title: 'prompt/any' }],
    ['with a path', { path: 'a.md' }, { title: 'prompt/any', file: 'root/a.md' }],
    ['with a line', { path: 'a.md', line: 3 }, { title: 'prompt/any', file: 'root/a.md', startLine: 3 }],
    [
      'with a column',
      { path: 'a.md', line: 3, column: 5 },
      { title: 'prompt/any', file: 'root/a.md', startLine: 3, startColumn: 5 },
    ],
    ['with a path that hides something', { path: 'a\u202e.md' }, { title: 'prompt/any', file: 'root/a\\u{202e}.md' }],
  ])('have the place of a problem %s', (_, parts, place) => {
    const runner = makeRunner();
    annotate([problemOfKind('error', parts)], (path) => `root/${path}`, runner);
    expect(runner.annotations.map((one) => one.place)).toEqual([place]);
  });

  test.each<[string, string]>([
    ['::error::x', '\\u{3a}:error::x What to do.'],
    ['  ::error::x', '  \\u{3a}:error::x What to do.'],
    ['a ##[error]x', 'a ##\\u{5b}error]x What to do.'],
    ['a\n::error::x', 'a\\u{a}::error::x What to do.'],
    ['a\r\n::error::x', 'a\\u{d}\\u{a}::error::x What to do.'],
    ['a\u202eb\u0000', 'a\\u{202e}b\\u{0} What to do.'],
  ])('are inert: %j', (message, expected) => {
    const runner = makeRunner();
    const problem = problemOfKind('error', { message });
    annotate([problem], (path) => path, runner);
    annotateRun('notice', problem, runner);
    expect(runner.annotations.map(({ kind, text }) => [kind, text])).toEqual([
      ['error', expected],
      ['notice', expected],
    ]);
  });
});

describe('a path from the root of the repository', () => {
  const files = { '.git/HEAD': '', 'promptsync.yaml': '', 'team/ws/promptsync.yaml': '', 'team/ws/my.yaml': '' };
  test.each<[string, string, string, string, string]>([
    ['at the root', '.', '', 'prompts/a.md', 'prompts/a.md'],
    ['below it', 'team/ws', '', 'prompts/a.md', 'team/ws/prompts/a.md'],
    ['the configuration itself', 'team/ws', '', 'promptsync.yaml', 'team/ws/promptsync.yaml'],
    ['a folder below the configuration', 'team/ws/prompts', '', 'prompts/a.md', 'team/ws/prompts/a.md'],
    ['a folder whose configuration is at the root', 'team', '', 'prompts/a.md', 'prompts/a.md'],
    ['a configuration that was named', '.', 'team/ws/my.yaml', 'prompts/a.md', 'team/ws/prompts/a.md'],
    ['by its name', '.', 'team/ws/my.yaml', 'team/ws/my.yaml', 'team/ws/my.yaml'],
    ['by its name from a folder', 'team', 'ws/my.yaml', 'ws/my.yaml', 'team/ws/my.yaml'],
    ['outside of the configuration’s folder', 'team/ws', '', '../../a.md', 'a.md'],
    ['with odd characters', '.', '', 'prompts/ü #[1].md', 'prompts/ü #[1].md'],
  ])('%s', (_, at, config, path, expected) => {
    const folder = join(makeWorkspace({ ...files, 'team/ws/prompts/.keep': '' }), at);
    expect(pathsFromRoot({ inputs: inputsOf({ config }), folder })(path)).toBe(expected);
  });
});
