import { notRun, type CommandResult } from '../commands/result.ts';
import { problemOf } from '../problem.ts';
import { chooseMode, type Mode } from './choose-mode.ts';
import { makeContext, type Context } from './context.ts';
import { hidingActionHost, type ActionHost } from './host.ts';
import { readInputs } from './inputs.ts';
import { runMode } from './modes.ts';
import { tell } from './tell.ts';

/** Runs the action once and resolves to its exit code. Never throws. */
export async function runAction(given: ActionHost): Promise<number> {
  const host = hidingActionHost(given);
  let context: Context | null = null;
  let mode: Mode = 'plan';
  try {
    const inputs = readInputs(host.runner);
    context = await makeContext(inputs, host);
    mode = chooseMode(inputs.mode, context.event);
    return await tell(await runMode(mode, context), mode, context, host);
  } catch (error) {
    return tell(unfinished(error), mode, context, host);
  }
}

/** What is told where it could not even begin. */
function unfinished(error: unknown): CommandResult {
  const run = notRun('dry-run', { files: [], problems: [problemOf(error)] });
  return { run, texts: new Map(), exitCode: 1 };
}
