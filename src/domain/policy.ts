/** An environment as the configuration defines it. */
export type Environment = {
  readonly name: string;
  /** The environment that versions are promoted from. A version must be active there first. */
  readonly promoteFrom?: string;
  /** Whether a pin in this environment may be `latest`. */
  readonly allowLatest: boolean;
};

/**
 * The reaction of a sync to drift from outside: overwrite the drift with the state of the files, or refuse to write.
 */
export type OnDrift = 'overwrite' | 'fail';

/** The limit on how many prompts one sync may change: a count, or a percentage of the selected prompts. */
export type MaxChanges =
  { readonly kind: 'count'; readonly count: number } | { readonly kind: 'percent'; readonly percent: number };

/** Parses a limit such as `3` or `25%`. Returns null if the value is neither a count nor a percentage. */
export function parseMaxChanges(written: string | number): MaxChanges | null {
  const text = String(written);
  if (/^[0-9]{1,9}$/.test(text)) return { kind: 'count', count: Number(text) };
  if (/^(100|[0-9]{1,2})%$/.test(text)) return { kind: 'percent', percent: Number(text.slice(0, -1)) };
  return null;
}

/**
 * Returns the number of prompts that one sync may change. Rounds a percentage up.
 * @param selected the number of selected prompts
 */
export function countAllowedChanges(max: MaxChanges, selected: number): number {
  return max.kind === 'count' ? max.count : Math.ceil((max.percent * selected) / 100);
}

/** Returns the probe environment, in which promptsync makes versions active only to read them. */
export function getProbeEnvironment(trackingEnvironment: string): string {
  return `${trackingEnvironment}-look`;
}

/** Returns the environments that belong to promptsync. No pin may name them. */
export function listToolEnvironments(trackingEnvironment: string): readonly string[] {
  return [trackingEnvironment, getProbeEnvironment(trackingEnvironment)];
}
