import picocolors from 'picocolors';

/** The colours of one rendering; without colour every function hands its text through. */
export type Colours = ReturnType<typeof picocolors.createColors>;

export function coloursFor(enabled: boolean): Colours {
  return picocolors.createColors(enabled);
}
