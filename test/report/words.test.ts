import { describe, expect, test } from 'vitest';
import { listBreakingChanges } from '../../src/domain/text-changes.ts';
import type { ReportChange, ReportDrift } from '../../src/report/schema/report-schema.ts';
import { describeCloneHints } from '../../src/report/describe-changes.ts';
import { listEntries } from '../../src/report/change-entries.ts';
import { describeBreakingChanges } from '../../src/report/describe-breaking-changes.ts';
import { promptOf, ref, reportOf, type SetActive, setActive } from './support.ts';

// test/domain/variables-and-names.test.ts proves which variables are added and removed.
describe('listBreakingChanges', () => {
  const textOf = (text: string) => ({ type: 'text', text, metadata: undefined }) as const;

  test('listBreakingChanges reports no change for the first version of a prompt or for an unknown text', () => {
    const text = textOf('{{x}}');
    expect(listBreakingChanges({ before: null, after: text })).toEqual([]);
    expect(listBreakingChanges({ before: 'unknown', after: text })).toEqual([]);
    expect(listBreakingChanges({ before: text, after: 'unknown' })).toEqual([]);
  });

  test('listBreakingChanges reports changes of 100,000 variables in bounded time', () => {
    const [before, after] = ['a', 'b'].map((name) => {
      return textOf(Array.from({ length: 100_000 }, (_, index) => `{{${name}${index}}}`).join(''));
    });
    expect(listBreakingChanges({ before: before!, after: after! })).toHaveLength(200_000);
  });
});

// The recorded plan shows all kinds of breaking changes.
const key: ReportChange = { kind: 'update-prompt', fields: { key: { before: 'k/0', after: 'k/1' } } };
const serves = (environment: string, variable: string) =>
  setActive({ environment, breaking: [{ variable, kind: 'added' }] });

test.each<[string, Partial<Pick<ReportDrift, 'kind' | 'restores'>>, number]>([
  ['describeBreakingChanges ignores changes that only undo drift caused outside git', {}, 0],
  [
    'describeBreakingChanges lists changes that replace drift caused outside git with a new state',
    { restores: false },
    2,
  ],
  ['describeBreakingChanges lists changes that finish an interrupted sync', { kind: 'unfinished' }, 2],
])('%s', (_, parts, count) => {
  const drift = { kind: 'outside', restores: true, ...parts } as const;
  const moved = { environment: 'p', expected: ref(1), observed: { ...ref(2), made_by: 'outside' } } as const;
  const prompt = promptOf({
    changes: [serves('p', 'x'), key],
    drift: [
      { ...moved, ...drift },
      { field: 'key', expected: 'k/1', observed: 'k/0', ...drift },
    ],
  });
  expect(describeBreakingChanges(prompt, String)).toHaveLength(count);
  const elsewhere = { ...prompt, changes: [...prompt.changes, serves('s', 'y')] };
  expect(describeBreakingChanges(elsewhere, String)).toHaveLength(count + 1);
});

describe('the entries about messages', () => {
  const listMessages = (changes: readonly ReportChange[]) =>
    listEntries(promptOf({ type: 'chat', changes }), reportOf([]), String).flatMap(({ kind, text }) =>
      kind === 'messages' ? [text] : [],
    );
  const changeOf = (environment: string, before: readonly string[], after: readonly string[]) =>
    setActive({ environment, before: ref(1), messages: { before, after } });
  const changesOf = (before: readonly string[], after: readonly string[]) =>
    listMessages([changeOf('staging', before, after)]);

  test('listEntries shows the same change of messages in several environments once and without their names', () => {
    const changes = ['staging', 'production'].map((environment) =>
      changeOf(environment, ['user'], ['user', 'history*']),
    );
    expect(listMessages(changes)).toEqual(['messages: user → user, history*']);
  });

  test('listEntries shortens long lists of messages and long names without cutting a character in half', () => {
    const names = Array.from({ length: 1_050 }, (_, index) => `role-${index}`);
    const [line = ''] = changesOf([], [...names, 'last']);
    expect(line).toMatch(/^messages: none → role-0, role-1, .*role-49, … 1,001 more$/);
    expect(changesOf(['user'], [`${'x'.repeat(99)}😀`])).toEqual([`messages: user → ${'x'.repeat(99)}…`]);
  });
});

describe('the entries about changes, and describeCloneHints', () => {
  const since = { commit: '1a2b3c4d5e6f7890', date: '2026-07-28' };
  const behindNote = ' (your branch is behind main)';
  const REPORT = { mode: 'dry-run', branch: 'main', commit: 'ffff' } as const;

  // The recorded plan shows notes with a commit and notes about a branch that is behind.
  test.each<[string, Partial<SetActive>, { readonly branch?: undefined; readonly commit?: string }, string]>([
    [
      'listEntries adds no commit that is not on the live branch',
      { wanted_since: { ...since, unmerged: true } },
      {},
      '',
    ],
    [
      'listEntries adds no commit if the report is for that commit',
      { wanted_since: since },
      { commit: since.commit },
      '',
    ],
    ['listEntries adds no commit if the live branch is unknown', { wanted_since: since }, { branch: undefined }, ''],
    ['listEntries adds no note to a change that the run made', { behind: true, status: 'made' }, {}, ''],
    [
      'listEntries adds the note to a change that the run did not make',
      { behind: true, status: 'not_made' },
      {},
      `${behindNote} (not made)`,
    ],
  ])('%s', (_, notes, parts, expected) => {
    const changes = [setActive({ before: ref(1), after: ref(2), ...notes })];
    const entries = listEntries(promptOf({ changes }), { ...REPORT, ...parts }, String);
    expect(entries.map(({ text }) => text)).toEqual([`staging: v1 → v2${expected}`]);
  });

  test('listEntries names an invisible difference of a field', () => {
    const name = { before: 'Caf\u00e9', after: 'Cafe\u0301' };
    const [entry] = listEntries(promptOf({ changes: [{ kind: 'update-prompt', fields: { name } }] }), REPORT, String);
    expect(entry?.text).toBe('name: "Caf\u00e9" → "Cafe\u0301" (only Unicode normalization differs)');
  });

  test('listEntries shows a change that somebody made in the service even if the note of the change names a commit', () => {
    const drift = {
      ...({ environment: 'staging', kind: 'outside', restores: true, expected: ref(2) } as const),
      observed: { ...ref(1), made_by: 'git' as const },
    };
    const changes = [setActive({ before: ref(1), after: ref(2), wanted_since: since })];
    const entries = listEntries(promptOf({ changes, drift: [drift] }), REPORT, String);
    expect(entries.map(({ kind }) => kind)).toEqual(['drift', 'set-active']);
  });

  test('describeCloneHints returns a single hint even if several changes show that the branch is behind the live branch', () => {
    const behind = setActive({ behind: true });
    const hintOf = (changes: readonly ReportChange[], branch: string | undefined = 'main') =>
      describeCloneHints(reportOf([promptOf({ changes }), promptOf({ changes })], { branch }), (text) => `<${text}>`);
    const hint =
      'Your branch is behind <main>. Run <git fetch>, then merge the newest <main>, for example with <git merge origin/main>.';
    expect(hintOf([behind, behind])).toEqual([hint]);
    expect(hintOf([setActive({ wanted_since: since })])).toEqual([]);
    expect(hintOf([{ ...behind, status: 'made' }])).toEqual([]);
  });
});
