import { readHistoryThroughMoves } from '../desired/read-history.ts';
import { type Content, isEqualContent } from '../domain/content.ts';
import type { FormerPin } from '../domain/history.ts';
import type { ObservedPromptPlan } from '../domain/plan.ts';
import { formatPin } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { World } from '../domain/world.ts';
import { findPreviousGitPin, findPreviousNumber, findPreviousPin } from '../planning/former-pins.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import { type PromptDraft, editFiles, type EditOptions, makeDraftWithoutEdits } from './edit-files.ts';
import { draftContentPin, findPresentContent, wantVersion } from './content-pin.ts';
import {
  draftPinEdit,
  draftWrittenPin,
  checkEnvironmentFlag,
  listEnvironmentsToRead,
  findServedVersion,
} from './pin-edit.ts';
import { makeMissingEnvironmentResult } from './require-environment.ts';
import { type CommandResult, makeStoppedResult } from './result.ts';
import type { PlannedWorkspace } from './run-with-plan.ts';

type RollbackOptions = EditOptions & {
  /** The environment to roll back. The command requires it. */
  readonly environment?: string | undefined;
  /**
   * The number of the version to pin. Defaults to the version that the environment served before the active version.
   */
  readonly to?: number | undefined;
};

/** Pins an environment of each selected prompt to the version that it served before, or to the version from `--to`. */
export async function rollBackPrompts(options: RollbackOptions, world: World): Promise<CommandResult> {
  const { environment } = options;
  if (environment === undefined) return makeMissingEnvironmentResult('rollback', '--environment', options, world);
  if (options.only.length === 0) return makeStoppedResult('rollback', makeProblem('usage/nothing-named'));
  return editFiles(
    {
      mode: 'rollback',
      findNeeds: (config) => ({
        problems: checkEnvironmentFlag('--environment', environment, config),
        environments: listEnvironmentsToRead(environment, config),
        readDepth: 'versions' as const,
      }),
      makeDraft: (prompt, workspace) => draftRollback(prompt, environment, options.to, workspace),
      renderSubject: (names) => `Roll ${names} back in ${environment}`,
    },
    options,
    world,
  );
}

async function draftRollback(
  prompt: ObservedPromptPlan,
  environment: string,
  to: number | undefined,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file, observed } = prompt;
  const { portablePins } = workspace.config;
  if (portablePins && to === undefined) return draftGitRollback(prompt, environment, workspace);
  const target = to === undefined ? await findPreviousVersion(prompt, environment, workspace) : makeSuccess(to);
  if (!target.isSuccess) return makeDraftWithoutEdits(file, 'blocked', target.problems);
  const number = target.value;
  const version = observed.known.find((known) => known.number === number);
  if (version !== undefined && portablePins) {
    const wanted = { ...wantVersion(version, observed), description: `the text of v${number}` };
    return draftContentPin(environment, wanted, prompt, workspace);
  }
  if (version !== undefined) return draftPinEdit({ environment, version }, prompt, workspace);
  return makeDraftWithoutEdits(file, 'blocked', [
    makeProblem('rollback/unknown-version', { number }, { path: file.path }),
  ]);
}

/**
 * Drafts a rollback to the previous pin as git has it, because a version number means something else in each service.
 * If the environment serves a text that no commit pinned there, rolls back to the present pin of the file.
 */
async function draftGitRollback(
  prompt: ObservedPromptPlan,
  environment: string,
  workspace: PlannedWorkspace,
): Promise<PromptDraft> {
  const { file, observed } = prompt;
  const place = { path: file.path };
  const refuse = (problem: Problem) => makeDraftWithoutEdits(file, 'blocked', [problem]);
  const served = findServedVersion(prompt, environment);
  if (served === null) return refuse(makeProblem('rollback/nothing-served', { environment }, place));
  const { isWanted: isServed } = wantVersion(served, observed);
  const present = findPresentContent(environment, file, workspace);
  const former = await readFormerPins(prompt, environment, workspace);
  const contents = [present, ...former.map(({ content }) => content)];
  const isOutsideEdit = !contents.some((content) => content !== null && isServed(content));
  if (isOutsideEdit && present !== null) return makeDraftWithoutEdits(file, 'unchanged');
  const hasPresentContent = (content: Content): boolean =>
    present === null ? isServed(content) : isEqualContent(content, present);
  const previous = findPreviousGitPin(former, hasPresentContent);
  if (previous !== null && previous.content !== null) {
    return draftWrittenPin({ environment, value: formatPin(previous.pin), comment: '' }, prompt, workspace);
  }
  if (workspace.repository?.isShallow) return refuse(makeProblem('rollback/shallow', { environment }, place));
  if (previous !== null) return refuse(makeUnclearPinProblem(previous, environment, place));
  return refuse(makeProblem('rollback/nothing-before', { environment, number: served.number }, place));
}

/**
 * Finds the number of the version that the environment served before the active version. Takes it from the previous pin
 * in the git history. If there is no previous pin, takes the newest known version that is older than the active
 * version. Fails if it finds no version, or if the previous pin is ambiguous.
 */
async function findPreviousVersion(
  prompt: ObservedPromptPlan,
  environment: string,
  workspace: PlannedWorkspace,
): Promise<Result<number>> {
  const place = { path: prompt.file.path };
  const known = prompt.observed.known;
  const served = findServedVersion(prompt, environment);
  if (served === null) return makeFailure(makeProblem('rollback/nothing-served', { environment }, place));
  const previous = findPreviousPin(await readFormerPins(prompt, environment, workspace), served, known);
  if (previous.kind === 'number') return makeSuccess(previous.number);
  if (previous.kind === 'unclear') return makeFailure(makeUnclearPinProblem(previous.pin, environment, place));
  // In a shallow clone, a commit that git lacks may contain the previous pin.
  if (workspace.repository?.isShallow) return makeFailure(makeProblem('rollback/shallow', { environment }, place));
  const number = findPreviousNumber(known, served);
  if (number !== null) return makeSuccess(number);
  return makeFailure(makeProblem('rollback/nothing-before', { environment, number: served.number }, place));
}

async function readFormerPins(
  { file }: ObservedPromptPlan,
  environment: string,
  { repository }: PlannedWorkspace,
): Promise<readonly FormerPin[]> {
  if (repository === null || repository.head === null) return [];
  return (await readHistoryThroughMoves(file, repository.head, repository)).pins.get(environment) ?? [];
}

function makeUnclearPinProblem({ pin, commit }: FormerPin, environment: string, place: Place): Problem {
  const evidence = { environment, commit, pin: pin.kind === 'latest' ? null : formatPin(pin) };
  return makeProblem('rollback/unclear-before', evidence, place);
}
