import pLimit from 'p-limit';
import { type DesiredState, sortPins } from '../domain/desired-state.ts';
import type { Observation, ObservedPrompt, ReadRequest, ReadDepth } from '../domain/observed-prompt.ts';
import type { Provider } from '../domain/provider.ts';
import { chooseVersionToCreate, findPinTargets } from '../domain/pin-target.ts';
import { changedFields, type ContentsAtRefs, listContents } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { type Problem, toProblem } from '../problem.ts';

/** What a command reads of each prompt in addition to its pinned environments. */
export type ReadNeeds = {
  /** Environments to read of every prompt, even if it does not pin them. */
  readonly environments: readonly string[];
  readonly readDepth: ReadDepth;
};

export const NO_READ_NEEDS: ReadNeeds = { environments: [], readDepth: 'minimal' };

/**
 * Returns the request that reads everything needed to plan a file, and to plan the file of the base if drift is compared.
 * It includes the source environments of pinned environments, because what they serve decides about promotions.
 */
export function makeReadRequest(
  file: PromptFile,
  desired: Pick<DesiredState, 'contentsAtRefs' | 'base' | 'promotionSources' | 'environmentOrder'>,
  { environments, readDepth }: ReadNeeds = NO_READ_NEEDS,
): ReadRequest {
  const { contentsAtRefs, base, promotionSources } = desired;
  const then = base?.files.get(file.id);
  const atRefs = contentsAtRefs.get(file.id) ?? new Map();
  const both = then === undefined ? [file] : [file, then];
  const ownPins = sortPins(file.pins, desired);
  const pins = then === undefined ? ownPins : [...ownPins, ...then.pins];
  const before = ownPins.flatMap(({ environment }) => promotionSources.get(environment) ?? []);
  return {
    promptId: file.id,
    environments: [...new Set([...pins.map(({ environment }) => environment), ...before, ...environments])],
    pins: ownPins,
    fileContent: file.content,
    contentsToFind: [...both.map(({ content }) => content), ...listContents(atRefs)],
    pinnedNumbers: pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin.number] : [])),
    isSynced: (observed) => isInSyncWithFile(file, observed, atRefs),
    readDepth,
  };
}

function isInSyncWithFile(file: PromptFile, observed: ObservedPrompt, atRefs: ContentsAtRefs): boolean {
  const meanings = findPinTargets(file, observed, atRefs);
  return (
    meanings.every(({ kind }) => kind === 'in-sync') &&
    chooseVersionToCreate(file, observed, meanings) === null &&
    Object.keys(changedFields(file, observed.fields)).length === 0
  );
}

/** How fast to read, and whom to tell about progress. */
export type ObserveOptions = {
  /** The number of requests that may be open at once. The provider enforces it. */
  readonly concurrency: number;
  readonly onObserved?: (done: number, all: number) => void;
};

/**
 * The number of prompts to observe at once for each open request. A prompt that waits for a retry, maybe for a minute,
 * then does not stop the others.
 */
const PROMPTS_PER_REQUEST = 4;

/**
 * Reads the current state of each prompt. It never writes. A prompt that cannot be read does not stop the others; its
 * problem is in `failed`.
 */
export async function observePrompts(
  provider: Provider,
  wanted: readonly ReadRequest[],
  { concurrency, onObserved }: ObserveOptions,
): Promise<Observation> {
  const observed = new Map<string, ObservedPrompt>();
  const failed = new Map<string, Problem>();
  await pLimit(concurrency * PROMPTS_PER_REQUEST).map(wanted, async (one) => {
    try {
      observed.set(one.promptId, await provider.observe(one));
    } catch (error) {
      failed.set(one.promptId, toProblem(error));
    }
    onObserved?.(observed.size + failed.size, wanted.length);
  });
  return { observed, failed };
}
