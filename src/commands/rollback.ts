import { readFileHistory } from '../desired/read-history.ts';
import type { FormerPin } from '../domain/history.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { pinText } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { knownBefore, pinnedBefore } from '../planning/former-pins.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { type Draft, editFiles, type EditOptions, stays } from './edit-files.ts';
import { draftPin, environmentProblems, readFor, servedIn } from './pin-edit.ts';
import { type CommandResult, refused } from './result.ts';
import type { Walked } from './walk.ts';

type RollbackOptions = EditOptions & {
  readonly environment: string;
  /** A version number; without it the one that the environment served before. */
  readonly to?: number | undefined;
};

/** Pins an environment of a prompt to the version that it served before, or to a number. */
export async function rollback(options: RollbackOptions, world: World): Promise<CommandResult> {
  const { environment } = options;
  if (options.only.length === 0) return refused('rollback', makeProblem('usage/nothing-named'));
  return editFiles(
    {
      mode: 'rollback',
      needs: (config) => ({
        problems: environmentProblems('--environment', environment, config),
        environments: readFor(environment, config),
        whole: 'versions' as const,
      }),
      draft: (prompt, walked) => draftRollback(prompt, options, walked),
      subject: (names) => `Roll ${names} back in ${environment}`,
    },
    options,
    world,
  );
}

async function draftRollback(prompt: PromptPlan, options: RollbackOptions, walked: Walked): Promise<Draft> {
  const { file, observed } = prompt;
  const { environment, to } = options;
  const number = to ?? (await versionBefore(prompt, environment, walked));
  if (typeof number !== 'number') return stays(file, 'blocked', [number]);
  const version = observed?.known.find((one) => one.number === number);
  if (version !== undefined) return draftPin({ environment, version }, prompt, walked);
  return stays(file, 'blocked', [makeProblem('rollback/unknown-version', { number }, { path: file.path })]);
}

/** What git says the environment was pinned to before; where it says nothing, the version before that is known. */
async function versionBefore(prompt: PromptPlan, environment: string, walked: Walked): Promise<number | Problem> {
  const place = { path: prompt.file.path };
  const known = prompt.observed?.known ?? [];
  const served = servedIn(prompt, environment);
  if (served === null) return makeProblem('rollback/nothing-served', { environment }, place);
  const before = pinnedBefore(await readPins(prompt, environment, walked), served, known);
  if (before.kind === 'number') return before.number;
  if (before.kind === 'unclear') return unclear(before.pin, environment, place);
  // What a shallow clone leaves out may say more.
  if (walked.repository?.shallow) return makeProblem('rollback/shallow', { environment }, place);
  return (
    knownBefore(known, served) ?? makeProblem('rollback/nothing-before', { environment, number: served.number }, place)
  );
}

async function readPins({ file }: PromptPlan, environment: string, { repository }: Walked) {
  if (repository === null || repository.head === null) return [];
  return (await readFileHistory(file, repository.head, repository)).pins.get(environment) ?? [];
}

function unclear({ pin, commit }: FormerPin, environment: string, place: Place): Problem {
  const evidence = { environment, commit, pin: pin.kind === 'latest' ? null : pinText(pin) };
  return makeProblem('rollback/unclear-before', evidence, place);
}
