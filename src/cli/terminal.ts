import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Drawn } from '../commands/sync.ts';
import { mapStrings } from '../domain/json.ts';
import { renderText } from '../report/text.ts';
import type { Links, StyleOptions } from '../report/style.ts';
import type { ReportFlags } from './flags.ts';
import type { Host, Sink } from './host.ts';
import type { HidingHost } from './secrets.ts';

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

type DrawOptions = Pick<ReportFlags, 'color'> & Pick<TerminalOptions, 'folder'>;

/** How a report is drawn on one of the streams: as long as its lines are where that is no terminal. */
export async function styleOn(
  stream: 'output' | 'errors',
  host: HidingHost,
  { color, folder }: DrawOptions,
): Promise<StyleOptions> {
  const colour = wantsColour({ color }, host, host[stream]);
  if (host[stream].isTTY !== true) return { colour };
  return { colour, ...(await terminalStyle(stream, host, { colour, folder })) };
}

/** The plan as a person sees it before a question about it. */
export async function drawPlan(
  { folder, report }: Drawn,
  { color }: Pick<ReportFlags, 'color'>,
  host: HidingHost,
): Promise<string> {
  const style = await styleOn('errors', host, { color, folder });
  // Marks and line breaks would tear a secret apart.
  return renderText(mapStrings(report, host.secrets.hide), { ...style, quiet: false });
}

type TerminalOptions = {
  /** Whether the text is coloured: who wants no colour wants no links either, unless FORCE_HYPERLINK is set. */
  readonly colour: boolean;
  /** The folder that paths of the report are relative to; null: not known. */
  readonly folder: string | null;
};

/** How text is fitted to a terminal. What measures it is loaded only where there is one. */
async function terminalStyle(
  stream: 'output' | 'errors',
  host: Host,
  { colour, folder }: TerminalOptions,
): Promise<Pick<StyleOptions, 'screen' | 'links'>> {
  const { makeScreen } = await import('../report/screen.ts');
  const { columns = 0 } = host[stream];
  const wanted = colour || (host.environment['FORCE_HYPERLINK'] ?? '') !== '';
  const supported = wanted && (await host.hyperlinks?.())?.[stream] === true;
  // Some terminals do not tell how wide they are.
  return { screen: columns > 0 ? makeScreen(columns) : null, links: supported ? linksTo(folder) : null };
}

function linksTo(folder: string | null): Links {
  return { fileUrl: (path) => (folder === null ? null : pathToFileURL(resolve(folder, path)).href) };
}
