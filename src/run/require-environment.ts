import type { Config } from '../workspace/config.ts';
import { loadConfiguration, type WorkspaceOptions } from '../desired-state/open-workspace.ts';
import { NO_ACCEPTED_WARNINGS } from '../domain/accepted-warnings.ts';
import type { EnvironmentSelection } from '../domain/desired-state.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { suggestName } from '../domain/suggest-name.ts';
import type { System } from '../domain/system.ts';
import { readPrompts } from '../workspace/read-prompts.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan } from './command-result.ts';
import { makeCommandResult } from './exit-code.ts';

/**
 * Reads the configuration and the prompt files, because the problem lists the known environments.
 * @param option the flag that the user must pass, such as `--to`
 */
export async function makeMissingEnvironmentResult(
  mode: CommandRun['mode'],
  option: string,
  options: Pick<WorkspaceOptions, 'config' | 'configuration'>,
  system: System,
): Promise<CommandResult> {
  const { config, problems } = await loadConfiguration(options, system);
  const known = config === null ? [] : listKnownEnvironments(config, (await readPrompts(config)).files);
  const missing = makeProblem('usage/needs-environment', { option, reason: null, known });
  const run = { config, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems: [missing, ...problems] };
  return makeCommandResult(makeRunWithoutPlan(mode, run), system);
}

/** Returns the configured environments. If the configuration lists none, returns those that prompt files pin. */
export function listKnownEnvironments(
  { environments }: Pick<Config, 'environments'>,
  files: readonly PromptFile[],
): readonly string[] {
  if (environments !== null) return environments.map(({ name }) => name);
  return [...new Set(files.flatMap(({ pins }) => pins.map(({ environment }) => environment)))];
}

/**
 * Returns the environments of a run with `--environment`, in promotion order. Returns null if the user named none,
 * which means all environments. Fails with one problem for each unknown name.
 */
export function selectEnvironments(
  names: readonly string[],
  config: Pick<Config, 'environments' | 'otherEnvironments'>,
  files: readonly PromptFile[],
): Result<EnvironmentSelection | null> {
  if (names.length === 0) return makeSuccess(null);
  const known = listKnownEnvironments(config, files);
  const unknown = [...new Set(names)].filter((name) => !known.includes(name));
  const problems = unknown.map((name) => makeUnknownEnvironmentProblem('--environment', name, known, config));
  if (problems.length > 0) return makeFailure(...problems);
  return makeSuccess({ selected: known.filter((name) => names.includes(name)), known });
}

/** @param option the flag that names the environment, such as `--environment` */
export function makeUnknownEnvironmentProblem(
  option: string,
  environment: string,
  known: readonly string[],
  { otherEnvironments }: Pick<Config, 'otherEnvironments'>,
): Problem {
  const suggestion = suggestName(environment, known);
  const isOther = otherEnvironments.includes(environment);
  return makeProblem('usage/unknown-environment', { option, environment, known, isOther, suggestion });
}
