import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { describeDrift, describeDriftHint, type DriftContext } from '../../src/report/describe-drift.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { promptOf, ref, reportOf, setActive } from './support.ts';

type EnvironmentDrift = Extract<ReportDrift, { readonly environment: string }>;

const PLAN: DriftContext = { mode: 'dry-run', base: 'main' };
const SYNC: DriftContext = { mode: 'apply', base: 'main' };

const served = { ...ref(3), made_by: 'outside' } as const;
const moved: EnvironmentDrift = {
  ...{ environment: 'production', kind: 'outside', restores: true, expected: ref(1), observed: served, pull: true },
};
const named: ReportDrift = {
  ...{ field: 'name', kind: 'outside', restores: true, expected: 'Ours', observed: 'Theirs', pull: true },
};

const activate = (parts: Partial<Extract<ReportChange, { readonly kind: 'set-active' }>> = {}): ReportChange =>
  setActive({ environment: 'production', before: ref(3), after: ref(1), ...parts });
const rename = (after = 'Ours'): ReportChange => ({
  ...{ kind: 'update-prompt', fields: { name: { before: 'Theirs', after } } },
});

/** Describes the drift of a prompt with this change. */
function linesOf(
  drift: ReportDrift,
  report: DriftContext = PLAN,
  { changes = ['field' in drift ? rename() : activate()], ...parts }: Partial<ReportPrompt> = {},
): readonly string[] {
  const prompt = promptOf({ key: 'support/refund', status: 'pending', changes, ...parts });
  return describeDrift(drift, prompt, report, (text) => `<${text}>`);
}

const KEEP = 'Keep <v3>: <promptsync pull support/refund>';
const BLOCKED = 'The prompt is blocked, so promptsync does not change it.';

