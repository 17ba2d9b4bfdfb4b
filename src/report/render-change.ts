import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import type { ReportChange, ReportPrompt } from './schema.ts';

type Kind<K extends ReportChange['kind']> = ReportChange & { readonly kind: K };
type Status = NonNullable<ReportChange['status']>;
type Ref = Kind<'set-active'>['before'] | Kind<'set-active'>['after'];

export const statusNote = {
  made: '',
  adopted: ' (it was there already)',
  not_made: ' (not made)',
  unknown: ' (not known whether it was made)',
} as const satisfies Record<Status, string>;

/** What became of a change, and what else is to be said of it; empty, or behind a blank. */
export function changeNote(
  change: ReportChange,
  { status, changes }: Pick<ReportPrompt, 'status' | 'changes'>,
): string {
  const told = change.status === undefined ? '' : statusNote[change.status];
  const unfollowed = isUnfollowed(change, changes) ? UNFOLLOWED : '';
  return `${unfollowed}${told === '' && status === 'blocked' ? ' (blocked)' : told}`;
}

/** Whether a version is made only to be there: no environment follows it. */
export function isUnfollowed(change: ReportChange, all: readonly ReportChange[]): boolean {
  return change.kind === 'create-version' && !followed(change, all);
}

/** What a change is, without its sign and what became of it; one line for each field. */
export function changeTexts(change: ReportChange): readonly string[] {
  switch (change.kind) {
    case 'create-version':
      return [createText(change)];
    case 'update-prompt':
      return fieldLines(change);
    case 'set-active':
      return [activeText(change)];
  }
}

/** One line for a version or an environment, one for each field. */
export function renderChange(change: ReportChange, all: readonly ReportChange[], colours: Colours): readonly string[] {
  const said = change.status === undefined ? '' : statusNote[change.status];
  const unfollowed = isUnfollowed(change, all) ? UNFOLLOWED : '';
  const note = `${unfollowed}${said === '' ? '' : colours.yellow(said)}`;
  return changeTexts(change).map((line) => `${signOf(change, colours)} ${line}${note}`);
}

function signOf({ kind }: ReportChange, colours: Colours): string {
  const sign = {
    'create-version': colours.green('+'),
    'update-prompt': colours.yellow('~'),
    'set-active': colours.cyan('→'),
  };
  return sign[kind];
}

const UNFOLLOWED = ' (no environment follows it)';

function createText({ ref, change_summary: summary, version, status }: Kind<'create-version'>): string {
  const what = version === undefined || version.version_number === null ? '' : ` v${version.version_number}`;
  const verb = status === 'made' ? 'created' : status === 'adopted' ? 'adopted' : 'create';
  const of = ref === undefined ? '' : ` of git:${inertLine(ref)}`;
  return `${verb} version${what}${of}${summary === null ? '' : `: ${inertLine(summary)}`}`;
}

function followed(change: Kind<'create-version'>, all: readonly ReportChange[]): boolean {
  return all.some((one) => {
    if (one.kind !== 'set-active') return false;
    return 'new' in one.after || one.after.id === change.version?.id;
  });
}

function fieldLines({ fields }: Kind<'update-prompt'>): readonly string[] {
  return Object.entries(fields).map(([field, { before, after }]) => {
    return `${field}: ${inertLine(JSON.stringify(before))} → ${inertLine(JSON.stringify(after))}`;
  });
}

function activeText({ environment, before, after }: Kind<'set-active'>): string {
  return `${inertLine(environment)}: ${refText(before)} → ${refText(after)}`;
}

/** `v7`, `none`, `new version`, or the id where the number is not known. */
export function refText(ref: Ref): string {
  if (ref === null) return 'none';
  if ('new' in ref) return 'new version';
  return ref.version_number === null ? inertLine(ref.id) : `v${ref.version_number}`;
}
