/** A law does not hold: the run ends, and what is said here is shown with the commands that led to it. */
export class LawBroken extends Error {
  override readonly name = 'LawBroken';
}

/** What is said is made only when it is needed: laws are asked millions of times. */
export function must(holds: boolean, otherwise: () => string): asserts holds {
  if (!holds) throw new LawBroken(otherwise());
}
