import { mapStrings } from '../domain/map-strings.ts';
import type { Drawn } from '../commands/sync.ts';
import { renderText } from '../report/text.ts';
import type { StyleOptions } from '../report/style.ts';
import { wantsColour } from './colour.ts';
import type { SharedFlags } from './program.ts';
import type { TerminalOptions } from './terminal.ts';
import type { HidingHost } from './secrets.ts';

/** What is told below a folded diff. */
export const UNFOLD = '--full shows all';

export type DrawOptions = Pick<SharedFlags, 'color'> & Pick<TerminalOptions, 'folder'>;

/** How a report is drawn on one of the streams: as long as its lines are where that is no terminal. */
export async function styleOn(
  stream: 'output' | 'errors',
  host: HidingHost,
  { color, folder }: DrawOptions,
): Promise<StyleOptions> {
  const colour = wantsColour({ color }, host, host[stream]);
  if (host[stream].isTTY !== true) return { colour };
  const { terminalStyle } = await import('./terminal.ts');
  return { colour, ...(await terminalStyle(stream, host, { colour, folder })) };
}

/** The plan as a person sees it before a question about it. */
export async function drawPlan(
  { folder, report }: Drawn,
  { full, color }: Pick<SharedFlags, 'full' | 'color'>,
  host: HidingHost,
): Promise<string> {
  const style = await styleOn('errors', host, { color, folder });
  // Marks and line breaks would tear a secret apart.
  return renderText(mapStrings(report, host.secrets.hide), { ...style, quiet: false, full, unfold: UNFOLD });
}
