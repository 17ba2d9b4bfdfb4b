import { once } from 'node:events';
import type { Serving } from '../commands/serve.ts';
import { renderProblem } from '../report/problems.ts';
import { PLAIN } from '../report/style.ts';
import { forLog } from './for-log.ts';
import type { HidingHost } from './secrets.ts';
import type { ServeFlags } from './program.ts';
import { worldOf } from './world-of.ts';

/** Serves until a signal comes, and resolves to the exit code. */
export async function runServe({ db, port, seed }: ServeFlags, host: HidingHost): Promise<number> {
  const { serve } = await import('../commands/serve.ts');
  const world = worldOf(host, { quiet: true, onInterrupt: '', keepSecret: () => {} });
  const { serving, problems } = await serve({ db, port, seed }, world);
  const said = problems.map((problem) => `${renderProblem(problem, PLAIN)}\n`).join('');
  host.errors.write(forLog(said, host));
  if (serving === null) return 1;
  host.output.write(forLog(greeting(serving), host));
  if (!world.stop.aborted) await once(world.stop, 'abort');
  await serving.close();
  return 0;
}

function greeting({ baseUrl, keyVariable, prompts }: Serving): string {
  return [
    `The embedded service listens at ${baseUrl}; it is for trying and testing only.`,
    `API key: ${keyVariable === null ? '"embedded"' : `the value of ${keyVariable}`}`,
    `Prompts made known: ${prompts}. Ctrl-C ends it.\n`,
  ].join('\n');
}
