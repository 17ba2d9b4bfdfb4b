import { refText } from './render-change.ts';
import type { ReportHistory, ReportLineage, ReportPrompt } from './schema.ts';

/** How histories are worded in every format. A value from outside goes through what makes it inert in the format. */
export type Inert = (text: string) => string;

export type Version = ReportHistory['versions'][number];
/** A commit as a report tells it; a version has none where it was made from none. */
export type Commit = Omit<NonNullable<ReportLineage['pinned']>, 'commit'> & { readonly commit?: string | undefined };
/** A version by where it comes from. */
export type Made = Commit & Pick<Version, 'made_by'>;
type Row = NonNullable<ReportPrompt['environments']>[number];

/** Day, commit, author and subject as they are shown, not made inert; undefined what is not known. */
export type CommitTexts = readonly [
  day: string | undefined,
  commit: string | undefined,
  author: string | undefined,
  subject: string | undefined,
];

export function commitTexts(info: Commit): CommitTexts {
  return [dayOf(info), info.commit?.slice(0, 12), info.author || undefined, subjectOf(info) || undefined];
}

/** The same of a version's commit; who made one that comes from none stands in the subject's place. */
export function madeTexts(version: Made): CommitTexts {
  const [day, commit, author, subject] = commitTexts(version);
  return [day, commit, author, makerText(version) ?? subject];
}

/** Who made a version that comes from no commit; null for one that does. */
export function makerText({ made_by: by }: Made): string | null {
  return MAKERS[by];
}

const MAKERS = {
  git: null,
  outside: 'by somebody outside of git',
  uncommitted: 'from a file that was not committed',
  unknown: 'not known: the service keeps no metadata',
} as const satisfies Record<Made['made_by'], string | null>;

/** A commit that git does not have has no date. */
function dayOf({ date }: Commit): string | undefined {
  return /^\d{4}-\d\d-\d\d/.exec(date ?? '')?.[0];
}

/** With the pull request where the subject does not name it. */
function subjectOf({ subject, pull_request: request }: Commit): string | undefined {
  if (request === undefined || subject === undefined || subject.includes(`(${request})`)) return subject;
  return `${subject} (${request})`;
}

/** Why no commit has pinned what an environment serves; null where it is told as a difference. */
export function unpinnedText({ lineage, environments = [] }: ReportPrompt): string | null {
  const row = environments.find(({ environment }) => environment === lineage?.environment);
  if (row === undefined) return 'not by the file';
  return row.in_sync ? 'by no commit that is known' : null;
}

/** That an environment serves something else than the file's pin means. */
export function driftText({ environment, active, pin, wanted }: Row, inert: Inert): string {
  const serves = active === null ? 'nothing' : inert(refText(active));
  const said = [`v${pin}`, pin.replace(/^version:/, '')];
  const meant = wanted === null || said.includes(refText(wanted)) ? '' : ` (${inert(refText(wanted))})`;
  return `${inert(environment)} serves ${serves}, but the file pins it to ${inert(pin)}${meant}.`;
}

/** One environment's time with a version. */
export type Stay = {
  readonly environment: string;
  readonly when: string;
  /** `unserved`: the file still says so, and something else is served. */
  readonly state: 'now' | 'unserved' | 'past';
  /** The commit that pinned it; null where no pin says so, or none is known. */
  readonly by: Commit | null;
};

/** Where a version is active and was pinned; what is served now comes first. */
export function staysOf({ active_in: activeIn, pinned }: Version): readonly Stay[] {
  const open = pinned.filter(({ until }) => until === null).map(({ environment }) => environment);
  const unpinned = activeIn.filter((environment) => !open.includes(environment));
  const stays = pinned.map(stayOf);
  return [
    ...stays.filter(({ state }) => state === 'now'),
    ...unpinned.map((environment): Stay => ({ environment, when: 'active now', state: 'now', by: null })),
    ...stays.filter(({ state }) => state !== 'now'),
  ];
}

function stayOf({ environment, from, until, served }: Version['pinned'][number]): Stay {
  const state = until !== null ? 'past' : served ? 'now' : 'unserved';
  const ends = { now: 'now', unserved: 'not served', past: until === null ? '' : (dayOf(until) ?? '?') };
  return { environment, when: `${(from === null ? undefined : dayOf(from)) ?? '?'} → ${ends[state]}`, state, by: from };
}
