export type Environment = {
  readonly name: string;
  /** A version can be promoted to this environment only if it is active in the source environment. */
  readonly promoteFrom?: string;
  readonly allowLatest: boolean;
};

/** How a sync handles drift from outside: `overwrite` restores the declared state, and `fail` refuses to write. */
export type OnDrift = 'overwrite' | 'fail';

/** The maximum number of prompts that one sync may change: a count, or a percentage of the selected prompts. */
export type MaxChanges =
  { readonly kind: 'count'; readonly count: number } | { readonly kind: 'percent'; readonly percent: number };

/** Matches a percentage such as `25%`, from 0% to 100%. */
export const PERCENTAGE = /^(100|[0-9]{1,2})%$/;
/** The values that `parseMaxChanges` accepts, as messages describe them. */
export const MAX_CHANGES_FORM = 'a number, or a percentage such as 25%';

export function parseMaxChanges(written: string | number): MaxChanges | null {
  const text = String(written);
  if (/^[0-9]{1,9}$/.test(text)) return { kind: 'count', count: Number(text) };
  if (PERCENTAGE.test(text)) return { kind: 'percent', percent: Number(text.slice(0, -1)) };
  return null;
}

/** Rounds percentages up. `selected` is the number of selected prompts. */
export function countAllowedChanges(max: MaxChanges, selected: number): number {
  return max.kind === 'count' ? max.count : Math.ceil((max.percent * selected) / 100);
}

/**
 * The environment in which promptsync activates the version with the newest ledger. The name is not a setting, because
 * a pull request could set it to an environment that applications read.
 */
export const TRACKING_ENVIRONMENT = 'promptsync';

/** The probe environment. promptsync activates versions there only to read them. */
export const PROBE_ENVIRONMENT = 'promptsync-look';
