import { openWorkspace, type WorkspaceOptions } from './workspace.ts';
import { exitCodeOf, type CommandResult } from './result.ts';
import type { World } from './world.ts';

/** Checks configuration and prompt files. Asks nothing of the service and needs no key. */
export async function validate(options: WorkspaceOptions, world: World): Promise<CommandResult> {
  const { files, problems } = await openWorkspace(options, world);
  const run = { mode: 'validate' as const, service: null, commit: null, files, plan: null, outcomes: null, problems };
  return { run, texts: new Map(), exitCode: exitCodeOf(run, { tellPending: false, interrupted: false }) };
}
