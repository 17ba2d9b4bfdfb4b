import type { Config } from '../../config/config.ts';
import type { EditedPrompt } from '../../domain/edits.ts';
import type { PromptPlan } from '../../domain/plan.ts';
import { makeProblem } from '../../problem.ts';
import type { Run } from '../../report/make-report.ts';
import { stays, type Draft } from './draft-edits.ts';
import { commitProblems, makeEdits, type EditOptions } from './make-edits.ts';
import { withPlan, type Needs, type Prepared, type PrepareOptions } from '../preparing/prepare-plan.ts';
import { exitCodeOf, notRun, type CommandResult } from '../result.ts';
import type { World } from '../world.ts';

export type EditPromptsOptions = Omit<PrepareOptions, 'needs'> & EditOptions;

/** How a command edits prompt files after what the service says. */
export type Editor = {
  readonly mode: Run['mode'];
  /** What is wrong with what was asked for, and the environments to read whether they are pinned or not. */
  readonly needs: (config: Config) => Needs;
  readonly draft: (prompt: PromptPlan, prepared: Prepared) => Promise<Draft>;
  /** The message of the commit, where one is made. */
  readonly messageFor: (edited: readonly EditedPrompt[]) => string;
};

/** Observes the selected prompts, edits their files, and commits them if asked. The service is only read. */
export async function runEdits(editor: Editor, options: EditPromptsOptions, world: World): Promise<CommandResult> {
  const { mode, needs } = editor;
  const finish = (run: Run): CommandResult => {
    return { run, exitCode: exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted }) };
  };
  return withPlan(
    { ...options, needs, keepsAll: true },
    world,
    async (prepared) => {
      const obstacles = await commitProblems(options, prepared);
      if (obstacles.length > 0)
        return finish(notRun(mode, { ...prepared, problems: [...prepared.problems, ...obstacles] }));
      const drafted = await Promise.all(prepared.plan.prompts.map((prompt) => draftOf(prompt, prepared, editor)));
      const cut = world.stop.aborted && !options.dryRun;
      const drafts = drafted.map((draft) => (cut ? interrupted(draft) : draft));
      const done = await makeEdits(drafts, options, prepared, editor.messageFor);
      const run = {
        ...notRun(mode, prepared),
        plan: prepared.plan,
        service: prepared.service.name,
        commit: prepared.repository?.head ?? null,
      };
      return finish({ ...run, ...done, problems: [...prepared.problems, ...done.problems] });
    },
    (reason) => finish(notRun(mode, reason)),
  );
}

/** A prompt that could not be observed is left alone. */
async function draftOf(prompt: PromptPlan, prepared: Prepared, { draft }: Editor): Promise<Draft> {
  if (prompt.observed !== null) return draft(prompt, prepared);
  return stays(prompt.file, 'failed', prompt.problems);
}

/** Whoever gives up wants no edits of those prompts that happened to be read already, and no commit of them. */
function interrupted(draft: Draft): Draft {
  if (draft.status !== 'pending') return draft;
  const { path } = draft.file;
  return { ...draft, status: 'failed', problems: [...draft.problems, makeProblem('apply/interrupted', {}, { path })] };
}
