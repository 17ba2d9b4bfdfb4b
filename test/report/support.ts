import fc from 'fast-check';
import { makeProblem } from '../../src/problem.ts';
import type { Report, ReportPrompt } from '../../src/report/schema.ts';

export const DIGEST = `sha256:${'0'.repeat(64)}` as const;

/** A report in which every field that can hold somebody's text holds this one. */
export function reportOf(text: string, mode: Report['mode'] = 'apply'): Report {
  const prompts = (['applied', 'failed', 'blocked', 'not_attempted'] as const).map((status) => promptOf(text, status));
  return {
    schema_version: 1,
    mode,
    service: text,
    commit: text,
    plan_digest: DIGEST,
    summary: { ...NO_SUMMARY, prompts: prompts.length, create_version: 1, applied: 1, failed: 1, blocked: 1 },
    prompts,
    problems: [{ ...makeProblem('usage/invalid', { reason: text }), severity: 'warning', path: text }],
  };
}

export const NO_SUMMARY: Report['summary'] = {
  ...{ prompts: 0, unchanged: 0, create_version: 0, update_prompt: 0, set_active: 0 },
  ...{ blocked: 0, applied: 0, failed: 0, not_attempted: 0 },
};

export function promptOf(text: string, status: ReportPrompt['status']): ReportPrompt {
  const ref = { id: text, version_number: null };
  const row = { environment: text, pin: text };
  return {
    ...{ path: text, id: text, key: text, status },
    changes: [
      { kind: 'create-version', digest: DIGEST, ref: text, change_summary: text, status: 'made' },
      { kind: 'update-prompt', fields: { name: { before: text, after: text } }, status: 'unknown' },
      { kind: 'set-active', environment: text, before: ref, after: { ...ref, id: `${text}!` }, status: 'not_made' },
    ],
    environments: [
      { ...row, active: ref, wanted: ref, in_sync: true },
      { ...row, environment: `${text}2`, active: ref, wanted: null, in_sync: false },
    ],
    drift: [
      { environment: text, kind: 'outside', expected: ref, observed: { ...ref, made_by: 'git', commit: text } },
      { field: 'name', kind: 'unfinished', expected: text, observed: text },
    ],
    problems: [
      makeProblem('service/unexpected-status', { status: 500, said: text }, { path: text, line: 1, column: 1 }),
      makeProblem('config/unknown-field', { field: text, suggestion: text }),
    ],
  };
}

/** Any text, with those characters often that do something in a terminal, a log or JSON. */
export const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom('\n', '\r', '\t', ' ', ':', '::', '##[', '#', '[', ']', '\\', '"', 'u', '{'),
      fc.constantFrom('\u001b', '\u009b', '\u0085', '\u2028', '\u2029', '\u00a0', '\ufeff', '\u202e', '\u200b'),
      fc.constantFrom('\u{e0041}', '\ud800', '\udc00', '\udb40', 'ü', '👩‍👩‍👧', '<', '`', '@'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
