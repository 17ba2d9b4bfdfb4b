import type { Progress } from '../domain/world.ts';

type ProgressOptions = {
  /** Puts a line in place of the last one; an empty one takes it away. */
  readonly draw: (line: string) => void;
  /** How wide the terminal is now. */
  readonly columns: () => number | undefined;
  /** Milliseconds. */
  readonly now: () => number;
};

/** In milliseconds. The rate is shown once it is more than a guess. */
const REDRAW = 100;
const KNOWN_AFTER = 1_000;

/** Shows how far a long run is, how fast and for how long; a run shorter than the first interval shows nothing. */
export function progressReporter({ draw, columns, now }: ProgressOptions): (progress: Progress) => void {
  let last = now();
  let first: (Progress & { readonly at: number }) | null = null;
  return (progress) => {
    const { what, done, all } = progress;
    const at = now();
    if (first?.what !== what) first = { ...progress, at };
    if (done === all) {
      first = null;
      return draw('');
    }
    if (at - last < REDRAW) return;
    last = at;
    const pace = paceTexts({ seconds: (at - first.at) / 1_000, done: done - first.done, left: all - done });
    draw(fitted([`${what} ${count(done)} of ${count(all)} prompts`, ...pace], columns()));
  };
}

type Pace = { readonly seconds: number; readonly done: number; readonly left: number };

/** `45/s`, `15 s left`; none as long as it is not known well enough. */
function paceTexts({ seconds, done, left }: Pace): readonly string[] {
  const rate = done / seconds;
  if (seconds * 1_000 < KNOWN_AFTER || rate <= 0) return [];
  return [`${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))}/s`, `${duration(left / rate)} left`];
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** As many parts as fit in one row: the line could not be taken away from two. */
function fitted(parts: readonly string[], columns: number | undefined): string {
  // The last column is left free: some terminals begin the next row after it.
  const room = (columns || 80) - 1;
  const lines = parts.map((_, index) => parts.slice(0, parts.length - index).join(' · '));
  return (lines.find((line) => line.length <= room) ?? parts[0] ?? '').slice(0, room);
}
