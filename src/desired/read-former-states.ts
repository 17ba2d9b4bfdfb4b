import { type Content, listDistinctContents } from '../domain/content.ts';
import type { FormerStates } from '../domain/desired-state.ts';
import type { FormerPin, FormerPinsByEnvironment } from '../domain/history.ts';
import type { PromptRepository } from './open-workspace.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import type { PromptLocation } from './read-at-commit.ts';
import { collectFormerPins, locateAtCommit, MAX_HISTORY_STATES, parseStates, readFormerFiles } from './read-history.ts';

/**
 * Finds the commits that changed a prompt file, among the tips and their ancestors. Returns each commit with the path
 * of the file at that commit, even if the file was moved. Lists the commits for one tip after another, newest first.
 * @param unchangedAt the commit at which the file is identical to the file of `prompt`; null if there is none
 */
export async function findFormerPlaces(
  prompt: PromptLocation,
  tips: readonly string[],
  repository: PromptRepository,
  unchangedAt: string | null,
): Promise<readonly FileAtCommit[]> {
  const places = tips.map(async (tip) => {
    const { path } = tip === unchangedAt ? prompt : await locateAtCommit(prompt, tip, repository);
    return (await repository.followFile(tip, repository.toRootPath(path))).slice(0, MAX_HISTORY_STATES);
  });
  return (await Promise.all(places)).flat();
}

/** Reads the pins and the fields that a prompt had at each place. A place is a path at a commit. */
export async function readFormerStates(
  { id, type, path }: PromptLocation,
  places: readonly FileAtCommit[],
  repository: PromptRepository,
): Promise<FormerStates> {
  const states = await parseStates({ id, type, path }, places, repository);
  const pins = await collectFormerPins(states, repository);
  return {
    pins: await addContentsOfMovingRefs(pins, { id, type, path }, repository),
    fields: states.map(({ commit, file }) => ({ ...file, commit })),
  };
}

/**
 * Adds a former pin for each text of the file to which a pin to a moving ref may have referred. The ref may have moved
 * since the pin was committed, so the pin may have referred to the file's text at any ancestor of the ref.
 */
async function addContentsOfMovingRefs(
  pins: FormerPinsByEnvironment,
  location: PromptLocation,
  repository: PromptRepository,
): Promise<FormerPinsByEnvironment> {
  const allPins = [...pins.values()].flat();
  const movingRefs = new Set(allPins.flatMap(({ pin, isFixed }) => (pin.kind === 'git' && !isFixed ? [pin.ref] : [])));
  if (movingRefs.size === 0) return pins;
  const contents = await Promise.all(
    [...movingRefs].map(async (ref) => [ref, await readContentsUpTo(ref, location, repository)] as const),
  );
  const contentsByRef = new Map<string, readonly Content[]>(contents);
  const addContents = (former: FormerPin): readonly FormerPin[] => {
    const meant = former.pin.kind === 'git' ? (contentsByRef.get(former.pin.ref) ?? []) : [];
    return [former, ...meant.map((content) => ({ ...former, content }))];
  };
  return new Map([...pins].map(([environment, list]) => [environment, list.flatMap(addContents)]));
}

/**
 * Reads every distinct content that a prompt's file had at the commit that a ref points to and at the ancestors of that
 * commit.
 */
async function readContentsUpTo(
  ref: string,
  location: PromptLocation,
  repository: PromptRepository,
): Promise<readonly Content[]> {
  const pinned = await repository.resolvePinnedRef(ref, repository.branch);
  if (pinned.kind !== 'found') return [];
  const { commit } = pinned;
  const states = await readFormerFiles(await locateAtCommit(location, commit, repository), commit, repository);
  return listDistinctContents(states.map(({ file }) => file.content));
}
