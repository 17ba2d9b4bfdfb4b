import { extname } from 'node:path';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { FileTouch } from '../git/follow-files.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import { type Line, type LineState, type Want } from './line-of-states.ts';
import {
  findContentAtCommit,
  findFileAtCommit,
  parseBlob,
  parseFileAtCommit,
  type PromptLocation,
  type PromptRepository,
} from './read-at-commit.ts';

/** Two states answer most questions, and reading a state takes 1 ms. */
export const FIRST_STATES = 2;

/** The maximum number of states that promptsync reads of any line. Users wait for the result, and 500 take two seconds. */
export const MAX_STATES = 500;

/**
 * Follows the prompt through renames and moves by its id. The line ends at a deletion, and at a state in which the file
 * at this path belongs to another prompt. In all states, the configuration at the commit determines the default pins
 * and the ids from paths.
 * @param prompt the path is where to look first, relative to the folder of the configuration
 */
export async function readPromptLine(
  prompt: PromptLocation,
  commit: string,
  workspaceRepository: PromptRepository,
  limit = MAX_STATES,
): Promise<Line> {
  const { repository } = await workspaceRepository.readConfigAt(commit);
  const states: LineState[] = [];
  let start: FileAtCommit | null = { commit, path: repository.toRootPath(prompt.path) };
  while (start !== null) {
    const onePath = await readPathStates(prompt, start, limit - states.length, repository);
    states.push(...onePath.states);
    if (onePath.isCut || states.length >= limit) return finishLine(states, 'cut');
    start = await findEarlierFile(prompt, start, states.at(-1)?.commit ?? null, repository);
  }
  // In a shallow clone, the commit that deleted an earlier file of the prompt may be missing.
  const mayHaveReturned = repository.isShallow || (await wasDeleted(prompt, states, commit, repository));
  return finishLine(states, mayHaveReturned ? 'returned' : 'first');
}

/** Reads the line up to HEAD. If the planned file differs from the file at HEAD, it becomes the newest state. */
export async function readPlannedLine(file: PromptFile, repository: PromptRepository, limit?: number): Promise<Line> {
  const { head } = repository;
  const line = head === null ? NO_COMMITS : await readPromptLine(file, head, repository, limit);
  const [newest] = line.states;
  if (newest !== undefined && isSameState(newest.file, file)) return line;
  const planned = await makeState({ ...file, path: repository.toRootPath(file.path) }, UNCOMMITTED, repository);
  return { ...line, states: [planned, ...line.states.map(omitMovingWants)] };
}

const UNCOMMITTED: StateCommit = { commit: null, time: null };

/** It is complete, because no file can have come back after a deletion. */
const NO_COMMITS: Line = { states: [], isCut: false, isComplete: true };

/** The end of a line: the first state of the file, a file that came back after a deletion, or a limit. */
type LineEnd = 'first' | 'returned' | 'cut';

function finishLine(states: readonly LineState[], end: LineEnd): Line {
  const newest = states.slice(0, 1);
  const older = states.slice(1).map(omitMovingWants);
  return { states: [...newest, ...older], isCut: end === 'cut', isComplete: end === 'first' };
}

/** Omits the wants of moving refs. In an older state, promptsync cannot know which commit such a ref pointed to. */
function omitMovingWants(state: LineState): LineState {
  const wants = [...state.wants].filter(([, want]) => want.kind !== 'content' || !want.isMoving);
  return { ...state, wants: new Map(wants) };
}

/** Ignores the paths and the line numbers of pins. */
function isSameState(one: PromptFile, other: PromptFile): boolean {
  return makeStateKey(one) === makeStateKey(other);
}

