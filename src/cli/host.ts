import type { Readable } from 'node:stream';
import { makeRedact } from '../domain/text.ts';
import type { World } from '../domain/world.ts';
import { escapeForRunner } from '../report/escape.ts';

/** A stream that is written to: standard output, standard error. */
export type Sink = {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  /** The width of the terminal. */
  readonly columns?: number | undefined;
};

/** What an entry gives to the command line: the process, as far as it is used. */
export type Host = Pick<World, 'environment' | 'workingDirectory' | 'now' | 'random' | 'newId'> & {
  /** Without the program's own name. */
  readonly arguments: readonly string[];
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
  /** Waits so many milliseconds; rejects once the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** Runs one command line and resolves to its exit code. */
export type Main = (host: Host) => Promise<number>;

/** A host whose standard output and standard error hide the secrets, and give no command to a runner of GitHub. */
export type SafeHost = Host & {
  /** What must occur in no output: files, commits and the service may hold the key as well. */
  readonly secrets: { readonly keep: (secret: string) => void; readonly hide: (text: string) => string };
  /** Puts a line on standard error that goes away before anything else is written; an empty one takes it away. */
  readonly draw: (line: string) => void;
};

const CLEAR_LINE = '\r\u001b[2K';

/** Both streams share a screen with the line that comes and goes: nothing is written beside it. */
export function makeSafe(host: Host): SafeHost {
  const secrets = makeSecrets();
  let drawn = false;
  const draw = (line: string): void => {
    if (drawn || line !== '') host.errors.write(`${drawn ? CLEAR_LINE : ''}${line}`);
    drawn = line !== '';
  };
  const safe = (sink: Sink): Sink => ({
    isTTY: sink.isTTY === true,
    // A window may change while a run goes on.
    get columns() {
      return sink.columns;
    },
    write: (text) => {
      draw('');
      return sink.write(forLog(secrets.hide(text), host));
    },
  });
  return { ...host, secrets, draw, output: safe(host.output), errors: safe(host.errors) };
}

/** Shorter ones are words that reports consist of; no service hands out such a key. */
const SHORTEST = 8;

function makeSecrets(): SafeHost['secrets'] {
  const redacts: ((text: string) => string)[] = [];
  return {
    keep: (secret) => {
      if (secret.length >= SHORTEST) redacts.push(makeRedact(secret));
    },
    hide: (text) => redacts.reduce((rest, redact) => redact(rest), text),
  };
}

/** A text as a log can take it: a GitHub runner reads commands out of it. */
export function forLog(text: string, { environment }: Pick<Host, 'environment'>): string {
  return environment['GITHUB_ACTIONS'] === 'true' ? escapeForRunner(text) : text;
}
