import type { Host, Sink } from './host.ts';
import type { SharedFlags } from './program.ts';

/** Colour is for terminals, unless a flag or a variable says otherwise (no-color.org, force-color.org). */
export function wantsColour(
  { color }: Pick<SharedFlags, 'color'>,
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