describe('describeDrift', () => {
  // The recorded plan and sync and the transcript about drift show most of these sentences. Here are those that they lack.
  test('describeDrift uses the vocabulary of the report, and says "the base" if the report does not name the base', () => {
    const vocabulary = { service: 'Langfuse', environment: 'label' };
    expect(linesOf(named, { ...PLAN, vocabulary })[0]).toContain('name is <"Theirs"> in Langfuse, but');
    expect(linesOf(moved, { mode: 'dry-run' })[0]).toContain('but the base asks for <v1>.');
  });

  test.each<[string, ReportDrift, ReportChange, string, string]>([
    [
      'describeDrift names the value that a sync sets if the head and the base ask for different values',
      { ...named, restores: false },
      rename('Newer'),
      'but <main> asks for <"Ours">. A sync changes it to <"Newer">.',
      'Change it to <"Newer">: <promptsync sync support/refund>',
    ],
    [
      'describeDrift names a version that does not exist yet as activated, not restored',
      { ...moved, expected: { new: true } },
      activate({ after: { new: true } }),
      'serves <v3>, but <main> asks for a new version. A sync activates a new version.',
      'Activate a new version: <promptsync sync support/refund>',
    ],
  ])('%s', (_, drift, change, statement, command) => {
    const [first, ...commands] = linesOf(drift, PLAN, { changes: [change] });
    expect(first).toContain(statement);
    expect(commands).toContain(command);
  });

  test('describeDrift says that somebody moved an environment back if the report marks the drift as moved back', () => {
    expect(
      linesOf({ ...moved, expected: ref(5), moved_back: true }, PLAN, { changes: [activate({ after: ref(5) })] }),
    ).toEqual([
      'somebody moved <production> back from <v5> to <v3>. A sync restores <v5>.',
      KEEP,
      'Restore <v5>: <promptsync sync support/refund>',
    ]);
  });

  test('If the clone lacks the commit of the served version, describeDrift suggests only git fetch before a sync', () => {
    const commit = '91d386a04d3e5f60718293a4b5c6d7e8f9012345';
    const drift = { ...moved, observed: { ...served, commit, commit_missing: true } } as const;
    expect(linesOf(drift)).toEqual([
      '<production> serves <v3>, but <main> asks for <v1>. (<v3> was made from <91d386a04d3e>, which this clone does not have: run <git fetch>)',
    ]);
    expect(linesOf(drift, SYNC)[0]).not.toContain('git fetch');
  });

  test('describeDrift says that an environment serves nothing, and offers no command to keep that', () => {
    expect(linesOf({ ...moved, observed: null, pull: undefined })).toEqual([
      '<production> serves nothing, but <main> asks for <v1>. A sync restores <v1>.',
      'Restore <v1>: <promptsync sync support/refund>',
    ]);
  });

  const DRIFT_GUARD = makeProblem('guard/drift', { key: 'support/refund', what: [], canPull: true });
  const OTHER_GUARD = makeProblem('guard/placeholder-id');
  const WARNING = makeProblem('git/shallow', { of: 'drift' });

  test.each<[string, ReportPrompt['problems'], readonly string[]]>([
    [
      'describeDrift offers only commands that work if only the drift guard blocks the prompt',
      [DRIFT_GUARD, WARNING],
      [KEEP, 'Restore <v1>: <promptsync sync support/refund --on-drift overwrite>'],
    ],
    [
      'describeDrift offers only commands that work if the drift guard and another guard block the prompt',
      [DRIFT_GUARD, OTHER_GUARD],
      [KEEP],
    ],
  ])('%s', (_, problems, commands) => {
    expect(linesOf(moved, PLAN, { status: 'blocked', problems })).toEqual([
      `<production> serves <v3>, but <main> asks for <v1>. ${BLOCKED}`,
      ...commands,
    ]);
  });

  test.each([
    ["it's", `'it'\\''s'`],
    ['--all', `-- '--all'`],
    ['a*', `'a\\*'`],
  ])('describeDrift quotes the prompt key %s in a command', (key, quoted) => {
    expect(linesOf(moved, PLAN, { key })[1]).toBe(`Keep <v3>: <promptsync pull ${quoted}>`);
  });

  test.each<[string, EnvironmentDrift, ReportChange, string]>([
    [
      'After a sync, describeDrift says that the run restored a version that replaces one of promptsync',
      { ...moved, observed: { ...served, made_by: 'git' } },
      activate({ status: 'made' }),
      'This run restored <v1>.',
    ],
    [
      'After a sync, describeDrift says that the run activated another version',
      { ...moved, restores: false },
      activate({ after: ref(8), status: 'made' }),
      'This run activated <v8>. To bring <v3> back, pin <version:ver_3>.',
    ],
  ])('%s', (_, drift, change, effect) => {
    expect(linesOf(drift, SYNC, { status: 'applied', changes: [change] })).toEqual([
      `<production> served <v3>, but <main> asks for <v1>. ${effect}`,
    ]);
  });
});

describe('describeDriftHint', () => {
  const hintOf = (drift: readonly ReportDrift[], parts: Partial<Report> = {}) =>
    describeDriftHint(
      reportOf([promptOf({ drift }), promptOf({ drift })], { base: 'main', branch: 'main', ...parts }),
      String,
    );
  const HINT = ['A merged change that this clone lacks can look like drift. To rule that out, run git fetch.'];

  test('describeDriftHint returns a single hint for all drift in a plan or a status', () => {
    expect(hintOf([moved, named])).toEqual(HINT);
    expect(hintOf([named], { mode: 'status' })).toEqual(HINT);
  });

  const missing = { ...moved, observed: { ...served, commit: '91d386a04d3e', commit_missing: true } } as const;

  test.each<[string, readonly ReportDrift[], Partial<Report>]>([
    ['describeDriftHint returns nothing after a sync', [moved], { mode: 'apply' }],
    ['describeDriftHint returns nothing if the base of the drift is not the live branch', [moved], { base: 'v1' }],
    [
      'describeDriftHint returns nothing if only an unfinished sync explains the drift',
      [{ ...moved, kind: 'unfinished' }],
      {},
    ],
    ['describeDriftHint returns nothing if each line of drift already suggests git fetch', [missing], {}],
  ])('%s', (_, drift, parts) => {
    expect(hintOf(drift, parts)).toEqual([]);
  });
});
