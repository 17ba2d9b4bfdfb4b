import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StyleOptions } from '../report/style.ts';
import type { ReportFlags } from './flags.ts';
import type { Host, OutputStream } from './host.ts';

/** Whether to use colors: on terminals, unless a flag or a variable decides otherwise (no-color.org, force-color.org). */
export function usesColor(
  { color }: Pick<ReportFlags, 'color'>,
  { environment }: Pick<Host, 'environment'>,
  stream: Pick<OutputStream, 'isTTY'>,
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
  /** The folder that the paths of the report are relative to; null if it is unknown. */
  readonly folder: string | null;
};

/** Returns how to draw a report on a stream. On a stream that is not a terminal, lines are not wrapped. */
export async function chooseStyle(stream: 'output' | 'errors', host: Host, drawing: Drawing): Promise<StyleOptions> {
  const { color, folder } = drawing;
  const { isTTY, columns = 0 } = host[stream];
  const colour = usesColor({ color }, host, host[stream]);
  if (isTTY !== true) return { colour };
  // The code that measures text is loaded only for terminals.
  const { makeScreen } = await import('../report/screen.ts');
  // Without colors, there are no links either, unless FORCE_HYPERLINK asks for them.
  const wanted = colour || isSet(host.environment['FORCE_HYPERLINK']);
  const links = wanted && (await host.hyperlinks?.())?.[stream] === true;
  const fileUrl = (path: string) => (folder === null ? null : pathToFileURL(resolve(folder, path)).href);
  // Some terminals do not report their width.
  return { colour, screen: columns > 0 ? makeScreen(columns) : null, links: links ? { fileUrl } : null };
}
