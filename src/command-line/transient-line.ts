import { through, type Sink } from './host.ts';

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
