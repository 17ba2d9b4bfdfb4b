import type { Readable } from 'node:stream';

/** A stream that is written to: standard output, standard error. */
export type Sink = {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  /** The width of the terminal. */
  readonly columns?: number | undefined;
};

/** A stream whose texts go to another way of writing first. */
export function through(sink: Sink, write: Sink['write']): Sink {
  return {
    isTTY: sink.isTTY === true,
    // A window may change while a run goes on.
    get columns() {
      return sink.columns;
    },
    write,
  };
}

/** What an entry gives to the command line: the process, as far as it is used. */
export type Host = {
  /** Without the program's own name. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Opened only where it is asked for. */
  readonly input: () => Readable & { readonly isTTY?: boolean };
  readonly output: Sink;
  readonly errors: Sink;
  /** Whether standard output and standard error take links; left out: they do not. */
  readonly hyperlinks?: () => Promise<{ readonly output: boolean; readonly errors: boolean }>;
  /** Calls back on each SIGINT and SIGTERM. */
  readonly onSignal: (handle: () => void) => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  readonly now: () => number;
  readonly random: () => number;
  /** Waits so many milliseconds; rejects once the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly newId: () => string;
};
