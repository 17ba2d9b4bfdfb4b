import type { Report, ReportPrompt } from '../schema.ts';

/** What a page's filters ask of a prompt. */
export type Trait = (typeof TRAITS)[number];

/** `review`: whatever there is to tell of it. */
export const TRAITS = ['review', 'changed', 'drift', 'blocked', 'failed'] as const;

export function traitsOf(prompt: ReportPrompt, mode: Report['mode']): readonly Trait[] {
  const told = toldTraits(prompt, mode);
  return told.length > 0 || prompt.problems.length > 0 ? ['review', ...told] : [];
}

function toldTraits({ status, ...prompt }: ReportPrompt, mode: Report['mode']): readonly Trait[] {
  const { changes, edits = [], drift, environments = [] } = prompt;
  const unresolved = status === 'unchanged' && environments.some(({ in_sync: inSync }) => !inSync);
  const is = {
    review: false,
    changed: changes.length + edits.length > 0 || status === 'applied' || status === 'pending',
    drift: drift.length > 0 || unresolved,
    blocked: status === 'blocked',
    // A validation attempts nothing.
    failed: status === 'failed' || (status === 'not_attempted' && mode !== 'validate'),
  } satisfies Record<Trait, boolean>;
  return TRAITS.filter((trait) => is[trait]);
}
