import { type Interview, isContinuousIntegration, type System } from '../domain/system.ts';
import { listProxyPasswords } from '../domain/network.ts';
import { askYesOrNo } from './questions.ts';
import type { ProcessInterface, SafeProcess } from './process-interface.ts';
import { makeProgressReporter } from './progress-reporter.ts';
import { wrapForTerminal } from './wrap-for-terminal.ts';

type SystemOptions = {
  /** Whether to hide the progress and the notices about waiting for the service. */
  readonly quiet?: boolean;
  /** The message that the first SIGINT or SIGTERM prints. */
  readonly onInterrupt: string;
  /** Creates the interview of `init`. Absent in the GitHub Action, so that its bundle contains no prompt library. */
  readonly interviewer?: (stop: AbortSignal) => Interview;
};

/**
 * Creates the `System` that commands use to access the host. Registers the passwords of the configured proxies as
 * secrets. Call this function only once per host, because it registers a signal handler.
 */
export function makeSystem(host: SafeProcess, { quiet = false, onInterrupt, ...options }: SystemOptions): System {
  const { workingDirectory, environment, now, random, makeUniqueId, sleep, errors, input, draw, secrets } = host;
  for (const password of listProxyPasswords(environment)) secrets.keep(password);
  let isAsking = false;
  // While a question is open, no request is in flight, so there is nothing to announce.
  const stopSignal = abortOnSignal(host, () => (isAsking ? '' : onInterrupt));
  const isInteractive = errors.isTTY === true && input().isTTY === true;
  return {
    workingDirectory,
    environment,
    now,
    random,
    makeUniqueId,
    sleep: (milliseconds) => sleep(milliseconds, stopSignal),
    stopSignal,
    keepSecret: secrets.keep,
    printNotice: (line) => void errors.write(`${wrapForTerminal(line, errors)}\n`),
    onProgress:
      quiet || !canDrawProgress(host) ? () => {} : makeProgressReporter({ draw, columns: () => errors.columns, now }),
    onWait: ({ seconds, requestedSeconds, service }) =>
      void (quiet || errors.write(`waiting ${seconds} s: ${service} requested ${requestedSeconds} s\n`)),
    confirm: isInteractive
      ? (question) => {
          isAsking = true;
          return askYesOrNo(host, question, stopSignal).finally(() => (isAsking = false));
        }
      : null,
    interview: isInteractive && !isContinuousIntegration(host) ? (options.interviewer?.(stopSignal) ?? null) : null,
  };
}

/** Without a terminal that can erase a line, each progress update would add a line. */
function canDrawProgress({ errors, environment }: ProcessInterface): boolean {
  return errors.isTTY === true && environment['TERM'] !== 'dumb';
}

/** The first SIGINT or SIGTERM aborts the returned signal. The second one ends the process immediately. */
function abortOnSignal({ onSignal, errors, exit }: ProcessInterface, getNotice: () => string): AbortSignal {
  const controller = new AbortController();
  onSignal(() => {
    if (controller.signal.aborted) return exit(130);
    errors.write(getNotice());
    controller.abort();
  });
  return controller.signal;
}
