import picocolors from 'picocolors';

/** The colours of one rendering; without colour every function hands its text through. */
export type Colours = ReturnType<typeof picocolors.createColors>;

/** The text as it is without its colours. */
export function withoutColours(text: string): string {
  return text.replaceAll(/\u001b\[\d+m/g, '');
}

export function coloursFor(enabled: boolean): Colours {
  return picocolors.createColors(enabled);
}
