import { describe, expect, test } from 'vitest';
import { listBreakingChanges } from '../../src/domain/text-changes.ts';
import type { ReportChange, ReportDrift } from '../../src/report/schema/report-schema.ts';
import { describeCloneHints } from '../../src/report/describe-changes.ts';
import { listEntries } from '../../src/report/change-entries.ts';
import { describeBreakingChanges, describeUnusedInputs } from '../../src/report/describe-breaking-changes.ts';
import { promptOf, ref, reportOf, setActive } from './support.ts';

type Side = string | 'unknown' | null;
const added = (variable: string) => ({ variable, kind: 'added' as const });
const removed = (variable: string) => ({ variable, kind: 'removed' as const });

const manyNames = (prefix: string) => Array.from({ length: 100_000 }, (_, index) => `${prefix}${index}`);
const manyVariables = (prefix: string) =>
  manyNames(prefix)
    .map((name) => `{{${name}}}`)
    .join('');

// test/domain/variables-and-names.test.ts proves which names are variables.
describe('listBreakingChanges', () => {
  test.each<[string, Side, string, readonly object[]]>([
    [
      'listBreakingChanges reports no change in white space, order and repetition',
      '{{a}} {{b}}',
      '{{ b }}{{a}}{{a}}',
      [],
    ],
    ['listBreakingChanges reports no change for the first version of a prompt', null, '{{name}}', []],
    ['listBreakingChanges reports no change if the current text is unknown', 'unknown', '{{x}}', []],
    ['listBreakingChanges reports no change if the new text is unknown', '{{x}}', 'unknown', []],
    [
      'listBreakingChanges reports a renamed variable as added and removed',
      '{{old}}',
      '{{new}}',
      [added('new'), removed('old')],
    ],
    [
      'listBreakingChanges reports changes of 100,000 variables in bounded time',
      manyVariables('a'),
      manyVariables('b'),
      [...manyNames('b').map(added), ...manyNames('a').map(removed)],
    ],
  ])('%s', (_, before, after, expected) => {
    const side = (text: string) => (text === 'unknown' ? text : { type: 'text' as const, text, metadata: undefined });
    expect(listBreakingChanges({ before: before === null ? null : side(before), after: side(after) })).toEqual(
      expected,
    );
  });
});

describe('describeBreakingChanges and describeUnusedInputs', () => {
  const show = (text: string) => `<${text}>`;
  const key: ReportChange = { kind: 'update-prompt', fields: { key: { before: 'k/0', after: 'k/1' } } };
  const name: ReportChange = { kind: 'update-prompt', fields: { name: { before: 'a', after: 'b' } } };
  const serves = (environment: string, ...breaking: readonly ReturnType<typeof added | typeof removed>[]) =>
    setActive({ environment, breaking });
  const keyText = 'the key changes from <k/0> to <k/1>. Callers that use the old key must be updated.';
  const more = 'the variable <{{x}}> is added. Callers must supply it.';
  const less = 'the variable <{{x}}> is removed. Callers no longer need to supply it.';

  test.each<[string, readonly ReportChange[], readonly string[], readonly string[]]>([
    ['describeBreakingChanges and describeUnusedInputs list nothing if only the name changes', [name], [], []],
    [
      'describeBreakingChanges and describeUnusedInputs list a changed key before changed variables',
      [serves('s', added('x')), key],
      [keyText, `<s>: ${more}`],
      [],
    ],
    [
      'describeBreakingChanges and describeUnusedInputs list the same change in several environments once',
      [serves('s', added('x')), serves('p', added('x'))],
      ...([[`<s>, <p>: ${more}`], []] as const),
    ],
    [
      'describeBreakingChanges and describeUnusedInputs list added variables apart from removed ones',
      [serves('s', added('x'), removed('y')), serves('p', removed('x'))],
      ...([[`<s>: ${more}`], [`<s>: ${less.replace('x', 'y')}`, `<p>: ${less}`]] as const),
    ],
  ])('%s', (_, changes, breaking, unused) => {
    const prompt = promptOf({ changes });
    expect(describeBreakingChanges(prompt, show)).toEqual(breaking);
    expect(describeUnusedInputs(prompt, show)).toEqual(unused);
  });

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
      changes: [serves('p', added('x')), key],
      drift: [
        { ...moved, ...drift },
        { field: 'key', expected: 'k/1', observed: 'k/0', ...drift },
      ],
    });
    expect(describeBreakingChanges(prompt, String)).toHaveLength(count);
    const elsewhere = { ...prompt, changes: [...prompt.changes, serves('s', added('y'))] };
    expect(describeBreakingChanges(elsewhere, String)).toHaveLength(count + 1);
  });
});