function makeStateKey({ content, pins, otherPins = [], key, name, description }: PromptFile): string {
  const pairs = [...pins, ...otherPins].map(({ environment, pin }) => [environment, pin] as const);
  const { digest, metadataDigest } = content;
  return JSON.stringify([
    digest,
    metadataDigest,
    key,
    name,
    description,
    pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);
}

/** The states of a prompt in the history of one path, across the renames that git can follow. */
type PathStates = { readonly states: readonly LineState[]; readonly isCut: boolean };

async function readPathStates(
  prompt: PromptLocation,
  { commit, path }: FileAtCommit,
  limit: number,
  repository: PromptRepository,
): Promise<PathStates> {
  const places = await repository.followFile(commit, path);
  const newest = places.slice(0, limit);
  const results = await Promise.all(newest.map((place) => readPlace(prompt, place, repository)));
  const end = results.indexOf('ended');
  const read = end === -1 ? results : results.slice(0, end);
  const states = read.filter((result) => typeof result !== 'string');
  const isCut = end === -1 && (newest.length < places.length || (await isAtShallowEdge(places.at(-1), repository)));
  return { states, isCut };
}

/** Returns `invalid` for an invalid file. Returns `ended` if it was deleted or belongs to another prompt there. */
async function readPlace(
  { id, type }: PromptLocation,
  place: FileTouch,
  repository: PromptRepository,
): Promise<LineState | 'invalid' | 'ended'> {
  const parsed = await parseFileAtCommit(repository, place);
  if (parsed === null) return 'ended';
  if (parsed.file === null) return 'invalid';
  return parsed.file.id === id && parsed.file.type === type ? makeState(parsed.file, place, repository) : 'ended';
}

type StateCommit = Pick<LineState, 'commit' | 'time'>;

/** @param file the file, with its path relative to the repository root */
async function makeState(
  file: PromptFile,
  { commit, time }: StateCommit,
  repository: PromptRepository,
): Promise<LineState> {
  const wants = [
    ...file.pins.map(async (pin) => ({ pin, want: await readWant(pin, file, repository) })),
    ...(file.otherPins ?? []).map(async (pin) => ({ pin, want: await readOtherWant(pin, file, repository) })),
  ];
  const entries = (await Promise.all(wants)).flatMap(({ pin, want }): readonly [string, Want][] => {
    return want === null ? [] : [[pin.environment, want]];
  });
  return { commit, time, file, wants: new Map(entries) };
}

/** A number or an id names a version of another service, so it wants nothing here. */
async function readOtherWant(
  pinned: EnvironmentPin,
  file: PromptFile,
  repository: PromptRepository,
): Promise<Want | null> {
  const want = await readWant(pinned, file, repository);
  return want?.kind === 'content' ? want : null;
}

/** Reads what a pin wants. Returns null if git has no valid file of the prompt at the pinned ref. */
async function readWant({ pin }: EnvironmentPin, file: PromptFile, repository: PromptRepository): Promise<Want | null> {
  switch (pin.kind) {
    case 'latest':
      return { kind: 'content', content: file.content, isMoving: false };
    case 'number':
    case 'version':
      return pin;
    case 'git': {
      const pinned = await repository.resolvePinnedRef(pin.ref);
      if (pinned.kind !== 'found') return null;
      const result = await findContentAtCommit(file, pinned.commit, repository);
      if (result.kind === 'missing') return null;
      return { kind: 'content', content: result.file.content, isMoving: pinned.isMoving };
    }
  }
}

/**
 * Finds the prompt's file right before the oldest known state, because git treats some moved files as new files.
 * @param oldest the commit of that state; null if no states are known, so that the commit of `start` counts
 */
async function findEarlierFile(
  { id, type }: PromptLocation,
  start: FileAtCommit,
  oldest: string | null,
  repository: PromptRepository,
): Promise<FileAtCommit | null> {
  const commit = oldest === null ? start.commit : await repository.resolveRef(`${oldest}^`);
  if (commit === null) return null;
  const result = await findFileAtCommit({ id, type, path: start.path }, commit, repository);
  if (result.kind === 'missing' || (oldest === null && result.path === start.path)) return null;
  return { commit, path: result.path };
}

/** Returns true if a shallow clone lacks the parent. git reports all files of such a commit as new. */
async function isAtShallowEdge(place: FileAtCommit | undefined, repository: PromptRepository): Promise<boolean> {
  return place !== undefined && repository.isShallow && (await repository.resolveRef(`${place.commit}^`)) === null;
}

/** Ignores commits that moved the file in a way that git does not follow. */
async function wasDeleted(
  { id, type, path }: PromptLocation,
  states: readonly LineState[],
  commit: string,
  repository: PromptRepository,
): Promise<boolean> {
  const moves = new Set(states.map((state) => state.commit));
  const deletedFiles = (await repository.listDeletedFiles(commit, repository.toRootPath(path))).filter(
    (deleted) => extname(deleted.path) === extname(path) && !moves.has(deleted.commit),
  );
  const belongs = deletedFiles.map(async (deleted) => {
    // Parse only files that can have the id. The history of a repository can contain thousands of deleted files.
    const pathId = repository.fileSettings.pathIds?.findId(repository.toFolderPath(deleted.path)) ?? null;
    if (pathId !== id && !(await repository.readBlob(deleted.blob)).includes(id)) return false;
    const { file } = await parseBlob(repository, deleted.blob, deleted.path);
    return file?.id === id && file.type === type;
  });
  return (await Promise.all(belongs)).includes(true);
}
