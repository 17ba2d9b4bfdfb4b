import type { PromptType } from '../../../../src/domain/chat.ts';
import { renderHtml } from '../../../../src/report/formats/html-page.ts';
import type { Report, ReportPrompt } from '../../../../src/report/schema/report-schema.ts';
import { DIGEST, promptOf, ref, reportOf, setActive, type SetActive, summarize } from '../../support.ts';
import { compareMessages, listBreakingChanges } from '../../../../src/domain/text-changes.ts';

/** A prompt of a page. An environment has one number if it stays, two if it changes, and null if it is unknown. */
export type PagePrompt = {
  readonly status?: ReportPrompt['status'];
  /** The type of the prompt. The default is `text`. */
  readonly type?: PromptType;
  readonly path?: string;
  readonly serves?: Readonly<Record<string, number | readonly [before: number, after: number | 'new'] | null>>;
  /** The text before and after the change, for each environment that changes. */
  readonly text?: readonly [before: string | null, after: string];
  readonly drift?: readonly string[];
  readonly more?: Partial<ReportPrompt>;
};

export type PageParts = { readonly report?: Partial<Report>; readonly title?: string };

/** Renders the page of a plan with these prompts. Their keys are the keys of the record. */
export function pageOf(prompts: Readonly<Record<string, PagePrompt>>, parts: PageParts = {}): string {
  return pageOfList(Object.entries(prompts), parts);
}

/** Renders the page of a plan with these prompts. Several prompts may have the same key. */
export function pageOfList(
  prompts: readonly (readonly [key: string, prompt: PagePrompt])[],
  { report = {}, title = 'plan' }: PageParts = {},
): string {
  const made = prompts.map(([key, prompt], index) => pagePrompt(key, prompt, index));
  return renderHtml(reportOf(made, { summary: summarize(made), ...report }), title);
}

function pagePrompt(
  key: string,
  { serves = {}, type = 'text', text, drift = [], more, ...parts }: PagePrompt,
  index: number,
) {
  const rows = Object.entries(serves).map(([environment, versions]) => ({ environment, ...servedOf(versions) }));
  const changes = rows.flatMap((row) => (row.in_sync || row.active === null ? [] : [changeOf(row, type, text)]));
  const creates = changes.some(({ after }) => 'new' in after);
  return promptOf({
    ...{ key, id: `prm_${index}`, path: `prompts/${key}.md`, type },
    status: changes.length > 0 ? 'pending' : 'unchanged',
    changes: [
      ...(creates ? [{ kind: 'create-version', digest: DIGEST, change_summary: 'Soften the tone' } as const] : []),
      ...changes,
    ],
    environments: rows,
    drift: drift.map((environment) => {
      const observed = { ...ref(5), made_by: 'outside' as const };
      return { environment, kind: 'outside', restores: false, expected: ref(3), observed };
    }),
    ...parts,
    ...more,
  });
}

function servedOf(versions: NonNullable<PagePrompt['serves']>[string]) {
  if (versions === null) return { pin: 'latest', active: null, wanted: ref(1), in_sync: false };
  const [before, after] = typeof versions === 'number' ? [versions, versions] : versions;
  const wanted = after === 'new' ? { new: true as const } : ref(after);
  return { pin: before === after ? `${after}` : 'latest', active: ref(before), wanted, in_sync: before === after };
}

function changeOf({ environment, active, wanted }: Row, type: PromptType, text: PagePrompt['text']): SetActive {
  if (text === undefined) return setActive({ environment, before: active, after: wanted });
  const [then, now] = text;
  const compared = {
    before: then === null ? null : { type, text: then, metadata: undefined },
    after: { type, text: now, metadata: undefined },
  };
  const messages = compareMessages(compared);
  const texts = { before_text: then, after_text: now, breaking: listBreakingChanges(compared) };
  const served = { environment, before: then === null ? null : active, after: wanted };
  return setActive({ ...served, ...texts, ...(messages !== null && { messages }) });
}

type Row = ReturnType<typeof servedOf> & { readonly environment: string };
