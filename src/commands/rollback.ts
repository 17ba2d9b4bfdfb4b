import { findContent, knownVersions, type KnownVersion } from '../domain/known-versions.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { Version } from '../domain/version.ts';
import { versionMeant, type FormerPin } from '../planning/former-pins.ts';
import { makeProblem } from '../problem.ts';
import { commitMessage } from './editing/commit-message.ts';
import { stays } from './editing/draft-edits.ts';
import { environmentProblems, fullestLedger, readFor } from './editing/environment-option.ts';
import { readFormerPins } from './past/former-pins.ts';
import { draftPin, servedIn } from './editing/pin-edit.ts';
import type { Prepared } from './preparing/prepare-plan.ts';
import type { CommandResult } from './result.ts';
import { runEdits, type Drafted, type EditPromptsOptions } from './editing/run-edits.ts';
import type { World } from './world.ts';

export type RollbackOptions = EditPromptsOptions & {
  readonly environment: string;
  /** A version number; without it the one that the environment served before. */
  readonly to?: number | undefined;
};

/** Pins an environment of a prompt to the version that it served before, or to a number. */
export async function rollback(options: RollbackOptions, world: World): Promise<CommandResult> {
  const { environment, to } = options;
  return runEdits(
    {
      mode: 'rollback',
      needs: (config) => ({
        problems: environmentProblems('--environment', environment, config),
        alsoRead: [...readFor(environment, config), ...fullestLedger(config)],
      }),
      draft: (prompt, prepared) => draftRollback(prompt, environment, to, prepared),
      messageFor: (edited) => commitMessage(edited, (names) => `Roll ${names} back in ${environment}`),
    },
    options,
    world,
  );
}

async function draftRollback(
  prompt: PromptPlan,
  environment: string,
  to: number | undefined,
  prepared: Prepared,
): Promise<Drafted> {
  const { file, observed } = prompt;
  const known = observed === null ? [] : knownVersions(observed);
  const number = to ?? (await versionBefore(prompt, environment, known, prepared));
  const unknown = to !== undefined && !known.some((version) => version.number === to);
  if (number !== null && !unknown) return draftPin({ environment, number }, prompt, prepared);
  const place = { path: file.path };
  const problem = unknown
    ? makeProblem('rollback/unknown-version', { number: to }, place)
    : makeProblem('rollback/nothing-before', { environment }, place);
  return { draft: stays(file, 'blocked', [problem]), texts: [] };
}

/** What git says the environment was pinned to before; where it says nothing, the version before in the ledger. */
async function versionBefore(
  prompt: PromptPlan,
  environment: string,
  known: readonly KnownVersion[],
  { repository }: Prepared,
): Promise<number | null> {
  const served = servedIn(prompt, environment);
  const head = repository?.head ?? null;
  const former = repository === null || head === null ? new Map() : await readFormerPins(prompt.file, head, repository);
  const pins: readonly FormerPin[] = former.get(environment) ?? [];
  const find = (content: Content) => findContent(known, content);
  const numbers = pins.flatMap((pin) => versionMeant(pin, known, find)?.number ?? []);
  const all = known.map(({ number }) => number);
  return before(numbers, served) ?? before(all, served);
}

/** The first, newest first, that is older than what is served: a second rollback goes on, not forward again. */
function before(numbers: readonly number[], served: Version | null): number | null {
  const from = numbers.findIndex((number) => number === served?.number);
  const earlier = numbers.slice(Math.max(0, from));
  return earlier.find((number) => served === null || number < served.number) ?? null;
}
