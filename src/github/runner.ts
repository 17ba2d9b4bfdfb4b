import { z } from 'zod';
import type { Host } from '../cli/host.ts';
import { hidingHost, type HidingHost } from '../cli/secrets.ts';
import { parseMaxChanges } from '../domain/policy.ts';
import { makeProblem, ProblemError } from '../problem.ts';

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
  const masked = new Set<string>();
  return {
    ...host,
    runner: {
      ...runner,
      setSecret: (secret) => {
        if (masked.has(secret)) return;
        masked.add(secret);
        runner.setSecret(secret);
        host.secrets.keep(secret);
      },
      setOutput: (name, value) => runner.setOutput(name, hide(value)),
      annotate: (kind, message, place) => runner.annotate(kind, hide(message), place),
      writeSummary: (markdown) => runner.writeSummary(hide(markdown)),
    },
  };
}

const flag = z.enum(['true', 'false', ''], { error: 'expected true or false' }).transform((text) => text === 'true');
const text = z.string().transform((value) => (value === '' ? undefined : value));
const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, { error: `expected ${names.join(', ')}` });

/** The inputs of action.yml; what is left out there is the empty text. */
const InputShape = z.object({
  mode: oneOf(['auto', 'plan', 'sync', 'drift']),
  config: text,
  'working-directory': z.string(),
  'base-url': text,
  'api-key': text,
  'github-token': text,
  comment: oneOf(['always', 'changes', 'never']),
  'on-drift': oneOf(['overwrite', 'fail', '']).transform((value) => (value === '' ? undefined : value)),
  'max-changes': z.string().transform((value, context) => {
    if (value === '') return undefined;
    const parsed = parseMaxChanges(value);
    if (parsed === null) context.addIssue('expected a number, or a percentage such as 25%');
    return parsed ?? undefined;
  }),
  'require-reviewed-plan': flag,
  'drift-issue': flag,
});

const DEFAULTS: Readonly<Record<string, string>> = { mode: 'auto', comment: 'always', 'working-directory': '.' };

export type Inputs = z.infer<typeof InputShape>;

export const INPUT_NAMES = Object.keys(InputShape.shape);

/** Reads the inputs; the key and the token are made secrets before anything else. Throws a `ProblemError`. */
export function readInputs({ getInput, setSecret }: Runner): Inputs {
  const given = Object.fromEntries(INPUT_NAMES.map((name) => [name, getInput(name) || (DEFAULTS[name] ?? '')]));
  for (const secret of [given['api-key'], given['github-token']]) if (secret) setSecret(secret);
  const parsed = InputShape.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path = [], message = '' } = parsed.error.issues[0] ?? {};
  throw new ProblemError(makeProblem('action/invalid-input', { input: path.join('.'), expected: message }));
}
