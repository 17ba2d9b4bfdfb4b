import { entryOf, findContent, holds } from '../domain/known-versions.ts';
import type { ChangeOutcome, ChangeStatus } from '../domain/outcome.ts';
import { asKept, isRewritten, mayFollow } from '../domain/ownership.ts';
import type { CreateVersion } from '../domain/plan.ts';
import { followsLatest } from '../domain/prompt-file.ts';
import { refOf, type LedgerEntry, type Version } from '../domain/version.ts';
import { during, makeProblem, problemOf, type Problem } from '../problem.ts';
import { activate, type Made, type Writing } from './writing.ts';

/** What a version is to somebody who is about to make one. */
export type Weight = 'wanted' | 'rewritten' | 'other';

/**
 * Weighs a version that was read. Where no pin follows the content it must be one that the tracking environment can
 * move to, or whose head names it: nothing else would remember it. One that may be somebody's copy is never wanted.
 */
export function weigh(writing: Writing, change: CreateVersion, version: Version): Weight {
  const kept = isFollowed(writing, change) || isKept(writing, version, version);
  if (kept && holdsAll(writing, change, entryOf(version))) return 'wanted';
  return isRewritten(version, change.content, [...writing.known.values()]) ? 'rewritten' : 'other';
}

/** What is adopted for a content also has to hold the others that it was to be made for: it need not be our own. */
function holdsAll({ forgets }: Writing, { content, others = [] }: CreateVersion, entry: LedgerEntry): boolean {
  return [content, ...others].every((one) => holds(entry, asKept(one, forgets)));
}

/** The version of the wanted content that the ledger of a version read tells of, on the same condition. */
export function toldBy(writing: Writing, change: CreateVersion, version: Version): LedgerEntry | undefined {
  const kept = ({ id }: LedgerEntry) => isFollowed(writing, change) || isKept(writing, { id }, version);
  const told = (version.stamp?.ledger ?? []).filter((entry) => kept(entry) && holdsAll(writing, change, entry));
  return findContent(told, asKept(change.content, writing.forgets));
}

function isKept({ head }: Writing, { id }: Pick<Version, 'id'>, newest: Version): boolean {
  const named = [head, ...(head?.stamp?.ledger ?? [])];
  return mayFollow(newest, head) || named.some((entry) => entry?.id === id);
}

/** Takes a version for the one that was to be made: it was there already. `newest` is what it was found by. */
export async function adopt(writing: Writing, change: CreateVersion, version: Version, newest: Version): Promise<Made> {
  return { outcome: takeFor(writing, change, version, 'adopted'), problems: await follow(writing, newest) };
}

/** Moves the tracking environment to a version that was read, where that may follow its head. */
export async function follow(writing: Writing, version: Version): Promise<readonly Problem[]> {
  return mayFollow(version, writing.head) ? track(writing, version) : [];
}

function isFollowed({ plan }: Writing, { ref }: CreateVersion): boolean {
  return ref !== undefined || followsLatest(plan.file);
}

/** What follows the answer to a create-version call. */
export async function finishMade(writing: Writing, change: CreateVersion, version: Version): Promise<Made> {
  if (!isAsSent(change, version)) return refuseRewritten(change, version, 'made');
  const outcome = takeFor(writing, change, version, 'made');
  return { outcome, problems: [...(await track(writing, version)), ...droppedWarning(writing, version)] };
}

/** A version that holds something else than was sent is made active nowhere. */
export function refuseRewritten(change: CreateVersion, version: Version, status: ChangeStatus): Made {
  const problem = makeProblem('apply/rewritten', { version: `v${version.number}` });
  const ref = status === 'unknown' ? {} : { version: refOf(version) };
  return { outcome: { change, status, ...ref }, problems: [problem] };
}

/** The tracking environment moves first: a run cut right after this still leaves its newest ledger readable. */
async function track(writing: Writing, version: Version): Promise<readonly Problem[]> {
  const { trackingEnvironment } = writing.dependencies;
  const step = `Setting "${trackingEnvironment}" to v${version.number}`;
  try {
    const { problems } = await activate(writing, trackingEnvironment, version);
    if (problems.length === 0) writing.head = version;
    return problems.map((problem) => during(step, problem));
  } catch (error) {
    return [during(step, problemOf(error))];
  }
}

function takeFor(writing: Writing, change: CreateVersion, version: Version, status: ChangeStatus): ChangeOutcome {
  if (!writing.known.has(version.id)) writing.known.set(version.id, entryOf(version));
  writing.made.push({ content: change.content, version });
  return { change, status, version: refOf(version) };
}

/** Metadata that is dropped altogether can be lived with: the tracking environment shows that it was. */
function isAsSent({ content }: CreateVersion, version: Version): boolean {
  if (version.digest !== content.digest) return false;
  if (content.metadataDigest === undefined || version.metadataDigest === content.metadataDigest) return true;
  return version.stamp === null;
}

function droppedWarning({ dependencies, plan }: Writing, { stamp }: Version): readonly Problem[] {
  const { trackingEnvironment: environment } = dependencies;
  const told = plan.problems.some(({ code }) => code === 'service/drops-metadata');
  if (stamp !== null || told) return [];
  return [makeProblem('service/drops-metadata', { environment }, { path: plan.file.path })];
}
