import { refused } from '../commands/result.ts';
import { problemOf } from '../problem.ts';
import { chooseMode } from './choose-mode.ts';
import { makeContext } from './context.ts';
import { hidingActionHost, type ActionHost, type HidingActionHost } from './host.ts';
import { readInputs } from './inputs.ts';
import { runMode } from './modes.ts';
import { tell } from './tell.ts';
import type { Done } from './telling.ts';

/** Runs the action once and resolves to its exit code. */
export async function runAction(given: ActionHost): Promise<number> {
  const host = hidingActionHost(given);
  return tell(await run(host), host);
}

async function run(host: HidingActionHost): Promise<Done> {
  let begun: Omit<Done, 'result'> = { mode: 'plan', context: null };
  try {
    const inputs = readInputs(host.runner);
    const context = await makeContext(inputs, host);
    begun = { ...begun, context };
    begun = { mode: chooseMode(inputs.mode, context.event), context };
    return { ...begun, result: await runMode(begun.mode, context) };
  } catch (error) {
    return { ...begun, result: refused('dry-run', problemOf(error)) };
  }
}
