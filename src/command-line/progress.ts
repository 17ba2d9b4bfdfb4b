import type { Progress } from '../commands/world.ts';

export type ProgressOptions = {
  readonly write: (text: string) => void;
  /** On a terminal one line is drawn again and again; elsewhere a line is written now and then. */
  readonly terminal: boolean;
  /** Milliseconds. */
  readonly now: () => number;
};

const REDRAW = 100;
const REPEAT = 10_000;
const CLEAR_LINE = '\r\u001b[2K';

/** Shows how far a long run is; a run shorter than the first interval shows nothing. */
export function progressReporter({ write, terminal, now }: ProgressOptions): (progress: Progress) => void {
  const interval = terminal ? REDRAW : REPEAT;
  let last = now();
  let drawn = false;
  return ({ what, done, all }) => {
    const finished = done === all;
    if (finished && drawn && terminal) write(CLEAR_LINE);
    if (finished) drawn = false;
    if (finished || now() - last < interval) return;
    last = now();
    drawn = true;
    const text = `${what} ${done} of ${all} prompts`;
    write(terminal ? `${CLEAR_LINE}${text}` : `${text}\n`);
  };
}
