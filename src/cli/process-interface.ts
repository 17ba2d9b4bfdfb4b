import type { Readable } from 'node:stream';
import { makeRedactor } from '../text.ts';
import type { System } from '../domain/system.ts';
import { escapeForRunner } from '../report/escape.ts';

export type OutputStream = {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  /** The width of the terminal in columns. Undefined if the stream is not a terminal. */
  readonly columns?: number | undefined;
};

/** The parts of the process that the command line uses. The entry points `cli.ts` and `action.ts` create the host. */
export type ProcessInterface = Pick<System, 'environment' | 'workingDirectory' | 'now' | 'random' | 'makeUniqueId'> & {
  /** The version of Node.js, such as `24.4.1`. */
  readonly nodeVersion: string;
  /** The command-line arguments after the name of the program. */
  readonly arguments: readonly string[];
  /** Opens standard input. It stays closed until this function is called. */
  readonly input: () => Readable & { readonly isTTY?: boolean };
  readonly output: OutputStream;
  readonly errors: OutputStream;
  /** Returns which of the two streams support hyperlinks. If this function is absent, neither does. */
  readonly hyperlinks?: () => Promise<{ readonly output: boolean; readonly errors: boolean }>;
  /** Registers a handler that is called for each SIGINT and SIGTERM. */
  readonly onSignal: (handle: () => void) => void;
  readonly exit: (code: number) => void;
  /** Waits for the given number of milliseconds. Rejects if the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

export type Main = (host: ProcessInterface) => Promise<number>;

/** A host whose output streams redact secrets and escape text that a GitHub runner would execute as a command. */
export type SafeProcess = ProcessInterface & {
  /** `hide` redacts all secrets that `keep` added. They can come from files, commits and responses of the service. */
  readonly secrets: { readonly keep: (secret: string) => void; readonly hide: (text: string) => string };
  /** Draws a temporary line on standard error. The next output or an empty line erases it. */
  readonly draw: (line: string) => void;
};

/** The ANSI sequence that moves the cursor to the start of the line and erases the line. */
const CLEAR_LINE = '\r\u001b[2K';

/** Both streams erase the temporary line before they write, because they share one screen. */
export function makeSafeProcess(host: ProcessInterface): SafeProcess {
  const secrets = makeSecrets();
  let drawn = false;
  const draw = (line: string): void => {
    if (drawn || line !== '') host.errors.write(`${drawn ? CLEAR_LINE : ''}${line}`);
    drawn = line !== '';
  };
  const makeSafeStream = (stream: OutputStream): OutputStream => ({
    isTTY: stream.isTTY === true,
    // This is a getter and not a value, because the user may resize the window during a run.
    get columns() {
      return stream.columns;
    },
    write: (text) => {
      draw('');
      return stream.write(escapeForLog(secrets.hide(text), host));
    },
  });
  return { ...host, secrets, draw, output: makeSafeStream(host.output), errors: makeSafeStream(host.errors) };
}

/** In UTF-16 code units. Shorter values may be ordinary words in a report, and no service issues such short keys. */
const MIN_SECRET_LENGTH = 8;

function makeSecrets(): SafeProcess['secrets'] {
  const redactors = new Map<string, (text: string) => string>();
  return {
    keep: (secret) => {
      if (secret.length >= MIN_SECRET_LENGTH) redactors.set(secret, makeRedactor(secret));
    },
    hide: (text) => [...redactors.values()].reduce((redacted, redact) => redact(redacted), text),
  };
}

/** A GitHub runner executes the workflow commands that it finds in its log, so escape them there. */
export function escapeForLog(text: string, { environment }: Pick<ProcessInterface, 'environment'>): string {
  return environment['GITHUB_ACTIONS'] === 'true' ? escapeForRunner(text) : text;
}
