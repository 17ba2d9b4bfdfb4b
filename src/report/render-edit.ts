import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import type { ReportEdit } from './schema.ts';

/** What is done to a file, in one line without its sign. */
export function editText(edit: ReportEdit): string {
  switch (edit.kind) {
    case 'create-file':
      return 'new file';
    case 'set-pin':
      return `${inertLine(edit.environment)}: ${edit.before === null ? '' : `${inertLine(edit.before)} → `}${inertLine(edit.after)}`;
    case 'set-field': {
      const [before, after] = [edit.before, edit.after].map((value) => inertLine(value ?? 'absent'));
      return `${inertLine(edit.field)}: ${before} → ${after}${edit.conflict ? ' (conflict)' : ''}`;
    }
    case 'set-text':
      return `text: ${inertLine(edit.from)}${conflictNote(edit.conflicts)}`;
  }
}

function conflictNote(conflicts: number): string {
  if (conflicts === 0) return '';
  return ` (${conflicts} ${conflicts === 1 ? 'conflict' : 'conflicts'})`;
}

/** One line with its sign: `+` for what is new, `~` for what is changed, `!` for what is left to somebody. */
export function renderEdit(edit: ReportEdit, colours: Colours): string {
  return `${signOf(edit, colours)} ${editText(edit)}`;
}

function signOf(edit: ReportEdit, { green, yellow, red }: Colours): string {
  const signs = { new: green('+'), changed: yellow('~'), conflict: red('!') };
  return signs[editKind(edit)];
}

/** Whether something is new, is changed, or is left to somebody. */
export function editKind(edit: ReportEdit): 'new' | 'changed' | 'conflict' {
  if (edit.kind === 'create-file' || (edit.kind === 'set-pin' && edit.before === null)) return 'new';
  return isConflict(edit) ? 'conflict' : 'changed';
}

/** Whether the file holds both sides, for somebody to decide. */
export function isConflict(edit: ReportEdit): boolean {
  return (edit.kind === 'set-field' && edit.conflict) || (edit.kind === 'set-text' && edit.conflicts > 0);
}
