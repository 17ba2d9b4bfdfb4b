import { once } from 'node:events';
import type { World } from '../commands/world.ts';
import { isError } from '../problem.ts';
import { coloursFor } from '../rendering/colours.ts';
import { renderProblem } from '../rendering/render-problem.ts';
import type { Host } from './host.ts';
import type { ServeFlags } from './program.ts';

/** Serves until a signal comes, and resolves to the exit code. */
export async function runServe({ db, port, seed }: ServeFlags, host: Host, world: World): Promise<number> {
  const { serve } = await import('../commands/serve.ts');
  const { serving, problems } = await serve({ db, port, seed }, world);
  for (const problem of problems) host.errors.write(`${renderProblem(problem, coloursFor(false))}\n`);
  if (serving === null) return problems.some(isError) ? 1 : 0;
  host.output.write(
    [
      `The embedded service listens at ${serving.baseUrl}; it is for trying and testing only.`,
      `API key: ${serving.keyVariable === null ? '"embedded"' : `the value of ${serving.keyVariable}`}`,
      `Prompts made known: ${serving.prompts}. Ctrl-C ends it.\n`,
    ].join('\n'),
  );
  if (!world.stop.aborted) await once(world.stop, 'abort');
  await serving.close();
  return 0;
}
