import pLimit from 'p-limit';
import { type DesiredState, getContentsAtRefs, sortPins } from '../domain/desired-state.ts';
import type { Observation, ObservedPrompt, ReadRequest, ReadDepth } from '../domain/observed-prompt.ts';
import type { ServedPrompt } from '../domain/served-prompt.ts';
import type { Provider } from '../providers/provider-interface.ts';
import { chooseVersionToCreate, findPinTargets } from '../domain/pin-target.ts';
import { compareFields, type ContentsAtRefs, listContentsAtRefs } from '../domain/plan.ts';
import { mustStoreText, type PromptFile } from '../domain/prompt-file.ts';
import { type Problem, toProblem } from '../problem.ts';

/** The data that a command needs for each prompt, in addition to the environments that the prompt file pins. */
export type ReadNeeds = {
  readonly environments: readonly string[];
  readonly readDepth: ReadDepth;
};

export const NO_READ_NEEDS: ReadNeeds = { environments: [], readDepth: 'minimal' };

/**
 * Requests everything that promptsync needs to plan a file: its state at the base, to find drift, and the source
 * environments of pinned environments, because the promotion guard checks their active versions.
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

/** Whether a plan would change an active version or a field. A new version that nothing serves does not count. */
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

export type ObserveOptions = {
  /** The maximum number of concurrent requests. The provider enforces this limit. */
  readonly concurrency: number;
  /** Called after each prompt with the number of completed prompts and the total number of prompts. */
  readonly onObserved?: (done: number, total: number) => void;
};

/**
 * The number of prompts in progress for each concurrent request. A prompt may wait up to a minute for a retry, and
 * promptsync continues with the others during that time.
 */
const PROMPTS_PER_REQUEST = 4;

/** Never writes. If a prompt cannot be read, adds its problem to `failed` and continues with the others. */
export async function observePrompts(
  provider: Provider,
  requests: readonly ReadRequest[],
  options: ObserveOptions,
): Promise<Observation> {
  const observe = (request: ReadRequest) => provider.observe(request);
  const { read: observed, failed } = await readEachPrompt(requests, observe, options);
  return { observed, failed };
}

/** Reads what an environment serves: a version of each prompt, or null if no version of it is active. Never writes. */
export function readServedPrompts(
  provider: Provider,
  promptIds: readonly string[],
  environment: string,
  options: ObserveOptions,
): Promise<PromptReadings<ServedPrompt | null>> {
  const requests = promptIds.map((promptId) => ({ promptId }));
  return readEachPrompt(requests, ({ promptId }) => provider.readServed(promptId, environment), options);
}

/** The results by prompt id. Each requested prompt is in exactly one of the two maps. */
type PromptReadings<Value> = {
  readonly read: ReadonlyMap<string, Value>;
  readonly failed: ReadonlyMap<string, Problem>;
};

/** Reads each prompt with the given function. A prompt that cannot be read does not stop the others. */
async function readEachPrompt<Request extends Pick<ReadRequest, 'promptId'>, Value>(
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
