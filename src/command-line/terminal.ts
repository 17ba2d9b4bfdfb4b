import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Links, StyleOptions } from '../report/style.ts';
import { makeScreen } from '../report/screen.ts';
import type { Host } from './host.ts';

export type TerminalOptions = {
  /** Whether the text is coloured: who wants no colour wants no links either, unless FORCE_HYPERLINK is set. */
  readonly colour: boolean;
  /** The folder that paths of the report are relative to; null: not known. */
  readonly folder: string | null;
};

/** How text is fitted to a terminal. Loaded only where there is one. */
export async function terminalStyle(
  stream: 'output' | 'errors',
  host: Host,
  { colour, folder }: TerminalOptions,
): Promise<Pick<StyleOptions, 'screen' | 'links'>> {
  const { columns = 0 } = host[stream];
  const wanted = colour || (host.environment['FORCE_HYPERLINK'] ?? '') !== '';
  const supported = wanted && (await host.hyperlinks?.())?.[stream] === true;
  // Some terminals do not tell how wide they are.
  return { screen: columns > 0 ? makeScreen(columns) : null, links: supported ? linksTo(folder) : null };
}

function linksTo(folder: string | null): Links {
  return { fileUrl: (path) => (folder === null ? null : pathToFileURL(resolve(folder, path)).href) };
}
