import { makeRedact } from '../domain/text.ts';
import { escapeForRunner } from '../report/escape.ts';
import { type Host, type Sink, through } from './host.ts';
import { type SharedScreen, shareScreen } from './progress.ts';

/** What must occur in no output: files, commits and the service may hold the key as well. */
type Secrets = {
  readonly keep: (secret: string) => void;
  readonly hide: (text: string) => string;
};

/** Shorter ones are words that reports consist of; no service hands out such a key. */
const SHORTEST = 8;

function makeSecrets(): Secrets {
  const redacts: ((text: string) => string)[] = [];
  return {
    keep: (secret) => {
      if (secret.length >= SHORTEST) redacts.push(makeRedact(secret));
    },
    hide: (text) => redacts.reduce((rest, redact) => redact(rest), text),
  };
}

/** A host whose standard output and standard error hide the secrets, and share a screen with the line of progress. */
export type HidingHost = Host & SharedScreen & { readonly secrets: Secrets };

export function hidingHost(host: Host): HidingHost {
  const secrets = makeSecrets();
  const { hide } = secrets;
  return { ...host, secrets, ...shareScreen(hiding(host.output, hide), hiding(host.errors, hide)) };
}

function hiding(sink: Sink, hide: Secrets['hide']): Sink {
  return through(sink, (text) => sink.write(hide(text)));
}

/** A text as standard output and standard error can take it: a GitHub runner reads commands out of both. */
export function forLog(text: string, { environment }: Pick<Host, 'environment'>): string {
  return environment['GITHUB_ACTIONS'] === 'true' ? escapeForRunner(text) : text;
}
