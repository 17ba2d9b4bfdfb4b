import type { Host } from '../cli/host.ts';
import { hidingHost, type HidingHost } from '../cli/secrets.ts';

/** Where in the repository an annotation stands, and its title. */
export type AnnotationPlace = {
  readonly title: string;
  readonly file?: string;
  readonly startLine?: number;
  readonly startColumn?: number;
};

export type AnnotationKind = 'error' | 'warning' | 'notice';

/** What the runner offers an action: the part of @actions/core that is used. */
export type Runner = {
  /** Trimmed; empty where it was not given. */
  readonly getInput: (name: string) => string;
  readonly setOutput: (name: string, value: string) => void;
  /** The runner hides it in the log from then on. */
  readonly setSecret: (secret: string) => void;
  readonly annotate: (kind: AnnotationKind, message: string, place: AnnotationPlace) => void;
  readonly writeSummary: (markdown: string) => Promise<void>;
};

export type ActionHost = Host & { readonly runner: Runner };

/** A host of which log, annotations, outputs and summary hide the secrets. */
export type HidingActionHost = ActionHost & HidingHost;

export function hidingActionHost(given: ActionHost): HidingActionHost {
  const host = hidingHost(given);
  const { runner } = given;
  const { hide } = host.secrets;
  const told = new Set<string>();
  return {
    ...host,
    runner: {
      ...runner,
      setSecret: (secret) => {
        if (told.has(secret)) return;
        told.add(secret);
        runner.setSecret(secret);
        host.secrets.keep(secret);
      },
      setOutput: (name, value) => runner.setOutput(name, hide(value)),
      annotate: (kind, message, place) => runner.annotate(kind, hide(message), place),
      writeSummary: (markdown) => runner.writeSummary(hide(markdown)),
    },
  };
}
