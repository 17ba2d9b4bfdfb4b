import { renderHtml } from '../../../src/report/html/page.ts';
import type { Report, ReportDrift, ReportPrompt } from '../../../src/report/schema.ts';
import { DIGEST, NO_SUMMARY, setActive } from '../support.ts';
import { variableChanges } from '../../../src/domain/text-changes.ts';

/** A prompt of a page: an environment has a number where it stays, two where it changes, null where it is not known. */
export type PagePrompt = {
  readonly status?: ReportPrompt['status'];
  readonly path?: string;
  readonly serves?: Readonly<Record<string, number | readonly [before: number, after: number | 'new'] | null>>;
  /** The text before and after; of each environment that changes. */
  readonly text?: readonly [before: string | null, after: string];
  readonly drift?: readonly string[];
  readonly more?: Partial<ReportPrompt>;
};

export type PageParts = { readonly report?: Partial<Report>; readonly title?: string };

/** A page of a plan with these prompts, by key. */
export function pageOf(prompts: Readonly<Record<string, PagePrompt>>, parts: PageParts = {}): string {
  return pageOfList(Object.entries(prompts), parts);
}

/** The same of prompts of which two may have one key. */
export function pageOfList(
  prompts: readonly (readonly [key: string, prompt: PagePrompt])[],
  { report = {}, title = 'plan' }: PageParts = {},
): string {
  const made = prompts.map(([key, prompt], index) => promptOf(key, prompt, index));
  return renderHtml({ ...reportOf(made), ...report }, title);
}

function reportOf(prompts: readonly ReportPrompt[]): Report {
  const count = (status: ReportPrompt['status']) => prompts.filter((prompt) => prompt.status === status).length;
  const changes = prompts.flatMap((prompt) => prompt.changes);
  const kinds = (kind: string) => changes.filter((change) => change.kind === kind).length;
  return {
    ...{ schema_version: 1, mode: 'dry-run', service: 'https://prompts.example.com' },
    ...{ commit: '9f2c44d01b6d7a35f5a8f24a9fd0e6b1c3d2a7e8', plan_digest: DIGEST, prompts, problems: [] },
    summary: {
      ...{ ...NO_SUMMARY, prompts: prompts.length, unchanged: count('unchanged'), blocked: count('blocked') },
      ...{ failed: count('failed'), create_version: kinds('create-version'), set_active: kinds('set-active') },
    },
  };
}

function promptOf(key: string, { status, path, serves = {}, text, drift = [], more }: PagePrompt, index: number) {
  const rows = Object.entries(serves);
  const moves = rows.flatMap(([environment, versions]) =>
    typeof versions === 'object' && versions !== null ? [{ environment, before: versions[0], after: versions[1] }] : [],
  );
  const creates = moves.some(({ after }) => after === 'new');
  return {
    ...{ path: path ?? `prompts/${key}.md`, id: `prm_${index}`, key },
    status: status ?? (moves.length > 0 ? 'pending' : 'unchanged'),
    changes: [
      ...(creates ? [{ kind: 'create-version', digest: DIGEST, change_summary: 'Soften the tone' } as const] : []),
      ...moves.map(({ environment, before, after }) => {
        const known = { environment, before: ref(before), after: refAfter(after) };
        if (text === undefined) return setActive(known);
        const [then, now] = text;
        const texts = { before: then === null ? null : ref(before), before_text: then, after_text: now };
        const breaking = variableChanges({ before: then === null ? null : { text: then }, after: { text: now } });
        return setActive({ ...known, ...texts, breaking });
      }),
    ],
    environments: rows.map(([environment, versions]) => rowOf(environment, versions)),
    drift: drift.map((environment): ReportDrift => {
      return {
        environment,
        kind: 'outside',
        restores: false,
        expected: ref(3),
        observed: { ...ref(5), made_by: 'outside' },
      };
    }),
    problems: [],
    ...more,
  } satisfies ReportPrompt;
}

function rowOf(environment: string, versions: NonNullable<PagePrompt['serves']>[string]) {
  const pin = typeof versions === 'number' ? String(versions) : 'latest';
  if (typeof versions === 'number') {
    return { environment, pin, active: ref(versions), wanted: ref(versions), in_sync: true };
  }
  if (versions === null) return { environment, pin, active: null, wanted: ref(1), in_sync: false };
  return { environment, pin, active: ref(versions[0]), wanted: refAfter(versions[1]), in_sync: false };
}

function ref(number: number) {
  return { id: `ver_${number}`, version_number: number };
}

function refAfter(after: number | 'new') {
  return after === 'new' ? { new: true as const } : ref(after);
}
