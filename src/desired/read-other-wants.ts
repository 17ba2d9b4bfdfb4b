import { type Content, listDistinctContents, makeContentKey } from '../domain/content.ts';
import type { ContentsByEnvironment } from '../domain/desired-state.ts';
import { type EnvironmentPin, findPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import type { LiveBranch, PromptRepository } from './open-workspace.ts';
import {
  addStatesBeforeMoves,
  type FormerFile,
  locateAtCommit,
  readBranchStates,
  readPinnedContent,
} from './read-history.ts';

/**
 * Reads the content that earlier commits specified for environments of a different configuration. Considers only
 * commits of the live branch that are proper ancestors of HEAD. HEAD itself counts if the file has changed since then,
 * because the next commit will then come after HEAD.
 * @param environments the environments of a different configuration
 */
export async function readOtherWants(
  file: PromptFile,
  environments: readonly string[],
  live: LiveBranch,
): Promise<ContentsByEnvironment> {
  const { repository } = live;
  const start = await findNewestLiveCommit(live);
  if (start === null) return new Map();
  const location = await locateAtCommit(file, start, repository);
  const branchStates = await readBranchStates(location, start, repository);
  const { files } = await addStatesBeforeMoves(branchStates, location, start, repository);
  const earlier = files.filter((state) => state.commit !== repository.head || !isSameState(state.file, file));
  const contents = environments.map(async (environment): Promise<readonly [string, readonly Content[]]> => {
    return [environment, await readWantedContents(environment, earlier, repository)];
  });
  return new Map(await Promise.all(contents));
}

/**
 * Returns the newest commit of the live branch that is HEAD or an ancestor of HEAD. If the clone does not know
 * the tip of the live branch, assumes that HEAD is on it. Returns null if there is no such commit.
 */
async function findNewestLiveCommit({ repository, branch }: LiveBranch): Promise<string | null> {
  const { head } = repository;
  if (head === null) return null;
  const tip = await repository.findKnownTip(branch);
  if (tip === null || tip.commit === head) return head;
  return repository.findMergeBase(head, tip.commit);
}

/** Returns true if two states of a file have the same content and the same pins. */
function isSameState(one: PromptFile, other: PromptFile): boolean {
  return (
    makeContentKey(one.content) === makeContentKey(other.content) &&
    renderPinState(one.pins) === renderPinState(other.pins) &&
    renderPinState(one.otherPins ?? []) === renderPinState(other.otherPins ?? [])
  );
}

function renderPinState(pins: readonly EnvironmentPin[]): string {
  return JSON.stringify(pins.map(({ environment, pin }) => [environment, formatPin(pin)]).toSorted());
}

/** Reads all distinct content that a file's states specify for an environment. Omits pins that only name a version. */
async function readWantedContents(
  environment: string,
  states: readonly FormerFile[],
  repository: PromptRepository,
): Promise<readonly Content[]> {
  const contents = states.map(async ({ file }): Promise<readonly Content[]> => {
    const pin = findPin(file.otherPins ?? [], environment)?.pin;
    const content = pin === undefined ? null : await readPinnedContent(pin, file, repository);
    return content === null ? [] : [content];
  });
  return listDistinctContents((await Promise.all(contents)).flat());
}
