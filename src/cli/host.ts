import type { Readable } from 'node:stream';
import { makeRedact } from '../text.ts';
import type { World } from '../domain/world.ts';
import { escapeForRunner } from '../report/escape.ts';

/** Standard output or standard error. */
export type OutputStream = {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  /** The width of the terminal. */
  readonly columns?: number | undefined;
};

/** The parts of the process that the command line uses. The entry points make it. */
export type Host = Pick<World, 'environment' | 'workingDirectory' | 'now' | 'random' | 'makeUniqueId'> & {
  /** The arguments after the name of the program. */
  readonly arguments: readonly string[];
  /** Opens standard input. It stays closed unless a command needs it. */
  readonly input: () => Readable & { readonly isTTY?: boolean };
  readonly output: OutputStream;
  readonly errors: OutputStream;
  /** Returns which streams support hyperlinks. If it is absent, none does. */
  readonly hyperlinks?: () => Promise<{ readonly output: boolean; readonly errors: boolean }>;
  /** Calls a handler at each SIGINT and SIGTERM. */
  readonly onSignal: (handle: () => void) => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  /** Waits for some milliseconds. It rejects when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** Runs one command line and resolves to its exit code. */
export type Main = (host: Host) => Promise<number>;

/** A host whose output streams redact secrets and contain no workflow command for a GitHub runner. */
export type SafeHost = Host & {
  /** The secrets that no output may contain. Files, commits and responses of the service may contain them, too. */
  readonly secrets: { readonly keep: (secret: string) => void; readonly hide: (text: string) => string };
  /** Draws a temporary line on standard error. The next output erases it, and so does an empty line. */
  readonly draw: (line: string) => void;
};

const CLEAR_LINE = '\r\u001b[2K';

/** Wraps the streams of a host. Both erase the temporary line before they write, because they share one screen. */
export function makeSafeHost(host: Host): SafeHost {
  const secrets = makeSecrets();
  let drawn = false;
  const draw = (line: string): void => {
    if (drawn || line !== '') host.errors.write(`${drawn ? CLEAR_LINE : ''}${line}`);
    drawn = line !== '';
  };
  const safe = (sink: OutputStream): OutputStream => ({
    isTTY: sink.isTTY === true,
    // A getter, because the user may resize the window during a run.
    get columns() {
      return sink.columns;
    },
    write: (text) => {
      draw('');
      return sink.write(escapeForLog(secrets.hide(text), host));
    },
  });
  return { ...host, secrets, draw, output: safe(host.output), errors: safe(host.errors) };
}

/** Shorter values are not redacted: they may be ordinary words of a report, and no service issues such short keys. */
const MIN_SECRET_LENGTH = 8;

function makeSecrets(): SafeHost['secrets'] {
  const redacts: ((text: string) => string)[] = [];
  return {
    keep: (secret) => {
      if (secret.length >= MIN_SECRET_LENGTH) redacts.push(makeRedact(secret));
    },
    hide: (text) => redacts.reduce((rest, redact) => redact(rest), text),
  };
}

/** Escapes a text for the log of a GitHub runner, which executes workflow commands that it finds there. */
export function escapeForLog(text: string, { environment }: Pick<Host, 'environment'>): string {
  return environment['GITHUB_ACTIONS'] === 'true' ? escapeForRunner(text) : text;
}
