import type { Progress } from '../domain/world.ts';

type ProgressOptions = {
  /** Replaces the progress line. An empty line erases it. */
  readonly draw: (line: string) => void;
  /** Returns the current width of the terminal. */
  readonly columns: () => number | undefined;
  /** Milliseconds. */
  readonly now: () => number;
};

/** The rate is shown only after `ESTIMATE_AFTER_MS`, when it is more than a guess. */
const REDRAW_INTERVAL_MS = 100;
const ESTIMATE_AFTER_MS = 1_000;

/** Returns a function that draws the progress, rate and remaining time of a long run. Short runs show nothing. */
export function makeProgressReporter({ draw, columns, now }: ProgressOptions): (progress: Progress) => void {
  let last = now();
  let first: (Progress & { readonly at: number }) | null = null;
  return (progress) => {
    const { phase, done, total } = progress;
    const at = now();
    if (first?.phase !== phase) first = { ...progress, at };
    if (done === total) {
      first = null;
      return draw('');
    }
    if (at - last < REDRAW_INTERVAL_MS) return;
    last = at;
    const pace = formatPace({ seconds: (at - first.at) / 1_000, done: done - first.done, left: total - done });
    draw(fitParts([`${phase} ${groupDigits(done)} of ${groupDigits(total)} prompts`, ...pace], columns()));
  };
}

type Pace = { readonly seconds: number; readonly done: number; readonly left: number };

/** Returns the rate and the remaining time, such as `45/s` and `15 s left`; nothing while the estimate is unreliable. */
function formatPace({ seconds, done, left }: Pace): readonly string[] {
  const rate = done / seconds;
  if (seconds * 1_000 < ESTIMATE_AFTER_MS || rate <= 0) return [];
  return [`${rate < 10 ? rate.toFixed(1) : groupDigits(Math.round(rate))}/s`, `${formatDuration(left / rate)} left`];
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

function groupDigits(number: number): string {
  return number.toLocaleString('en-US');
}

/** Joins as many parts as fit in one row, because a line that wraps cannot be erased. */
function fitParts(parts: readonly string[], columns: number | undefined): string {
  // The last column stays free, because some terminals wrap after it.
  const room = (columns || 80) - 1;
  const lines = parts.map((_, index) => parts.slice(0, parts.length - index).join(' · '));
  return (lines.find((line) => line.length <= room) ?? parts[0] ?? '').slice(0, room);
}
