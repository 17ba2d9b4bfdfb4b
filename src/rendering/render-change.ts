import type { ReportChange } from '../schemas/report.ts';
import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';

type Kind<K extends ReportChange['kind']> = ReportChange & { readonly kind: K };
type Status = NonNullable<ReportChange['status']>;
type Ref = Kind<'set-active'>['before'] | Kind<'set-active'>['after'];

const statusNote = {
  made: '',
  adopted: ' (it was there already)',
  not_made: ' (not made)',
  unknown: ' (not known whether it was made)',
} as const satisfies Record<Status, string>;

/** One line for a version or an environment, one for each field. */
export function renderChange(change: ReportChange, all: readonly ReportChange[], colours: Colours): readonly string[] {
  const said = change.status === undefined ? '' : statusNote[change.status];
  const note = said === '' ? '' : colours.yellow(said);
  switch (change.kind) {
    case 'create-version':
      return [`${colours.green('+')} ${createText(change)}${followed(change, all) ? '' : UNFOLLOWED}${note}`];
    case 'update-prompt':
      return fieldLines(change).map((line) => `${colours.yellow('~')} ${line}${note}`);
    case 'set-active':
      return [`${colours.cyan('→')} ${activeText(change)}${note}`];
  }
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
    return `${field}: ${JSON.stringify(inertLine(before))} → ${JSON.stringify(inertLine(after))}`;
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
