import type { Config } from '../config/config.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { World } from '../domain/world.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type Draft, editFiles, type EditOptions, stays } from './edit-files.ts';
import { draftPin, environmentBefore, environmentProblems, readFor, servedIn } from './pin-edit.ts';
import { type CommandResult, refused } from './result.ts';
import type { Walked } from './walk.ts';

type PromoteOptions = EditOptions & {
  /** All prompts: then none is named. Otherwise some have to be. */
  readonly all: boolean;
  /** By default the one that the configuration says `to` is promoted from. */
  readonly from?: string | undefined;
  readonly to: string;
};

/** Pins an environment of each prompt to the version that another one serves now. */
export async function promote(options: PromoteOptions, world: World): Promise<CommandResult> {
  const { to } = options;
  const problem = namingProblem(options);
  if (problem !== null) return refused('promote', problem);
  const fromOf = (config: Config) => options.from ?? environmentBefore(to, config);
  const needs = (config: Config) => {
    const from = fromOf(config);
    return {
      problems: problemsOf(from, to, config),
      environments: [...(from === undefined ? [] : [from]), ...readFor(to, config)],
      whole: 'record' as const,
    };
  };
  const draft = (prompt: PromptPlan, walked: Walked) => draftPromotion(prompt, fromOf(walked.config) ?? to, to, walked);
  const subject = (names: string) => `Promote ${names} to ${to}`;
  return editFiles({ mode: 'promote', needs, draft, subject }, options, world);
}

function namingProblem({ only, all }: PromoteOptions): Problem | null {
  const some = only.length > 0;
  const reason = '--all and prompts that are named exclude each other.';
  if (all && some) return makeProblem('usage/invalid', { reason });
  return some || all ? null : makeProblem('usage/nothing-named');
}

function problemsOf(from: string | undefined, to: string, config: Config): readonly Problem[] {
  const reason = `promptsync.yaml does not say where "${to}" is promoted from`;
  if (from === undefined) {
    const unknown = environmentProblems('--to', to, config);
    return unknown.length > 0 ? unknown : [makeProblem('usage/needs-environment', { option: '--from', reason })];
  }
  if (from === to) return [makeProblem('usage/same-environment', { environment: to })];
  return [...environmentProblems('--from', from, config), ...environmentProblems('--to', to, config)];
}

async function draftPromotion(prompt: PromptPlan, from: string, to: string, walked: Walked): Promise<Draft> {
  const { file, changes } = prompt;
  const served = servedIn(prompt, from);
  if (served === null) {
    return stays(file, 'blocked', [makeProblem('promote/nothing-active', { environment: from }, { path: file.path })]);
  }
  const draft = await draftPin({ environment: to, version: served }, prompt, walked);
  const drifts = changes.some((change) => change.kind === 'set-active' && change.environment === from);
  if (!drifts || draft.status !== 'pending') return draft;
  const evidence = { environment: from, serves: `v${served.number}` };
  const warning = makeProblem('promote/source-drifted', evidence, { path: file.path });
  return { ...draft, problems: [...draft.problems, warning] };
}
