import type { Config } from '../config/config.ts';
import { openWorkspace } from '../desired/workspace.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { literalSelector } from '../domain/text.ts';
import type { World } from '../domain/world.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { type Draft, editFiles, type EditOptions, stays } from './edit-files.ts';
import { draftPin, environmentBefore, environmentProblems, readFor, servedIn } from './pin-edit.ts';
import { type CommandResult, refused } from './result.ts';
import type { Walked } from './walk.ts';

type PromoteOptions = EditOptions & {
  /** Without it, and without any that are named, somebody has to choose. */
  readonly all: boolean;
  /** By default the one that the configuration says `to` is promoted from. */
  readonly from?: string | undefined;
  readonly to: string;
};

/** Pins an environment of each prompt to the version that another one serves now. */
export async function promote(options: PromoteOptions, world: World): Promise<CommandResult> {
  const { to } = options;
  const { named, problems } = await namedPrompts(options, world);
  if (problems.length > 0) return refused('promote', ...problems);
  const fromOf = (config: Config) => options.from ?? environmentBefore(to, config);
  const needs = (config: Config) => {
    const from = fromOf(config);
    return {
      problems: problemsOf(from, to, config),
      environments: [...(from === undefined ? [] : [from]), ...readFor(to, config)],
      whole: false,
    };
  };
  const draft = (prompt: PromptPlan, walked: Walked) => draftPromotion(prompt, fromOf(walked.config) ?? to, to, walked);
  const subject = (names: string) => `Promote ${names} to ${to}`;
  return editFiles({ mode: 'promote', needs, draft, subject }, { ...options, named }, world);
}

type Named = { readonly named: readonly string[]; readonly problems: readonly Problem[] };

/** Those that were named; at a terminal those that somebody chooses. */
async function namedPrompts({ config, only, named = [], all }: PromoteOptions, world: World): Promise<Named> {
  const some = only.length > 0 || named.length > 0;
  const reason = '--all and prompts that are named exclude each other.';
  if (all && some) return { named, problems: [makeProblem('usage/invalid', { reason })] };
  if (some || all) return { named, problems: [] };
  if (world.interview === null) return { named, problems: [makeProblem('usage/nothing-named')] };
  const { files, problems } = await openWorkspace({ config, only }, world);
  if (problems.some(isError)) return { named, problems };
  const options = files.map(({ key }) => key);
  const chosen = await world.interview.choose({ message: 'Which prompts are promoted?', options });
  return { named: chosen.map(literalSelector), problems: [] };
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
  const draft = await draftPin({ environment: to, number: served.number }, prompt, walked);
  const drifts = changes.some((change) => change.kind === 'set-active' && change.environment === from);
  if (!drifts || draft.status !== 'pending') return draft;
  const evidence = { environment: from, serves: `v${served.number}` };
  const warning = makeProblem('promote/source-drifted', evidence, { path: file.path });
  return { ...draft, problems: [...draft.problems, warning] };
}
