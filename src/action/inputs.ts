import { z } from 'zod';
import { parseMaxChanges } from '../domain/policy.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { Runner } from './host.ts';

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
