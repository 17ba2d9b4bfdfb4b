import type { PromptType } from '../../../../src/domain/chat.ts';
import { renderHtml } from '../../../../src/report/formats/html-page.ts';
import type { ReportPrompt } from '../../../../src/report/schema/report-schema.ts';
import { DIGEST, promptOf, ref, reportOf, setActive, summarize } from '../../support.ts';

/** A prompt of a page. An environment has one number if it stays, two if it changes, and null if it is unknown. */
export type PagePrompt = {
  readonly type?: PromptType;
  readonly serves?: Readonly<Record<string, number | readonly [before: number, after: number | 'new'] | null>>;
  /** The text before and after the change, for each environment that changes. */
  readonly text?: readonly [before: string | null, after: string];
  readonly drift?: readonly string[];
  readonly more?: Partial<ReportPrompt>;
};

/** Renders the page of a plan with these prompts. */
export function pageOf(prompts: Readonly<Record<string, PagePrompt>>): string {
  const made = Object.entries(prompts).map(([key, prompt]) => pagePrompt(key, prompt));
  return renderHtml(reportOf(made, { summary: summarize(made) }), 'plan');
}

function pagePrompt(key: string, { serves = {}, type = 'text', text = ['', ''], drift = [], more }: PagePrompt) {
  const rows = Object.entries(serves).map(([environment, versions]) => ({ environment, ...servedOf(versions) }));
  const [before_text, after_text] = text;
  const changes = rows
    .filter((row) => !row.in_sync && row.active !== null)
    .map(({ environment, active, wanted }) => {
      const before = before_text === null ? null : active;
      return setActive({ environment, before, after: wanted, before_text, after_text });
    });
  const create = { kind: 'create-version', digest: DIGEST, change_summary: 'Soften the tone' } as const;
  return promptOf({
    ...{ key, path: `prompts/${key}.md`, type, environments: rows },
    status: changes.length > 0 ? 'pending' : 'unchanged',
    changes: [...(changes.some(({ after }) => 'new' in after) ? [create] : []), ...changes],
    drift: drift.map((environment) => {
      const observed = { ...ref(5), made_by: 'outside' as const };
      return { environment, kind: 'outside', restores: false, expected: ref(3), observed };
    }),
    ...more,
  });
}

function servedOf(versions: NonNullable<PagePrompt['serves']>[string]) {
  if (versions === null) return { pin: 'latest', active: null, wanted: ref(1), in_sync: false };
  const [before, after] = typeof versions === 'number' ? [versions, versions] : versions;
  const wanted = after === 'new' ? { new: true as const } : ref(after);
  return { pin: before === after ? `${after}` : 'latest', active: ref(before), wanted, in_sync: before === after };
}
