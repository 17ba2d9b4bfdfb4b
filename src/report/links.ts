import type { Style } from './style.ts';

/** A text, shown as it is, that opens a file of the workspace where the terminal takes links. */
export function fileLink(text: string, path: string, { links }: Pick<Style, 'links'>): string {
  return linked(text, links?.fileUrl(path) ?? '');
}

/** An address that opens itself, where it is one of the web. */
export function webLink(text: string, address: string, { links }: Pick<Style, 'links'>): string {
  if (links === null || !/^https?:\/\//.test(address) || !URL.canParse(address)) return text;
  return linked(text, new URL(address).href);
}

/** An OSC 8 link. The address is visible ASCII: nothing in it can end the sequence. */
export function linked(text: string, address: string): string {
  return /^[!-~]+$/.test(address) ? `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}
