import { formatCount, shortenCommitId } from '../text.ts';
import type { ShowText } from './describe.ts';
import type { ReportPrompt } from './schema.ts';

/** A promotion that a prompt is waiting for. */
type WaitingPromotion = NonNullable<ReportPrompt['waiting']>[number];

/**
 * Describes each promotion that a prompt is waiting for, for example
 * `production: 2 versions behind staging, since 9f2c1ab04d3e, Tuesday 2026-11-17`. Gives a date instead of a duration,
 * so that the description is still correct when the report is read later.
 */
export function describeWaitingPromotions({ waiting = [] }: ReportPrompt, show: ShowText): readonly string[] {
  return waiting.map(({ environment, from, versions, since }) => {
    const behind = `${show(environment)}: ${formatCount(versions, 'version')} behind ${show(from)}`;
    return since === null ? behind : `${behind}, since ${describePinCommit(since, show)}`;
  });
}

/**
 * Among the environments that wait for a promotion, describes the one whose pin has not changed for the longest time.
 * Returns null if no such environment has a known commit.
 */
export function describeLongestWait(prompts: readonly ReportPrompt[], show: ShowText): string | null {
  const waits = prompts.flatMap(({ key, waiting = [] }) =>
    waiting.flatMap(({ environment, since }) => (since === null ? [] : [{ key, environment, since }])),
  );
  const [longest] = waits.toSorted((one, other) => parseTime(one.since) - parseTime(other.since));
  if (longest === undefined) return null;
  const { key, environment, since } = longest;
  return `Longest wait: ${show(key)} in ${show(environment)}, since ${describePinCommit(since, show)}`;
}

type PinCommit = NonNullable<WaitingPromotion['since']>;

/** Describes the commit that last changed a pin: its id, its weekday and its date. */
function describePinCommit({ commit, date: time }: PinCommit, show: ShowText): string {
  const date = time?.slice(0, 10) ?? '';
  const day = new Date(date).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
  return `${show(shortenCommitId(commit))}${date === '' ? '' : `, ${day} ${show(date)}`}`;
}

/** Returns the time of a commit. A commit without a valid time counts as the newest. */
function parseTime({ date }: PinCommit): number {
  const time = date === undefined ? NaN : Date.parse(date);
  return Number.isNaN(time) ? Number.MAX_SAFE_INTEGER : time;
}
