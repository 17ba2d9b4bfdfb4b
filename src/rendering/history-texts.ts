import type { ReportHistory, ReportLineage, ReportPrompt } from '../schemas/report.ts';
import { refText } from './render-change.ts';

/** How histories are worded in every format. A value from outside goes through what makes it inert in the format. */
export type Inert = (text: string) => string;

export type Version = ReportHistory['versions'][number];
/** A commit as a report tells it; a version has none where it was made from none. */
export type Commit = Omit<NonNullable<ReportLineage['pinned']>, 'commit'> & { readonly commit?: string | undefined };
type Row = NonNullable<ReportPrompt['environments']>[number];

/** `2026-11-20`; a commit that git does not have has no date. */
export function dayOf({ date }: Pick<Commit, 'date'>): string | undefined {
  return date?.slice(0, 10);
}

/** The subject, with the pull request where the subject does not name it. */
export function subjectOf({ subject, pull_request: request }: Commit): string | undefined {
  if (request === undefined || subject === undefined || subject.includes(`(${request})`)) return subject;
  return `${subject} (${request})`;
}

/** What stands in place of a commit where a version comes from none. */
export function makerText({ made_by: by }: Pick<Version, 'made_by'>): string | undefined {
  return by === 'git' ? undefined : MAKERS[by];
}

const MAKERS = {
  outside: 'made by somebody outside of git',
  uncommitted: 'made from a file that was not committed',
} as const;

/** That an environment serves something else than the file's pin means. */
export function driftText({ environment, active, pin, wanted }: Row, inert: Inert): string {
  const serves = active === null ? 'nothing' : inert(refText(active));
  const meant = wanted === null || refText(wanted) === `v${pin}` ? '' : ` (${inert(refText(wanted))})`;
  return `${inert(environment)} serves ${serves}, but the file pins it to ${inert(pin)}${meant}.`;
}

/** One environment's time with a version: when, and the commit that pinned it; null where no pin says so. */
export type Stay = { readonly environment: string; readonly when: string; readonly by: Commit | null };

/** Where a version is active and was pinned; what is served now comes first. */
export function staysOf({ active_in: activeIn, pinned }: Version): readonly Stay[] {
  const open = pinned.filter(({ until }) => until === null).map(({ environment }) => environment);
  const unpinned = activeIn.filter((environment) => !open.includes(environment));
  const isNow = ({ until, served }: Version['pinned'][number]) => until === null && served;
  return [
    ...pinned.filter(isNow).map(stayOf),
    ...unpinned.map((environment) => ({ environment, when: 'active, but not by its pin', by: null })),
    ...pinned.filter((time) => !isNow(time)).map(stayOf),
  ];
}

function stayOf({ environment, from, until, served }: Version['pinned'][number]): Stay {
  const end = until !== null ? (dayOf(until) ?? '?') : served ? 'now' : 'not served';
  return { environment, when: `${dayOf(from) ?? '?'} → ${end}`, by: from };
}
