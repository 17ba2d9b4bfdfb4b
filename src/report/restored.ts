import type { Run } from './make-report.ts';

/** Where drift is that a sync only puts back, because the files of now want what the base wants. */
export type Restored = ReadonlySet<string>;

/** The drift of a run that a sync only puts back. */
export function restoredIn({ plan, outcomes }: Run): Restored {
  const plans = outcomes?.map((outcome) => outcome.plan) ?? plan?.prompts ?? [];
  return new Set(
    plans.flatMap(({ file, drift }) => drift.filter(({ restores }) => restores).map((one) => placeOf(file.id, one))),
  );
}

/** Names one environment or field of one prompt. */
export function placeOf(promptId: string, what: { readonly environment: string } | { readonly field: string }): string {
  return JSON.stringify(
    'field' in what ? [promptId, 'field', what.field] : [promptId, 'environment', what.environment],
  );
}
