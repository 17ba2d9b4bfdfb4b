import fc from 'fast-check';
import { makeProblem } from '../../src/problem.ts';
import type { Report, ReportChange, ReportPrompt } from '../../src/report/schema.ts';

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

export type SetActive = Extract<ReportChange, { readonly kind: 'set-active' }>;

/** A change of what an environment serves, of one text: without others there is no diff. */
export function setActive(parts: Partial<SetActive>): SetActive {
  const { before = null } = parts;
  return {
    ...{ kind: 'set-active', environment: 'staging', before, after: { new: true } },
    ...{ before_text: before === null ? null : '', after_text: '', breaking: [], ...parts },
  };
}

/** The texts of a change and what they hold besides, all of them this one. */
export function textFields(text: string) {
  return {
    ...{ before_text: `${text}\nold\nlast`, after_text: `${text}\nnew ${text}\n{{x}}${text}!\nlast` },
    ...{ before_metadata: `${text}: ${text}`, after_metadata: `${text}: ${text}!` },
    breaking: [
      { variable: text, kind: 'added' as const },
      { variable: `${text}2`, kind: 'removed' as const },
    ],
  };
}

export function promptOf(text: string, status: ReportPrompt['status']): ReportPrompt {
  const ref = { id: text, version_number: null };
  const row = { environment: text, pin: text };
  const served = { kind: 'set-active', after: { ...ref, id: `${text}!` }, ...textFields(text) } as const;
  return {
    ...{ path: text, id: text, key: text, status },
    changes: [
      { kind: 'create-version', digest: DIGEST, ref: text, change_summary: text, status: 'made' },
      { kind: 'update-prompt', fields: { name: { before: text, after: text } }, status: 'unknown' },
      { ...served, environment: text, before: ref, status: 'not_made' },
      { ...served, environment: `${text}2`, before: null, before_text: null },
      { ...served, environment: `${text}3`, before: ref, before_text: null },
      { ...served, environment: `${text}4`, before: ref, after_text: null },
    ],
    environments: [
      { ...row, active: ref, wanted: ref, in_sync: true },
      { ...row, environment: `${text}2`, active: ref, wanted: null, in_sync: false },
    ],
    drift: [
      {
        environment: text,
        kind: 'outside',
        restores: true,
        expected: ref,
        observed: { ...ref, made_by: 'git', commit: text },
      },
      { field: 'name', kind: 'unfinished', restores: false, expected: text, observed: text },
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
