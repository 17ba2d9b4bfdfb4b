import type { Config } from '../config/config.ts';
import { toolEnvironments } from '../domain/policy.ts';
import type { VersionHistory } from '../domain/prompt-history.ts';
import { makeHistory } from '../planning/make-history.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import { fullestLedger, unknownEnvironment } from './editing/environment-option.ts';
import { withPlan, type Prepared, type PrepareOptions } from './preparing/prepare-plan.ts';
import { readPasts, type Pasts } from './past/read-pasts.ts';
import { notRun, type CommandResult } from './result.ts';
import type { World } from './world.ts';

export type HistoryOptions = Pick<PrepareOptions, 'config' | 'onCall'> & {
  /** A key, a path, or a pattern of either. */
  readonly key: string;
  /** The environment whose version's origin is asked for; undefined: all versions are told. */
  readonly environment?: string | undefined;
};

/**
 * The versions of prompts: who made each, where it is active, when it was pinned. It guards nothing: pending changes
 * and pins that cannot be followed are no reason to fail. Never writes.
 */
export async function history({ key, environment, ...rest }: HistoryOptions, world: World): Promise<CommandResult> {
  const needs = (config: Config) => ({
    problems: environment === undefined ? [] : unknownEnvironment('--environment', environment, config),
    alsoRead: environmentsToRead(environment, config),
  });
  return withPlan(
    { ...rest, only: [key], needs, keepsAll: true },
    world,
    async (prepared) => resultOf(await tell(prepared, environment ?? null), world),
    (reason) => resultOf(notRun('history', reason), world),
  );
}

/** The more is read, the more ledgers are. */
function environmentsToRead(name: string | undefined, config: Config): readonly string[] {
  const configured = (config.environments ?? []).map((environment) => environment.name);
  return [...configured, ...(name === undefined ? [] : [name]), ...fullestLedger(config)];
}

async function tell(prepared: Prepared, environment: string | null): Promise<Run> {
  const { config, plan, repository, service, files, rules, problems } = prepared;
  const pasts = await readPasts(prepared);
  const { trackingEnvironment } = config;
  const hidden = toolEnvironments(trackingEnvironment).filter((name) => name !== environment);
  const versions = plan.prompts.flatMap(({ file, observed }): [string, readonly VersionHistory[]][] => {
    if (observed === null) return [];
    const past = pasts.byPrompt.get(file.id) ?? { states: [], whole: true };
    const order = rules.environmentOrder ?? [];
    return [[file.id, makeHistory({ observed, past, commits: pasts.commits, trackingEnvironment, order, hidden })]];
  });
  return {
    ...{ mode: 'history', service: service.name, commit: repository?.head ?? null, files, plan, outcomes: null },
    histories: { versions: new Map(versions), environment },
    problems: [...problems, ...shallowWarning(pasts)],
  };
}

function shallowWarning({ shallow }: Pasts): readonly Problem[] {
  return shallow ? [makeProblem('git/shallow-history')] : [];
}

/** As that of a status, but that a plan's guards do not count. */
function resultOf(run: Run, { stop }: World): CommandResult {
  return { run, exitCode: stop.aborted ? 130 : codeOf(run) };
}

function codeOf({ plan, problems }: Run): number {
  const prompts = plan?.prompts ?? [];
  if (problems.some(isError) || prompts.every(({ observed }) => observed === null)) return 1;
  return prompts.some(({ observed }) => observed === null) ? 4 : 0;
}
