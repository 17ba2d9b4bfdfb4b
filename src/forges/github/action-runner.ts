import { z } from 'zod';
import { type ProcessInterface, makeSafeProcess, type SafeProcess } from '../../cli/process-interface.ts';
import { describeShapeFault } from '../../domain/describe-shape-fault.ts';
import { parseMaxChanges, MAX_CHANGES_FORM } from '../../domain/policy.ts';
import { makeProblem, ProblemError } from '../../problem.ts';
import { listSecretForms } from '../../text.ts';

/** The title of an annotation, and its location in a file. Lines and columns start at 1. */
export type AnnotationPlace = {
  readonly title: string;
  readonly file?: string;
  readonly startLine?: number;
  readonly startColumn?: number;
};

export type AnnotationKind = 'error' | 'warning' | 'notice';

/** The functions of the GitHub runner that the action uses. They are part of `@actions/core`. */
export type Runner = {
  /** Returns the trimmed value of an input, or an empty string if the workflow does not set the input. */
  readonly getInput: (name: string) => string;
  readonly setOutput: (name: string, value: string) => void;
  /** Registers a secret with the runner, which then hides the secret in all later lines of the log. */
  readonly setSecret: (secret: string) => void;
  readonly annotate: (kind: AnnotationKind, message: string, place: AnnotationPlace) => void;
  /** Writes the summary of the step, which GitHub shows on the page of the run. */
  readonly writeSummary: (markdown: string) => Promise<void>;
};

export type ActionProcess = ProcessInterface & { readonly runner: Runner };

/** Hides secrets in the log, annotations, outputs and summary, and registers all forms of each with the runner. */
export type SafeActionProcess = ActionProcess & SafeProcess;

export function makeSafeActionProcess(host: ActionProcess): SafeActionProcess {
  const { runner } = host;
  const safeHost = makeSafeProcess(host);
  const { hide, keep } = safeHost.secrets;
  const keepAndRegister = (secret: string): void => {
    for (const form of listSecretForms(secret)) runner.setSecret(form);
    keep(secret);
  };
  return {
    ...safeHost,
    secrets: { hide, keep: keepAndRegister },
    runner: {
      ...runner,
      setOutput: (name, value) => runner.setOutput(name, hide(value)),
      annotate: (kind, message, place) => runner.annotate(kind, hide(message), place),
      writeSummary: (markdown) => runner.writeSummary(hide(markdown)),
    },
  };
}

const BooleanInputShape = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).default(false);

/** The inputs of action.yml. If a workflow sets an input to an empty string, the input counts as missing. */
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
      if (parsed === null) addIssue(`expected ${MAX_CHANGES_FORM}`);
      return parsed ?? undefined;
    })
    .optional(),
  'require-reviewed-plan': BooleanInputShape,
  'any-commit': BooleanInputShape,
  'drift-issue': BooleanInputShape,
  prompts: z.string().default(''),
  from: z.string().optional(),
  to: z.string().default(''),
  environment: z.string().default(''),
  environments: z
    .string()
    .default('')
    .transform((text) => text.split(/\s+/).filter((name) => name !== '')),
});

export type Inputs = z.infer<typeof InputShape>;

export const INPUT_NAMES = Object.keys(InputShape.shape);

/**
 * Reads the inputs. First registers the API key and the token as secrets, so that no message can contain them. Throws a
 * `ProblemError` if an input is not valid.
 */
export function readInputs(
  { getInput }: Pick<Runner, 'getInput'>,
  { keep }: Pick<SafeProcess['secrets'], 'keep'>,
): Inputs {
  const values = Object.fromEntries(INPUT_NAMES.map((name) => [name, getInput(name) || undefined]));
  for (const secret of [values['api-key'], values['github-token']]) {
    if (secret !== undefined) keep(secret);
  }
  const parsed = InputShape.safeParse(values);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const expected = issue === undefined ? '' : describeShapeFault(issue, undefined);
  throw new ProblemError(makeProblem('action/invalid-input', { input: issue?.path.join('.') ?? '', expected }));
}
