import { describe, expect, test } from 'vitest';
import { makeProblem } from '../../src/problem.ts';
import { describeDrift, describeDriftHint, type DriftContext } from '../../src/report/describe-drift.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { joinOutputs, promptOf, ref, reportOf, type SetActive, setActive } from './support.ts';

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

const activate = (parts: Partial<SetActive> = {}) =>
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

const missing = {
  ...moved,
  observed: { ...served, commit: '91d386a04d3e5f60718293a4', commit_missing: true },
} as const;

const DRIFT_GUARD = makeProblem('guard/drift', { key: 'support/refund', what: [], canPull: true });
const OTHER_GUARD = makeProblem('guard/placeholder-id');
const WARNING = makeProblem('git/shallow', { of: 'drift' });
const blockedBy = (...problems: ReportPrompt['problems']) => linesOf(moved, PLAN, { status: 'blocked', problems });

/** Describes the drift of an environment after a sync that made this change. */
const afterSync = (drift: Partial<EnvironmentDrift>, change: Partial<SetActive>) =>
  linesOf({ ...moved, ...drift }, SYNC, { status: 'applied', changes: [activate({ ...change, status: 'made' })] });

describe('describeDrift', () => {
  // The recorded plan and sync show the other descriptions.
  test('describeDrift says what differs, what a sync does about it, and which commands are possible, as recorded', async () => {
    const descriptions = {
      'The description calls the service Langfuse if the report does.': linesOf(named, {
        ...PLAN,
        vocabulary: { service: 'Langfuse', environment: 'label' },
      }),
      'The description says "the base" if the report does not name the base.': linesOf(moved, { mode: 'dry-run' }),
      'A sync changes a field to the value of the head, even if the base asks for another one.': linesOf(
        { ...named, restores: false },
        PLAN,
        { changes: [rename('Newer')] },
      ),
      'A sync activates a version that does not exist yet, and does not restore it.': linesOf(
        { ...moved, expected: { new: true } },
        PLAN,
        { changes: [activate({ after: { new: true } })] },
      ),
      'Somebody moved the environment back to an older version.': linesOf(
        { ...moved, expected: ref(5), moved_back: true },
        PLAN,
        { changes: [activate({ after: ref(5) })] },
      ),
      'If the clone lacks the commit of the served version, the only command is git fetch.': linesOf(missing),
      'After a sync, nobody needs to fetch a commit.': linesOf(missing, SYNC),
      'No command keeps an environment that serves nothing.': linesOf({ ...moved, observed: null, pull: undefined }),
      'If only the drift guard blocks the prompt, a command overwrites the drift.': blockedBy(DRIFT_GUARD, WARNING),
      'If another guard blocks the prompt, too, no command overwrites the drift.': blockedBy(DRIFT_GUARD, OTHER_GUARD),
      'After a sync, no text says how to bring back a version of promptsync.': afterSync(
        { observed: { ...served, made_by: 'git' } },
        {},
      ),
      'After a sync that activated another version, a text says how to bring the replaced one back.': afterSync(
        { restores: false },
        { after: ref(8) },
      ),
    };
    await expect(joinOutputs(descriptions, (lines) => lines)).toMatchFileSnapshot('recorded/drift.txt');
  });

  test.each([
    ['describeDrift quotes a prompt key that contains a quotation mark', "it's", `'it'\\''s'`],
    ['describeDrift separates a prompt key that looks like a flag from the flags', '--all', `-- '--all'`],
    ['describeDrift escapes the wildcards of patterns in a prompt key', 'a*', `'a\\*'`],
  ])('%s', (_, key, quoted) => {
    expect(linesOf(moved, PLAN, { key })[1]).toBe(`Keep <v3>: <promptsync pull ${quoted}>`);
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
