import { type Interview, isContinuousIntegration, type World } from '../domain/world.ts';
import { askYesOrNo } from './questions.ts';
import type { Host, SafeHost } from './host.ts';
import { makeProgressReporter } from './progress-reporter.ts';

type WorldOptions = {
  /** Whether to hide progress and waits. */
  readonly quiet?: boolean;
  /** The message at the first signal. */
  readonly onInterrupt: string;
  /** Makes the interview of `init`. The action omits it, so that its bundle does not contain the library for questions. */
  readonly interviewer?: (stop: AbortSignal) => Interview;
};

/** Makes the world of a command from the process. Call it once, because it registers signal handlers. */
export function makeWorld(host: SafeHost, { quiet = false, onInterrupt, ...options }: WorldOptions): World {
  const { workingDirectory, environment, now, random, makeUniqueId, sleep, errors, input, draw, secrets } = host;
  const stopSignal = abortOnSignal(host, onInterrupt);
  const terminal = errors.isTTY === true && input().isTTY === true;
  return {
    workingDirectory,
    environment,
    now,
    random,
    makeUniqueId,
    sleep: (milliseconds) => sleep(milliseconds, stopSignal),
    stopSignal,
    keepSecret: secrets.keep,
    printNotice: (line) => void errors.write(`${line}\n`),
    onProgress:
      quiet || !canDrawProgress(host) ? () => {} : makeProgressReporter({ draw, columns: () => errors.columns, now }),
    onWait: ({ seconds, requestedSeconds }) =>
      void (quiet || errors.write(`waiting ${seconds} s: the service asks for ${requestedSeconds}\n`)),
    confirm: terminal ? (question) => askYesOrNo(host, question, stopSignal) : null,
    interview: terminal && !isContinuousIntegration(host) ? (options.interviewer?.(stopSignal) ?? null) : null,
  };
}

/** Whether the terminal can erase a line. Otherwise the progress would fill it with lines. */
function canDrawProgress({ errors, environment }: Host): boolean {
  return errors.isTTY === true && environment['TERM'] !== 'dumb';
}

/** Returns a signal that the first SIGINT or SIGTERM aborts. The second one ends the process at once. */
function abortOnSignal({ onSignal, errors, exit }: Host, notice: string): AbortSignal {
  const controller = new AbortController();
  onSignal(() => {
    if (controller.signal.aborted) return exit(130);
    errors.write(notice);
    controller.abort();
  });
  return controller.signal;
}
