export type Environment = {
  readonly name: string;
  /** The environment in which a version must be active before it may be active here. */
  readonly promoteFrom?: string;
  readonly allowLatest: boolean;
};

/** What a sync does about drift from outside: put back what the files say, or refuse. */
export type OnDrift = 'overwrite' | 'fail';

export type MaxChanges =
  { readonly kind: 'count'; readonly count: number } | { readonly kind: 'percent'; readonly percent: number };

/** Reads `25%` or `3`; null when it is neither. */
export function parseMaxChanges(written: string | number): MaxChanges | null {
  const text = String(written);
  if (/^[0-9]{1,9}$/.test(text)) return { kind: 'count', count: Number(text) };
  if (/^(100|[0-9]{1,2})%$/.test(text)) return { kind: 'percent', percent: Number(text.slice(0, -1)) };
  return null;
}

/** How many of the selected prompts may change; a percentage is rounded up. */
export function countAllowedChanges(max: MaxChanges, selected: number): number {
  return max.kind === 'count' ? max.count : Math.ceil((max.percent * selected) / 100);
}

/** The environment that the tool makes versions active in only to read them. */
export function getProbeEnvironment(trackingEnvironment: string): string {
  return `${trackingEnvironment}-look`;
}

/** The tool's own environments, which no pin may name. */
export function listToolEnvironments(trackingEnvironment: string): readonly string[] {
  return [trackingEnvironment, getProbeEnvironment(trackingEnvironment)];
}
