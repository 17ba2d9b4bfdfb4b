import type { Interview, World } from '../domain/world.ts';
import { ask } from './questions.ts';
import type { Host, SafeHost } from './host.ts';
import { progressReporter } from './progress.ts';

type WorldOptions = {
  /** Shows neither progress nor waits. */
  readonly quiet?: boolean;
  /** What the person reads at the first signal. */
  readonly onInterrupt: string;
  /** Left out where no path is shown as a link. */
  readonly keepFolder?: World['keepFolder'];
  /** Left out where nobody is asked for more than a yes: the action has no use for what it brings along. */
  readonly interviewer?: (stop: AbortSignal) => Interview;
};

/** The world as a command sees it, made of the process. To be called once: it listens for signals. */
export function worldOf(host: SafeHost, { quiet = false, onInterrupt, ...options }: WorldOptions): World {
  const { workingDirectory, environment, now, random, newId, sleep, errors, input, draw, secrets } = host;
  const stop = interruption(host, onInterrupt);
  const terminal = errors.isTTY === true && input().isTTY === true;
  return {
    workingDirectory,
    environment,
    now,
    random,
    newId,
    sleep: (milliseconds) => sleep(milliseconds, stop),
    stop,
    keepSecret: secrets.keep,
    keepFolder: options.keepFolder ?? (() => {}),
    notice: (line) => void errors.write(`${line}\n`),
    onProgress: quiet || !canDraw(host) ? () => {} : progressReporter({ draw, columns: () => errors.columns, now }),
    onWait: ({ seconds, asked }) =>
      void (quiet || errors.write(`waiting ${seconds} s: the service asks for ${asked}\n`)),
    confirm: terminal ? (question) => ask(host, question, stop) : null,
    interview: terminal && !isContinuousIntegration(environment) ? (options.interviewer?.(stop) ?? null) : null,
  };
}

/** A terminal that cannot take back what it shows would be filled with it. */
function canDraw({ errors, environment }: Host): boolean {
  return errors.isTTY === true && environment['TERM'] !== 'dumb';
}

function isContinuousIntegration({ CI: value = '' }: Host['environment']): boolean {
  return value !== '' && value !== 'false';
}

/** The first signal lets the call in flight end; the second ends the process at once. */
function interruption({ onSignal, errors, exit }: Host, notice: string): AbortSignal {
  const controller = new AbortController();
  onSignal(() => {
    if (controller.signal.aborted) return exit(130);
    errors.write(notice);
    controller.abort();
  });
  return controller.signal;
}
