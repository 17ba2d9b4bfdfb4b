import type { ReportPrompt } from '../schemas/report.ts';
import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';

/** A prompt's key and file. */
export function promptTitle({ key, path }: Pick<ReportPrompt, 'key' | 'path'>, { bold, dim }: Colours): string {
  // The file of a prompt that could not be read is not known.
  return path === '' ? bold(inertLine(key)) : `${bold(inertLine(key))}  ${dim(inertLine(path))}`;
}
