import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OutputStyleOptions } from '../report/output-style.ts';
import type { ReportFlags } from './flags.ts';
import type { ProcessInterface, OutputStream } from './process-interface.ts';

/** By default, only terminals get colors. `--no-color`, `NO_COLOR` and `FORCE_COLOR` override this default. */
export function usesColor(
  { color }: Pick<ReportFlags, 'color'>,
  { environment }: Pick<ProcessInterface, 'environment'>,
  stream: Pick<OutputStream, 'isTTY'>,
): boolean {
  if (!color || isSet(environment['NO_COLOR'])) return false;
  const forceColor = environment['FORCE_COLOR'];
  if (isSet(forceColor)) return forceColor !== '0' && forceColor !== 'false';
  return stream.isTTY === true && environment['TERM'] !== 'dumb';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

type DrawingOptions = Pick<ReportFlags, 'color'> & {
  /** The absolute path of the folder that paths in the report are relative to. Null if that folder is unknown. */
  readonly folder: string | null;
};

/** If the stream is not a terminal, the style has no line wrapping and no links. */
export async function chooseStyle(
  stream: 'output' | 'errors',
  host: ProcessInterface,
  { color, folder }: DrawingOptions,
): Promise<OutputStyleOptions> {
  const { isTTY, columns = 0 } = host[stream];
  const colour = usesColor({ color }, host, host[stream]);
  if (isTTY !== true) return { colour };
  // Load the code that measures the width of text only if the stream is a terminal.
  const { makeScreen } = await import('../report/terminal-screen.ts');
  // Output without colors has no links either, unless the user sets FORCE_HYPERLINK.
  const allowsLinks = colour || isSet(host.environment['FORCE_HYPERLINK']);
  const hasLinks = allowsLinks && (await host.hyperlinks?.())?.[stream] === true;
  const fileUrl = (path: string) => (folder === null ? null : pathToFileURL(resolve(folder, path)).href);
  // Some terminals do not report their width. In that case, do not wrap lines.
  const screen = columns > 0 ? makeScreen(columns) : null;
  return { colour, screen, links: hasLinks ? { fileUrl } : null };
}
