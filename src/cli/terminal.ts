import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StyleOptions } from '../report/style.ts';
import type { ReportFlags } from './flags.ts';
import type { Host, Sink } from './host.ts';

/** Colour is for terminals, unless a flag or a variable says otherwise (no-color.org, force-color.org). */
export function wantsColour(
  { color }: Pick<ReportFlags, 'color'>,
  { environment }: Pick<Host, 'environment'>,
  stream: Pick<Sink, 'isTTY'>,
): boolean {
  if (!color || isSet(environment['NO_COLOR'])) return false;
  const forced = environment['FORCE_COLOR'];
  if (isSet(forced)) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && environment['TERM'] !== 'dumb';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

type Drawing = Pick<ReportFlags, 'color'> & {
  /** The folder that paths of the report are relative to; null: not known. */
  readonly folder: string | null;
};

/** How a report is drawn on one of the streams: as long as its lines are where that is no terminal. */
export async function styleOn(stream: 'output' | 'errors', host: Host, drawing: Drawing): Promise<StyleOptions> {
  const { color, folder } = drawing;
  const { isTTY, columns = 0 } = host[stream];
  const colour = wantsColour({ color }, host, host[stream]);
  if (isTTY !== true) return { colour };
  // What measures text is loaded only where there is a terminal.
  const { makeScreen } = await import('../report/screen.ts');
  // Who wants no colour wants no links either.
  const wanted = colour || isSet(host.environment['FORCE_HYPERLINK']);
  const links = wanted && (await host.hyperlinks?.())?.[stream] === true;
  const fileUrl = (path: string) => (folder === null ? null : pathToFileURL(resolve(folder, path)).href);
  // Some terminals do not tell how wide they are.
  return { colour, screen: columns > 0 ? makeScreen(columns) : null, links: links ? { fileUrl } : null };
}
