import { makeRedact } from '../domain/redact.ts';
import type { Host, Sink } from './host.ts';

/** What must occur in no output: files, commits and the service may hold the key as well. */
export type Secrets = {
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

/** A host whose standard output and standard error hide the secrets. */
export type HidingHost = Host & { readonly secrets: Secrets };

export function hidingHost(host: Host): HidingHost {
  const secrets = makeSecrets();
  const { hide } = secrets;
  return { ...host, secrets, output: hiding(host.output, hide), errors: hiding(host.errors, hide) };
}

function hiding(sink: Sink, hide: Secrets['hide']): Sink {
  return {
    isTTY: sink.isTTY === true,
    // A window may change while a run goes on.
    get columns() {
      return sink.columns;
    },
    write: (text) => sink.write(hide(text)),
  };
}
