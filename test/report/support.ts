import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PromptType, renderMarker } from '../../src/domain/chat.ts';
import { makeProblem } from '../../src/problem.ts';
import type { Report, ReportChange, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { renderHtml } from '../../src/report/formats/html-page.ts';
import { renderMarkdown } from '../../src/report/formats/markdown.ts';
import { renderText } from '../../src/report/formats/terminal-text.ts';
import { runs } from '../support/seed.ts';

export const DIGEST = `sha256:${'0'.repeat(64)}` as const;
/** The shortened digest that human-readable reports show. */
export const SHORT_DIGEST = `sha256:${'0'.repeat(12)}`;

export const NO_SUMMARY: Report['summary'] = {
  ...{ prompts: 0, unchanged: 0, create_version: 0, baselines: 0, update_prompt: 0, set_active: 0 },
  ...{ blocked: 0, applied: 0, failed: 0, not_attempted: 0 },
};

export const ref = (number: number) => ({ id: `ver_${number}`, version_number: number });

/** Returns a prompt in sync with some fields replaced. */
export function promptOf(parts: Partial<ReportPrompt> = {}): ReportPrompt {
  const { key = 'k/1' } = parts;
  const name = { path: `${key}.md`, id: `prm_${key}`, key, type: 'text' } as const;
  return { ...name, status: 'unchanged', changes: [], drift: [], problems: [], ...parts };
}

/** Returns the report of a plan with these prompts and some fields replaced. */
export function reportOf(prompts: readonly ReportPrompt[], parts: Partial<Report> = {}): Report {
  return {
    ...{ schema_version: 1, mode: 'dry-run', service: 'https://prompts.example.com', commit: '9f2c'.repeat(10) },
    ...{ plan_digest: DIGEST, summary: { ...NO_SUMMARY, prompts: prompts.length }, prompts, problems: [] },
    ...parts,
  };
}

/** Returns the report of a plan in which one prompt has these changes. */
export function planOf(changes: readonly ReportChange[], parts: Partial<ReportPrompt> = {}): Report {
  return reportOf([promptOf({ status: 'pending', changes, ...parts })]);
}

/** Renders the report of a plan in each format for readers, without colors and outside CI. */
export const FORMATS = {
  text: (report: Report) => renderText(report, { colour: false, quiet: false }),
  Markdown: (report: Report) =>
    renderMarkdown(report, { title: 'plan', workspace: null, commit: null, runUrl: null, limit: null }),
  HTML: (report: Report) => renderHtml(report, 'plan'),
} as const;

/** Counts what these prompts change, like a plan or an apply. */
export function summarize(prompts: readonly ReportPrompt[]): Report['summary'] {
  const count = (status: ReportPrompt['status']) => prompts.filter((prompt) => prompt.status === status).length;
  const changes = prompts.flatMap(({ status, changes }) =>
    changes.filter((change) => (change.status === undefined ? status === 'pending' : change.status === 'made')),
  );
  const kinds = changes.map((one) => (one.kind === 'create-version' && one.baseline ? 'baseline' : one.kind));
  const countKind = (kind: (typeof kinds)[number]) => kinds.filter((one) => one === kind).length;
  return {
    ...{ prompts: prompts.length, create_version: countKind('create-version'), baselines: countKind('baseline') },
    ...{ update_prompt: countKind('update-prompt'), set_active: countKind('set-active') },
    ...{ unchanged: count('unchanged'), blocked: count('blocked'), applied: count('applied') },
    ...{ failed: count('failed'), not_attempted: count('not_attempted') },
  };
}

/** Returns a report of chat and text prompts with this text in every field that can contain arbitrary text. */
export function hostileReport(text: string, mode: Report['mode'] = 'apply'): Report {
  const prompts = [
    ...(['applied', 'blocked'] as const).map((status) => hostilePrompt(text, status, 'chat')),
    ...(['failed', 'not_attempted'] as const).map((status) => hostilePrompt(text, status, 'text')),
  ];
  const summary = { ...NO_SUMMARY, prompts: prompts.length, create_version: 1, applied: 1, failed: 1, blocked: 1 };
  const problems = [{ ...makeProblem('usage/invalid', { reason: text }), severity: 'warning', path: text } as const];
  return reportOf(prompts, { mode, service: text, commit: text, base: text, branch: text, summary, problems });
}

/** Returns such a report of every kind. */
export function hostileReports(text: string): readonly Report[] {
  const [apply, plan, status] = (['apply', 'dry-run', 'status'] as const).map((mode) => hostileReport(text, mode));
  const unchanged = { ...hostilePrompt(text, 'unchanged', 'chat'), changes: [] };
  const history = hostileHistory(text).map((parts) => ({ ...unchanged, ...parts }));
  const edited = { ...hostilePrompt(text, 'pending', 'chat'), changes: [], edits: hostileEdits(text) };
  return [
    { ...apply!, files: [{ path: text, status: 'created' }], changed_since: text },
    { ...plan!, prompts: plan!.prompts.map((prompt) => planned(prompt, text)) },
    { ...status!, prompts: status!.prompts.map((prompt) => ({ ...prompt, waiting: [waitingOf(text)] })) },
    { ...apply!, mode: 'history', prompts: history },
    { ...apply!, mode: 'pull', prompts: [edited], committed: { commit: text, branch: text } },
    firstPlan(text),
  ];
}

/** Returns a plan that has enough baselines and warnings for reports to list each kind on one line. */
function firstPlan(text: string): Report {
  const suffixes = ['', '2', '3', '4'];
  const change = { kind: 'create-version', digest: DIGEST, baseline: true, change_summary: text } as const;
  const prompts = suffixes.map((suffix) => ({
    ...promptOf({ key: `${text}${suffix}`, status: 'pending', changes: [change] }),
    ...{ path: `${text}${suffix}`, id: text },
  }));
  const warning = { ...makeProblem('usage/invalid', { reason: text }), severity: 'warning' } as const;
  const problems = suffixes.map((suffix) => ({ ...warning, path: `${text}${suffix}` }));
  return reportOf(prompts, { service: text, commit: text, problems, summary: { ...NO_SUMMARY, baselines: 4 } });
}

function waitingOf(text: string) {
  return { environment: text, from: text, versions: 2, since: { commit: text, date: text } };
}

/** Returns the prompt with the same changes before an apply, and with a changed key. */
function planned(prompt: ReportPrompt, text: string): ReportPrompt {
  const key = { kind: 'update-prompt', fields: { key: { before: text, after: `${text}!` } } } as const;
  const changes = [key, ...prompt.changes].map((change): ReportChange => ({ ...change, status: undefined }));
  return { ...prompt, status: 'pending', changes };
}

/** Returns histories with all kinds of versions, and environments with a pin, without a pin and without a version. */
function hostileHistory(text: string): readonly Partial<ReportPrompt>[] {
  const commit = { commit: text, author: text, date: text, subject: text, pull_request: text };
  const made = { ...commit, id: text, version_number: 3, digest: DIGEST, path: text, made_by: 'git' as const };
  const pinned = [
    { environment: text, from: commit, until: null, served: true },
    { environment: text, from: commit, until: null, served: false },
    { environment: text, from: commit, until: commit, served: false },
  ];
  const version = { ...made, active_in: [text, `${text}2`], pinned };
  const outside = { ...version, made_by: 'outside' as const, active_in: [`${text}3`], pinned: [] };
  const lineage = { environment: text, serves: made, pinned: commit };
  return [
    { history: { versions: [version, outside] } },
    { lineage },
    { lineage: { ...lineage, serves: null, pinned: null } },
    { lineage: { ...lineage, serves: { ...made, made_by: 'outside' }, pinned: null } },
  ];
}

function hostileEdits(text: string): NonNullable<ReportPrompt['edits']> {
  return [
    { kind: 'set-pin', environment: text, before: text, after: text },
    { kind: 'set-field', field: text, before: text, after: text, conflict: true },
    { kind: 'set-text', from: text, conflicts: 1 },
  ];
}

export type SetActive = Extract<ReportChange, { readonly kind: 'set-active' }>;

/** Returns the activation of a version. The default texts are equal, so there is no diff. */
export function setActive(parts: Partial<SetActive>): SetActive {
  const { before = null } = parts;
  return {
    ...{ kind: 'set-active', environment: 'staging', before, after: { new: true } },
    ...{ before_text: before === null ? null : '', after_text: '', breaking: [], ...parts },
  };
}

/** Returns the text fields of a change of a chat prompt. All of them contain this text. */
export function textFields(text: string) {
  const role = renderMarker('role', text);
  const placeholder = renderMarker('placeholder', text);
  return {
    before_text: `${role}\n${text}\nold\nlast`,
    after_text: `${placeholder}\n\n${role}\n${text}\nnew ${text}\n{{x}}${text}!\nlast`,
    ...{ before_metadata: `${text}: ${text}`, after_metadata: `${text}: ${text}!` },
    breaking: [
      { variable: text, kind: 'added' as const },
      { variable: `${text}2`, kind: 'removed' as const },
      { placeholder: text, kind: 'added' as const },
      { placeholder: `${text}2`, kind: 'removed' as const },
    ],
    messages: { before: [text], after: [`${text}*`, text] },
  };
}

export function hostilePrompt(text: string, status: ReportPrompt['status'], type: PromptType): ReportPrompt {
  const ref = { id: text, version_number: null };
  const ref2 = { ...ref, made_by: 'outside' } as const;
  const row = { environment: text, pin: text };
  const served = { kind: 'set-active', after: { ...ref, id: `${text}!` }, ...textFields(text) } as const;
  return {
    ...{ path: text, id: text, key: text, type, status },
    changes: [
      {
        ...{ kind: 'create-version', digest: DIGEST, metadata_from: ref, kept_metadata: `${text}: ${text}` },
        ...{ ref: text, change_summary: text, status: 'made' },
      },
      { kind: 'update-prompt', fields: { name: { before: text, after: text, behind: true } }, status: 'unknown' },
      {
        ...served,
        environment: text,
        before: ref,
        status: 'not_made',
        wanted_since: { commit: `${text}!`, date: text },
      },
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
        observed: { ...ref, made_by: 'git', commit: text, commit_missing: true },
      },
      {
        ...{ environment: `${text}2`, kind: 'outside', restores: true, moved_back: true },
        expected: ref,
        observed: ref2,
      },
      { field: 'name', kind: 'outside', restores: false, expected: text, observed: text },
    ],
    problems: [
      makeProblem('service/unexpected-status', { status: 500, said: text }, { path: text, line: 1, column: 1 }),
      makeProblem('config/unknown-field', { field: text, known: [], suggestion: text }),
    ],
  };
}

/** Renders each example to lines. Returns one text for a recorded file, with the title of each example above its lines. */
export function joinOutputs<Example>(
  examples: Readonly<Record<string, Example>>,
  render: (example: Example) => readonly string[],
): string {
  return Object.entries(examples)
    .map(([title, example]) => [`======== ${title}`, ...render(example), ''].join('\n'))
    .join('');
}

/** Generates texts with many characters that have a meaning in a terminal, a log or JSON. */
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

/** Compares the two results of `compare` for each text of a corpus and for random texts. */
export function testTexts(
  claim: string,
  corpus: Readonly<Record<string, string>>,
  other: fc.Arbitrary<string>,
  compare: (text: string) => { readonly found: unknown; readonly wanted: object },
  numRuns = 100,
): void {
  test(`${claim} any text`, () => {
    const check = (text: string) => {
      const { found, wanted } = compare(text);
      expect(found, `for ${JSON.stringify(text)}`).toMatchObject(wanted);
    };
    Object.values(corpus).forEach(check);
    fc.assert(fc.property(other, check), { numRuns: runs(numRuns) });
  });
}
