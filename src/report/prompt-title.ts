import { withoutColours } from './colours.ts';
import { inertLine } from './inert.ts';
import { fileLink } from './links.ts';
import type { ReportPrompt } from './schema.ts';
import type { Style } from './style.ts';

/** A path that has less room goes to a row of its own. */
const LEAST_PATH = 16;

/**
 * A prompt's key and file, and a note after them; one row, or two where they are too long for the terminal.
 * @param note may be coloured; empty: none
 */
export function promptTitle(
  { key, path }: Pick<ReportPrompt, 'key' | 'path'>,
  style: Style,
  note = '',
): readonly string[] {
  const { colours, screen } = style;
  const [name, file] = [inertLine(key), inertLine(path)];
  const after = note === '' ? '' : `  ${note}`;
  const shown = (text: string) => fileLink(colours.dim(text), path, style);
  // The file of a prompt that could not be read is not known.
  if (path === '') return screen?.wrap(`${colours.bold(name)}${after}`, 2) ?? [`${colours.bold(name)}${after}`];
  if (screen === null) return [`${colours.bold(name)}  ${shown(file)}${after}`];
  const noteWidth = screen.width(withoutColours(after));
  const used = screen.width(name) + 2 + noteWidth;
  const room = screen.columns - used;
  if (screen.width(file) <= room || room >= LEAST_PATH) {
    return [`${colours.bold(name)}  ${shown(screen.shorten(file, room))}${after}`];
  }
  const short = screen.shorten(name, screen.columns - noteWidth);
  return [`${colours.bold(short)}${after}`, `  ${shown(screen.shorten(file, screen.columns - 2))}`];
}
