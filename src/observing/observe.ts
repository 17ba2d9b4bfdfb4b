import pLimit from 'p-limit';
import { type Desired, pinsInOrder } from '../domain/desired.ts';
import type { Observation, Observed, Wanted, Whole } from '../domain/observed.ts';
import type { Provider } from '../domain/provider.ts';
import { dueVersion, meaningsOf } from '../domain/meaning.ts';
import { changedFields, type ContentsAtRefs, contentsIn } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { type Problem, problemOf } from '../problem.ts';

/** What a command asks for beyond what its prompts pin. */
export type Needs = {
  /** Environments that are read of every prompt, pinned or not. */
  readonly environments: readonly string[];
  readonly whole: Whole;
};

export const NO_NEEDS: Needs = { environments: [], whole: false };

/**
 * What has to be read of the service to plan for a file, and for that of the base commit where drift is looked for. The
 * environment before one that is pinned is read as well: a promotion is allowed or refused by what it serves.
 */
export function wantedOf(
  file: PromptFile,
  desired: Pick<Desired, 'contentsAtRefs' | 'base' | 'promotedFrom' | 'environmentOrder'>,
  { environments, whole }: Needs = NO_NEEDS,
): Wanted {
  const { contentsAtRefs, base, promotedFrom } = desired;
  const then = base?.files.get(file.id);
  const atRefs = contentsAtRefs.get(file.id) ?? new Map();
  const both = then === undefined ? [file] : [file, then];
  const ownPins = pinsInOrder(file.pins, desired);
  const pins = then === undefined ? ownPins : [...ownPins, ...then.pins];
  const before = ownPins.flatMap(({ environment }) => promotedFrom.get(environment) ?? []);
  return {
    promptId: file.id,
    environments: [...new Set([...pins.map(({ environment }) => environment), ...before, ...environments])],
    pins: ownPins,
    own: file.content,
    sought: [...both.map(({ content }) => content), ...contentsIn(atRefs)],
    numbers: pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin.number] : [])),
    isDone: (observed) => isDone(file, observed, atRefs),
    whole,
  };
}

function isDone(file: PromptFile, observed: Observed, atRefs: ContentsAtRefs): boolean {
  const meanings = meaningsOf(file, observed, atRefs);
  return (
    meanings.every(({ kind }) => kind === 'in-sync') &&
    dueVersion(file, observed, meanings) === null &&
    Object.keys(changedFields(file, observed.fields)).length === 0
  );
}

/** How much is read at a time, and until when. */
export type ObserveOptions = {
  /** How many requests the service takes at the same time; it is for the service to let in no more. */
  readonly concurrency: number;
  readonly onObserved?: (done: number, all: number) => void;
};

/** A prompt whose request waits to be repeated, maybe for a minute, must leave the others enough to do. */
const PROMPTS_PER_REQUEST = 4;

/**
 * Reads what the service holds of each prompt. Never writes. A prompt that cannot be read does not stop the others: its
 * problem is in `failed`.
 */
export async function observe(
  provider: Provider,
  wanted: readonly Wanted[],
  { concurrency, onObserved }: ObserveOptions,
): Promise<Observation> {
  const observed = new Map<string, Observed>();
  const failed = new Map<string, Problem>();
  await pLimit(concurrency * PROMPTS_PER_REQUEST).map(wanted, async (one) => {
    try {
      observed.set(one.promptId, await provider.observe(one));
    } catch (error) {
      failed.set(one.promptId, problemOf(error));
    }
    onObserved?.(observed.size + failed.size, wanted.length);
  });
  return { observed, failed };
}
