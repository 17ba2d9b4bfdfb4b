import { kindOf } from './calls.ts';
import { troubleOf, type Cell } from './cells.ts';
import type { Act } from './exchange.ts';
import { IMPATIENT, type Scene } from './scene.ts';
import { lawsOf, messagesOf, settle } from './settle.ts';
import { onStage, type RunRecord } from './stage.ts';

/** Runs once with the fault and again without, and gives every law that was broken. */
export async function tryCell(cell: Cell, scene: Scene, elsewhere: string): Promise<readonly string[]> {
  return onStage(scene, elsewhere, async (stage) => {
    const { state, fault } = cell;
    const { silent, limit } = fault;
    let fired = 0;
    const act: Act = (exchange) => {
      fired += 1;
      return fault.act(exchange);
    };
    const config = silent ? ['--config', IMPATIENT] : [];
    const words = ['sync', '--yes', '--verbose', '--format', 'json', ...config];
    const first = await stage.run(words, troubleOf(state, { aim: cell, act }));
    const finished = first.exitCode === 0;
    const broken = [
      ...(fired > 0 ? [] : ['the fault was not done']),
      ...lawsOf(first).filter((what) => !isExcused(cell, what)),
      ...heals(cell, first, fired),
    ];
    return [...broken, ...(await settle(stage, { finished, twice: limit !== undefined }))];
  });
}

/** The answer to create-version is all that there is to go by until the version is set. */
function isExcused({ fault }: Cell, what: string): boolean {
  return fault.phantom === true && what.includes('create-version is made, but the service has 0');
}

/** One fault that can be got over is got over, within the same run. */
function heals({ fault, call, nth, state }: Cell, record: RunRecord, fired: number): readonly string[] {
  const kind = kindOf(call);
  const mayHeal = nth !== 'every' && fault.heals?.includes(kind) === true;
  // On a machine that is very busy, calls that nothing was done to may come too late for a short time-out.
  const unanswered = record.stderr.split('no answer').length - 1;
  if (!mayHeal || unanswered > fired + (state.loses ? 1 : 0) || record.exitCode === 0) return [];
  return [`one such fault is got over, but it ended with ${record.exitCode}: ${messagesOf(record).join(' ')}`];
}
