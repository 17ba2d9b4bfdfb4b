import { z } from 'zod';
import { type Host, makeSafeHost, type SafeHost } from '../cli/host.ts';
import { parseMaxChanges } from '../domain/policy.ts';
import { makeProblem, ProblemError } from '../problem.ts';

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

/** A host of which log, annotations, outputs and summary hide the secrets, and the runner is told of each. */
export type SafeActionHost = ActionHost & SafeHost;

export function makeSafeAction(given: ActionHost): SafeActionHost {
  const { runner } = given;
  const host = makeSafeHost(given);
  const { hide, keep } = host.secrets;
  const keepBoth = (secret: string): void => {
    runner.setSecret(secret);
    keep(secret);
  };
  return {
    ...host,
    secrets: { hide, keep: keepBoth },
    runner: {
      ...runner,
      setOutput: (name, value) => runner.setOutput(name, hide(value)),
      annotate: (kind, message, place) => runner.annotate(kind, hide(message), place),
      writeSummary: (markdown) => runner.writeSummary(hide(markdown)),
    },
  };
}

const booleanInput = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).default(false);

/** The inputs of action.yml. A workflow may give one that is empty: then it counts as left out. */
const InputShape = z.object({
  mode: z.enum(['auto', 'plan', 'sync', 'drift', 'pull', 'promote', 'rollback']).default('auto'),
  config: z.string().optional(),
  'working-directory': z.string().default('.'),
  'base-url': z.string().optional(),
  'api-key': z.string().optional(),
  'public-key': z.string().optional(),
  'github-token': z.string().optional(),
  comment: z.enum(['always', 'changes', 'never']).default('always'),
  'on-drift': z.enum(['overwrite', 'fail']).optional(),
  'max-changes': z
    .string()
    .transform((text, { addIssue }) => {
      const parsed = parseMaxChanges(text);
      if (parsed === null) addIssue('expected a number, or a percentage such as 25%');
      return parsed ?? undefined;
    })
    .optional(),
  'require-reviewed-plan': booleanInput,
  'any-commit': booleanInput,
  'drift-issue': booleanInput,
  prompts: z.string().default(''),
  from: z.string().optional(),
  to: z.string().default(''),
  environment: z.string().default(''),
});

export type Inputs = z.infer<typeof InputShape>;

export const INPUT_NAMES = Object.keys(InputShape.shape);

/** Reads the inputs; the key and the token are made secrets before anything else. Throws a `ProblemError`. */
export function readInputs(
  { getInput }: Pick<Runner, 'getInput'>,
  { keep }: Pick<SafeHost['secrets'], 'keep'>,
): Inputs {
  const given = Object.fromEntries(INPUT_NAMES.map((name) => [name, getInput(name) || undefined]));
  for (const secret of [given['api-key'], given['github-token']]) if (secret !== undefined) keep(secret);
  const parsed = InputShape.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path = [], message = '' } = parsed.error.issues[0] ?? {};
  throw new ProblemError(makeProblem('action/invalid-input', { input: path.join('.'), expected: message }));
}
