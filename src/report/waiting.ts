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

type PinCommit = NonNullable<WaitingPromotion['since']>;

/** Describes the commit that last changed a pin: its id, its weekday and its date. */
function describePinCommit({ commit, date: time }: PinCommit, show: ShowText): string {
  const date = time?.slice(0, 10) ?? '';
  const day = new Date(date).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
  return `${show(shortenCommitId(commit))}${date === '' ? '' : `, ${day} ${show(date)}`}`;
}
