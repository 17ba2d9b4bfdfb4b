import pLimit from 'p-limit';
import { type DesiredState, getContentsAtRefs, sortPins } from '../domain/desired-state.ts';
import type { Observation, ObservedPrompt, ReadRequest, ReadDepth } from '../domain/observed-prompt.ts';
import type { Provider } from '../providers/provider-interface.ts';
import { chooseVersionToCreate, findPinTargets } from '../domain/pin-target.ts';
import { compareFields, type ContentsAtRefs, listContentsAtRefs } from '../domain/plan.ts';
import { mustStoreText, type PromptFile } from '../domain/prompt-file.ts';
import { type Problem, toProblem } from '../problem.ts';

/** The data that a command needs for each prompt, in addition to the environments that the prompt file pins. */
export type ReadNeeds = {
  /** The environments to read for every prompt, even if its file does not pin them. */
  readonly environments: readonly string[];
  readonly readDepth: ReadDepth;
};

export const NO_READ_NEEDS: ReadNeeds = { environments: [], readDepth: 'minimal' };

/**
 * Builds the request for everything that promptsync needs to plan a file. If there is a base, the request also covers
 * the prompt file at the base, so that promptsync can find drift. The request includes the source environments of
 * pinned environments, because the promotion guard checks their active versions.
 */
export function makeReadRequest(
  file: PromptFile,
  desired: Pick<DesiredState, 'contentsAtRefs' | 'base' | 'promotionSources' | 'environmentOrder'>,
  { environments, readDepth }: ReadNeeds = NO_READ_NEEDS,
): ReadRequest {
  const { base, promotionSources } = desired;
  const baseFile = base?.files.get(file.id);
  const atRefs = getContentsAtRefs(desired, file.id);
  const files = baseFile === undefined ? [file] : [file, baseFile];
  const pins = sortPins(file.pins, desired);
  const allPins = baseFile === undefined ? pins : [...pins, ...baseFile.pins];
  const pinnedEnvironments = allPins.map(({ environment }) => environment);
  const sourceEnvironments = pins.flatMap(({ environment }) => promotionSources.get(environment) ?? []);
  return {
    promptId: file.id,
    environments: [...new Set([...pinnedEnvironments, ...sourceEnvironments, ...environments])],
    pins,
    fileContent: mustStoreText(file) ? file.content : null,
    contentsToFind: [...files.filter(mustStoreText).map(({ content }) => content), ...listContentsAtRefs(atRefs)],
    pinnedNumbers: allPins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin.number] : [])),
    isSynced: (observed) => isInSyncWithFile(file, observed, atRefs),
    readDepth,
  };
}

/**
 * Returns true if a plan would change the active version of an environment or the value of a field. A new version that
 * no environment serves does not count.
 */
export function differsFromFile(
  file: PromptFile,
  observed: ObservedPrompt,
  desired: Pick<DesiredState, 'contentsAtRefs'>,
): boolean {
  const targets = findPinTargets(file, observed, getContentsAtRefs(desired, file.id));
  const fields = compareFields(file, observed.fields);
  return targets.some(({ kind }) => kind !== 'in-sync') || Object.keys(fields).length > 0;
}

function isInSyncWithFile(file: PromptFile, observed: ObservedPrompt, atRefs: ContentsAtRefs): boolean {
  const targets = findPinTargets(file, observed, atRefs);
  return (
    targets.every(({ kind }) => kind === 'in-sync') &&
    chooseVersionToCreate(file, observed, targets) === null &&
    Object.keys(compareFields(file, observed.fields)).length === 0
  );
}

/** The limit on concurrent requests, and a callback that reports the progress. */
export type ObserveOptions = {
  /** The maximum number of concurrent requests. The provider enforces this limit. */
  readonly concurrency: number;
  /** Called after each prompt with the number of completed prompts and the total number of prompts. */
  readonly onObserved?: (done: number, total: number) => void;
};

/**
 * The number of prompts that promptsync observes at the same time, for each concurrent request that the limit allows. A
 * prompt may wait up to a minute for a retry. With more prompts than requests, promptsync can continue with the others
 * during that time.
 */
const PROMPTS_PER_REQUEST = 4;

/**
 * Reads the current state of each prompt from the service. Never writes. If promptsync cannot read a prompt, adds the
 * problem to `failed` and continues with the other prompts.
 */
export async function observePrompts(
  provider: Provider,
  requests: readonly ReadRequest[],
  options: ObserveOptions,
): Promise<Observation> {
  const observe = (request: ReadRequest) => provider.observe(request);
  const { read: observed, failed } = await readEachPrompt(requests, observe, options);
  return { observed, failed };
}

/** The result of reading several prompts. Each requested prompt is in exactly one of the two maps. */
type PromptReadings<Value> = {
  /** What was read, by prompt id. */
  readonly read: ReadonlyMap<string, Value>;
  /** The problem of each prompt that promptsync could not read, by prompt id. */
  readonly failed: ReadonlyMap<string, Problem>;
};

/** Reads each prompt with the given function. A prompt that cannot be read does not stop the others. */
export async function readEachPrompt<Request extends Pick<ReadRequest, 'promptId'>, Value>(
  requests: readonly Request[],
  readPrompt: (request: Request) => Promise<Value>,
  { concurrency, onObserved }: ObserveOptions,
): Promise<PromptReadings<Value>> {
  const read = new Map<string, Value>();
  const failed = new Map<string, Problem>();
  await pLimit(concurrency * PROMPTS_PER_REQUEST).map(requests, async (request) => {
    try {
      read.set(request.promptId, await readPrompt(request));
    } catch (error) {
      failed.set(request.promptId, toProblem(error));
    }
    onObserved?.(read.size + failed.size, requests.length);
  });
  return { read, failed };
}
