import { describe, expect, test } from 'vitest';
import { notRun } from '../../src/commands/result.ts';
import { differing, failureOf, type FailureReason } from '../../src/github/publish.ts';
import type { Mode } from '../../src/github/event.ts';
import { makeReport } from '../../src/report/make-report.ts';
import type { Report, ReportPrompt } from '../../src/report/schema.ts';
import { problemOfKind } from './support.ts';

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
