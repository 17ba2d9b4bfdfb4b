import { type Content, isEqualContent, listDistinctContents } from '../domain/content.ts';
import type { ContentsByEnvironment } from '../domain/desired-state.ts';
import { findPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import type { LiveBranch, PromptRepository } from './open-workspace.ts';
import {
  type FormerFile,
  isFixedPin,
  locateAtCommit,
  readPinnedContent,
  readStatesThroughMoves,
} from './read-history.ts';

/**
 * Reads the contents that earlier commits wanted in the source environments of promotions, if a different configuration
 * manages these environments. Considers only commits of the live branch that are proper ancestors of HEAD. HEAD itself
 * counts for a promotion that the file makes and HEAD does not make, because that promotion will be in a later commit.
 * @param promotions the source environment of each promoted environment
 * @returns the contents by promoted environment
 */
export async function readOtherWants(
  file: PromptFile,
  promotions: ReadonlyMap<string, string>,
  live: LiveBranch,
): Promise<ContentsByEnvironment> {
  const { repository } = live;
  const start = await findNewestLiveCommit(live);
  if (start === null) return new Map();
  const location = await locateAtCommit(file, start, repository);
  const { files } = await readStatesThroughMoves(location, start, repository);
  const contents = [...promotions].map(async ([environment, from]): Promise<readonly [string, readonly Content[]]> => {
    const isAtHead = files.some(
      (state) => state.commit === repository.head && hasSamePin(environment, state.file, file),
    );
    const earlier = isAtHead ? files.filter(({ commit }) => commit !== repository.head) : files;
    return [environment, await readWantedContents(from, earlier, repository)];
  });
  return new Map(await Promise.all(contents));
}

/**
 * Returns the newest commit on the live branch that is reachable from HEAD. Returns null if there is none. If the clone
 * lacks the tip of the live branch, assumes that HEAD is on this branch.
 */
async function findNewestLiveCommit({ repository, branch }: LiveBranch): Promise<string | null> {
  const { head } = repository;
  if (head === null) return null;
  const tip = await repository.findKnownTip(branch);
  if (tip === null || tip.commit === head) return head;
  return repository.findMergeBase(head, tip.commit);
}

/**
 * Returns true if two states of a file have the same pin for an environment. Two `latest` pins are the same only if the
 * content of the file is the same, too.
 */
function hasSamePin(environment: string, one: PromptFile, other: PromptFile): boolean {
  const pin = findPin(one.pins, environment)?.pin;
  const otherPin = findPin(other.pins, environment)?.pin;
  if (pin === undefined || otherPin === undefined || formatPin(pin) !== formatPin(otherPin)) return false;
  return pin.kind !== 'latest' || isEqualContent(one.content, other.content);
}

/**
 * Reads all distinct content that a file's states specify for an environment. Omits pins that only name a version. Also
 * omits pins to moving refs, because they may have referred to other content at that time.
 */
async function readWantedContents(
  environment: string,
  states: readonly FormerFile[],
  repository: PromptRepository,
): Promise<readonly Content[]> {
  const contents = states.map(async ({ file }): Promise<readonly Content[]> => {
    const pin = findPin(file.otherPins ?? [], environment)?.pin;
    if (pin === undefined || !(await isFixedPin(pin, repository))) return [];
    const content = await readPinnedContent(pin, file, repository);
    return content === null ? [] : [content];
  });
  return listDistinctContents((await Promise.all(contents)).flat());
}
