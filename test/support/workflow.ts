import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const root = resolve(import.meta.dirname, '../..');

export const ActionShape = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() })),
  outputs: z.record(z.string(), z.object({ description: z.string() })),
  runs: z.object({ using: z.literal('node24'), main: z.literal('dist/action/index.cjs') }),
});

const StepShape = z.object({
  id: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
type Step = z.infer<typeof StepShape>;

const JobsShape = z.object({ jobs: z.record(z.string(), z.object({ steps: z.array(StepShape) })) });

export const readYaml = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'));

const action = ActionShape.parse(readYaml('action.yml'));

/** Returns the actions of these steps that are not pinned to a commit id. */
export function unpinnedIn(steps: readonly Step[]): readonly string[] {
  const used = steps.flatMap(({ uses }) => (uses === undefined || uses === './' ? [] : [uses]));
  return used.filter((one) => !/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/.test(one));
}

/** Returns the inputs that these steps pass to promptsync and that promptsync does not have. */
export function unknownInputsIn(steps: readonly Step[]): readonly string[] {
  return ownIn(steps).flatMap((step) => Object.keys(step.with ?? {}).filter((name) => !(name in action.inputs)));
}

/** Returns the outputs that the text reads from promptsync's steps and that promptsync does not have. */
export function unknownOutputsIn(steps: readonly Step[], text: string): readonly string[] {
  return ownIn(steps).flatMap(({ id }) =>
    [...text.matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/g)].flatMap(([, step = '', output = '']) =>
      step === id && !(output in action.outputs) ? [output] : [],
    ),
  );
}

/** Returns the problems of a workflow or of its jobs. */
export function wrongInWorkflow(value: unknown): readonly unknown[] {
  const parsed = JobsShape.safeParse(value);
  if (!parsed.success) return parsed.error.issues;
  const steps = Object.values(parsed.data.jobs).flatMap((job) => job.steps);
  return [...unpinnedIn(steps), ...unknownInputsIn(steps), ...unknownOutputsIn(steps, JSON.stringify(value))];
}

function ownIn(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ uses }) => uses === './' || uses?.includes('/promptsync@'));
}
