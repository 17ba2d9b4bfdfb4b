import { formatCount, shortenCommitId } from '../text.ts';
import type { ShowText } from './describe-report.ts';
import type { ReportPrompt } from './schema/report-schema.ts';

type WaitingPromotion = NonNullable<ReportPrompt['waiting']>[number];

/**
 * Describes each promotion that a prompt is waiting for, for example `production: 2 versions behind staging`. Gives a
 * date instead of a duration, so that the description is still correct when the report is read later.
 */
export function describeWaitingPromotions({ waiting = [] }: ReportPrompt, show: ShowText): readonly string[] {
  return waiting.map(({ environment, from, versions, since }) => {
    const behind = `${show(environment)}: ${formatCount(versions, 'version')} behind ${show(from)}`;
    return since === null ? behind : `${behind}; ${describeSourcePin(from, since, show)}`;
  });
}

/** Counts the waiting promotions and describes the oldest. Returns null if no commit that pinned a source is known. */
export function describeLongestWait(prompts: readonly ReportPrompt[], show: ShowText): string | null {
  const waits = prompts.flatMap(({ key, waiting = [] }) => waiting.map((wait) => ({ key, ...wait })));
  const [longest] = waits.toSorted((one, other) => parseTime(one.since) - parseTime(other.since));
  if (longest === undefined || longest.since === null) return null;
  const { key, environment, from, since } = longest;
  const count = formatCount(waits.length, 'promotion is waiting', 'promotions are waiting, the longest');
  return `${count}: ${show(key)} to ${show(environment)}; ${describeSourcePin(from, since, show)}`;
}

type PinCommit = NonNullable<WaitingPromotion['since']>;

/** Describes the commit that pinned a promotion source to the version that waits. */
function describeSourcePin(source: string, { commit, date: time }: PinCommit, show: ShowText): string {
  const date = time?.slice(0, 10) ?? '';
  const day = new Date(date).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
  const when = date === '' ? '' : ` on ${day} ${show(date)}`;
  return `the newer version was pinned in ${show(source)}${when} (${show(shortenCommitId(commit))})`;
}

/** Returns the time of a commit. A commit that is unknown or has no valid time counts as the newest. */
function parseTime(commit: PinCommit | null): number {
  const time = Date.parse(commit?.date ?? '');
  return Number.isNaN(time) ? Number.MAX_SAFE_INTEGER : time;
}