describe('the entries about messages', () => {
  const changesOf = (before: readonly string[], after: readonly string[]) =>
    listEntries(
      promptOf({ type: 'chat', changes: [setActive({ before: ref(1), messages: { before, after } })] }),
      reportOf([]),
      String,
    ).flatMap(({ kind, text }) => (kind === 'messages' ? [text] : []));

  test('listEntries shortens long lists of messages and long names without cutting a character in half', () => {
    const names = Array.from({ length: 1_050 }, (_, index) => `role-${index}`);
    const [line = ''] = changesOf([], [...names, 'last']);
    expect(line).toMatch(/^messages: none → role-0, role-1, .*role-49, … 1,001 more$/);
    expect(changesOf(['user'], [`${'x'.repeat(99)}😀`])).toEqual([`messages: user → ${'x'.repeat(99)}…`]);
    expect(changesOf(['user'], ['x'.repeat(1_000)])).toEqual([`messages: user → ${'x'.repeat(100)}…`]);
  });
});

describe('the entries about changes, and describeCloneHints', () => {
  const since = { commit: '1a2b3c4d5e6f7890', date: '2026-07-28' };
  const note = ' (main wants this since 1a2b3c4d5e6f, 2026-07-28)';
  const behindNote = ' (your branch is behind main)';
  type Notes = Pick<ReturnType<typeof setActive>, 'wanted_since' | 'behind' | 'status'>;

  test.each<[string, Notes, { readonly branch?: undefined; readonly commit?: string }, string]>([
    ['listEntries adds no note to a change whose origin is unknown', {}, {}, ''],
    [
      'listEntries adds the live branch and the commit that first asked for the change',
      { wanted_since: since },
      {},
      note,
    ],
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
    ['listEntries adds that the branch is behind', { behind: true }, {}, behindNote],
    ['listEntries adds no note to a change that the run made', { behind: true, status: 'made' }, {}, ''],
    [
      'listEntries adds the note to a change that the run did not make',
      { behind: true, status: 'not_made' },
      {},
      behindNote,
    ],
  ])('%s', (_, notes, parts, expected) => {
    const report = { branch: 'main', commit: 'ffff', ...parts };
    const activation = setActive({ before: ref(1), after: ref(2), ...notes });
    const { status, ...fieldNotes } = notes;
    const rename: ReportChange = {
      ...{ kind: 'update-prompt', fields: { name: { before: 'a', after: 'b', ...fieldNotes } }, status },
    };
    const entries = listEntries(promptOf({ changes: [activation, rename] }), { mode: 'dry-run', ...report }, String);
    const result = status === 'not_made' ? ' (not made)' : '';
    expect(entries.map(({ text }) => text)).toEqual([
      `staging: v1 → v2${expected}${result}`,
      `name: "a" → "b"${expected}${result}`,
    ]);
  });

  test('listEntries shows no drift for an unfinished sync if the note of the change names its commit', () => {
    const moved = { environment: 'staging', restores: true, expected: ref(2) } as const;
    const drift = (kind: ReportDrift['kind']) => ({ ...moved, kind, observed: { ...ref(1), made_by: 'git' as const } });
    const kindsOf = (kind: ReportDrift['kind'], notes: Notes): readonly string[] => {
      const changes = [setActive({ before: ref(1), after: ref(2), ...notes })];
      const report = { mode: 'dry-run', branch: 'main', commit: 'ffff' } as const;
      return listEntries(promptOf({ changes, drift: [drift(kind)] }), report, String).map((entry) => entry.kind);
    };
    expect(kindsOf('unfinished', { wanted_since: since })).toEqual(['set-active']);
    expect(kindsOf('unfinished', {})).toEqual(['drift', 'set-active']);
    expect(kindsOf('outside', { wanted_since: since })).toEqual(['drift', 'set-active']);
  });

  test('describeCloneHints returns a single hint even if several changes show that the branch is behind the live branch', () => {
    const field: ReportChange = {
      ...{ kind: 'update-prompt', fields: { name: { before: 'a', after: 'b', behind: true } } },
    };
    const behind = setActive({ behind: true });
    const hintOf = (changes: readonly ReportChange[], branch: string | undefined = 'main') =>
      describeCloneHints(reportOf([promptOf({ changes }), promptOf({ changes })], { branch }), (text) => `<${text}>`);
    const hint =
      'Your branch is behind <main>. Run <git fetch>, then merge the newest <main>, for example with <git merge origin/main>.';
    expect(hintOf([behind, field])).toEqual([hint]);
    expect(hintOf([field])).toEqual([hint]);
    expect(hintOf([setActive({ wanted_since: since })])).toEqual([]);
    expect(hintOf([{ ...behind, status: 'made' }])).toEqual([]);
  });
});
