import type { Progress } from '../domain/world.ts';
import { through, type Sink } from './host.ts';

export type ProgressOptions = {
  /** Puts a line in place of the last one; an empty one takes it away. */
  readonly draw: (line: string) => void;
  /** How wide the terminal is now. */
  readonly columns: () => number | undefined;
  /** Milliseconds. */
  readonly now: () => number;
};

type Sample = { readonly at: number; readonly done: number };

/** All in milliseconds. The rate is that of the last seconds, and shown once it is more than a guess. */
const REDRAW = 100;
const WINDOW = 8_000;
const KNOWN_AFTER = 1_000;

/** Shows how far a long run is, how fast and for how long; a run shorter than the first interval shows nothing. */
export function progressReporter({ draw, columns, now }: ProgressOptions): (progress: Progress) => void {
  let last = now();
  let samples: readonly Sample[] = [];
  let phase = '';
  return ({ what, done, all }) => {
    const at = now();
    const newest = samples.at(-1);
    if (phase !== what + all || (newest !== undefined && newest.done > done)) samples = [];
    phase = what + all;
    if (done === all) return draw('');
    if (samples.length > 0 && at - last < REDRAW) return;
    samples = [...samples.filter((sample) => at - sample.at <= WINDOW), { at, done }];
    if (at - last < REDRAW) return;
    last = at;
    draw(fitted([`${what} ${count(done)} of ${count(all)} prompts`, ...paceTexts(samples, all)], columns()));
  };
}

/** `45/s`, `15 s left`; none as long as it is not known well enough. */
function paceTexts(samples: readonly Sample[], all: number): readonly string[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return [];
  const seconds = (last.at - first.at) / 1_000;
  const rate = (last.done - first.done) / seconds;
  if (seconds * 1_000 < KNOWN_AFTER || rate <= 0) return [];
  return [`${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))}/s`, `${duration((all - last.done) / rate)} left`];
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

export type SharedScreen = {
  readonly output: Sink;
  readonly errors: Sink;
  /** Puts a line on standard error that goes away before anything else is written; an empty one takes it away. */
  readonly draw: (line: string) => void;
};

const CLEAR_LINE = '\r\u001b[2K';

/** Both streams, as they share a screen with one line that comes and goes: nothing is written beside it. */
export function shareScreen(output: Sink, errors: Sink): SharedScreen {
  let drawn = false;
  const draw = (line: string): void => {
    if (drawn || line !== '') errors.write(`${drawn ? CLEAR_LINE : ''}${line}`);
    drawn = line !== '';
  };
  return { output: clearing(output, draw), errors: clearing(errors, draw), draw };
}

function clearing(sink: Sink, draw: SharedScreen['draw']): Sink {
  return through(sink, (text) => {
    draw('');
    return sink.write(text);
  });
}
