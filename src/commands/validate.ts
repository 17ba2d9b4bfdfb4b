import { openWorkspace, type WorkspaceOptions } from './workspace.ts';
import { exitCodeOf, notRun, type CommandResult } from './result.ts';
import type { World } from './world.ts';

/** Checks configuration and prompt files. Asks nothing of the service and needs no key. */
export async function validate(options: WorkspaceOptions, world: World): Promise<CommandResult> {
  const workspace = await openWorkspace(options, world);
  const run = notRun('validate', workspace);
  return { run, texts: new Map(), exitCode: exitCodeOf(run, { tellPending: false, interrupted: false }) };
}
