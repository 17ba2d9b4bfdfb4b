import { formatNumber } from '../text.ts';
import type { Progress } from '../domain/system.ts';

type ProgressOptions = {
  /** Replaces the progress line with this line. An empty string erases the progress line. */
  readonly draw: (line: string) => void;
  /** Returns the current width of the terminal in columns; undefined if the terminal does not report a width. */
  readonly columns: () => number | undefined;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
};

const REDRAW_INTERVAL_MS = 100;

/** The time after which the rate and the remaining time are shown. Before that, both would be unreliable. */
const ESTIMATE_AFTER_MS = 1_000;

/** Draws the progress, the rate and the remaining time. A run below `REDRAW_INTERVAL_MS` draws nothing. */
export function makeProgressReporter({ draw, columns, now }: ProgressOptions): (progress: Progress) => void {
  let lastDrawnAt = now();
  let firstOfPhase: (Progress & { readonly at: number }) | null = null;
  return (progress) => {
    const { phase, done, total } = progress;
    const at = now();
    if (firstOfPhase?.phase !== phase) firstOfPhase = { ...progress, at };
    if (done === total) {
      firstOfPhase = null;
      return draw('');
    }
    if (at - lastDrawnAt < REDRAW_INTERVAL_MS) return;
    lastDrawnAt = at;
    const seconds = (at - firstOfPhase.at) / 1_000;
    const pace = formatPace({ seconds, done: done - firstOfPhase.done, remaining: total - done });
    draw(fitParts([`${phase} ${formatNumber(done)} of ${formatNumber(total)} prompts`, ...pace], columns()));
  };
}

type Pace = { readonly seconds: number; readonly done: number; readonly remaining: number };

/** For example `45/s` and `15 s left`. Empty until both are reliable. */
function formatPace({ seconds, done, remaining }: Pace): readonly string[] {
  const rate = done / seconds;
  if (seconds * 1_000 < ESTIMATE_AFTER_MS || rate <= 0) return [];
  const shownRate = rate < 10 ? rate.toFixed(1) : formatNumber(Math.round(rate));
  return [`${shownRate}/s`, `${formatDuration(remaining / rate)} left`];
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Joins as many parts as fit in one row of the terminal, because a line that wraps could not be erased. */
function fitParts(parts: readonly string[], columns: number | undefined): string {
  // Keep the last column free, because some terminals wrap a line that reaches this column.
  const room = (columns || 80) - 1;
  const lines = parts.map((_, index) => parts.slice(0, parts.length - index).join(' · '));
  return (lines.find((line) => line.length <= room) ?? parts[0] ?? '').slice(0, room);
}
