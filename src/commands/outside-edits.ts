import { type FormerFile, pinsOf, readFormerFiles } from '../desired/former-files.ts';
import { type PinEdit, pinEdit } from './pin-edit.ts';
import type { Walked } from './walk.ts';
import { findNamed, hasGap, type KnownVersion, type Source } from '../domain/versions.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { type EnvironmentPin, pinText, type PromptFile } from '../domain/prompt-file.ts';
import type { Side } from '../files/merge.ts';
import type { FormerPin, FormerPins } from '../domain/history.ts';
import { means } from '../planning/former-pins.ts';
import { makeProblem, type Problem } from '../problem.ts';

type Asked = {
  /** By default all that the file pins. */
  readonly environment?: string | undefined;
  readonly side: Side;
};

/** What was changed in the service. */
export type Changed = {
  /** The states of the file in git, newest first. */
  readonly earlier: readonly FormerFile[];
  readonly environments: readonly OutsideEdit[];
  /** Those of which the text is to be taken over, one for each text. */
  readonly edits: readonly OutsideEdit[];
  /** Those of which the file may mean its pin all the same. */
  readonly contested: readonly OutsideEdit[];
};

/** Which environments somebody has changed in the service, after what git knows of the file. */
export async function findChanged(
  prompt: PromptPlan,
  { environment }: Asked,
  { repository }: Walked,
): Promise<Changed> {
  const { file } = prompt;
  const head = repository?.head ?? null;
  const earlier = repository === null || head === null ? [] : await readFormerFiles(file, head, repository);
  const environments = findOutsideEdits(prompt, environment, await pinsOf(earlier, repository));
  const complete = (await repository?.isShallow()) === false;
  const contested = environments.filter((one) => isContested(one, { earlier, complete }));
  return { earlier, environments, edits: distinctTexts(environments, file), contested };
}

/** Why nobody but the user can say what is to be done. */
export function obstaclesIn({ edits, contested }: Changed, file: PromptFile, { side }: Asked): readonly Problem[] {
  const environments = edits.map(({ environment }) => environment);
  return [
    ...(edits.length < 2 ? [] : [makeProblem('pull/several', { environments }, { path: file.path })]),
    ...(side === null ? contested.map((one) => contestedProblem(one, file)) : []),
  ];
}

/** The pins to write: with `--ours`, a contested one stays. */
export function pinEdits({ environments, contested }: Changed, { side }: Asked): readonly PinEdit[] {
  return environments.filter((one) => side !== 'ours' || !contested.includes(one)).flatMap(pinServed);
}

/** Whether nothing was changed. Most prompts are so, and git need not be asked for their history. */
export function isInSync(prompt: PromptPlan, { environment }: Asked): boolean {
  const renamed = prompt.changes.some(({ kind }) => kind === 'update-prompt');
  return !renamed && findOutsideEdits(prompt, environment, new Map()).length === 0;
}

/** One environment for each text that somebody else has made, with its metadata where the file manages any. */
function distinctTexts(found: readonly OutsideEdit[], { content }: PromptFile): readonly OutsideEdit[] {
  const managed = content.metadata !== undefined;
  const contentOf = ({ version }: OutsideEdit) => `${version.digest} ${managed ? version.metadataDigest : ''}`;
  return [...new Map(found.flatMap((one) => (one.own ? [] : [[contentOf(one), one] as const]))).values()];
}

/** An environment that serves what no commit has asked for: somebody has changed it in the service. */
export type OutsideEdit = {
  readonly environment: string;
  readonly version: KnownVersion;
  /** Null where the file does not pin the environment. */
  readonly pin: EnvironmentPin | null;
  /** Whether promptsync made the version: then there is no text to take over. */
  readonly own: boolean;
};

/** Which environments were changed in the service, of those asked for: an environment that only lags behind is not. */
export function findOutsideEdits(
  { file, observed, changes }: PromptPlan,
  environment: string | undefined,
  former: FormerPins,
): readonly OutsideEdit[] {
  const changing = new Set(changes.flatMap((change) => (change.kind === 'set-active' ? [change.environment] : [])));
  const known = observed?.known ?? [];
  const scope = environment === undefined ? file.pins.map((pin) => pin.environment) : [environment];
  return scope.flatMap((name): readonly OutsideEdit[] => {
    const version = observed?.active.get(name) ?? null;
    if (version === null || wasAskedFor(version, former.get(name) ?? [], known)) return [];
    const pin = file.pins.find((one) => one.environment === name) ?? null;
    if (pin !== null && !changing.has(name) && !isOtherNumber(pin, version)) return [];
    return [{ environment: name, version, pin, own: isOwn(version, known) }];
  });
}

/** Nothing is planned for a number that is not known, as one is not that the file has from an earlier pull. */
function isOtherNumber({ pin }: EnvironmentPin, { number }: KnownVersion): boolean {
  return pin.kind === 'number' && pin.number !== number;
}

/**
 * Whether a commit has asked for a version. Where promptsync had made one of that content before, it is no commit's:
 * somebody has gone back to an older text.
 */
function wasAskedFor(version: KnownVersion, former: readonly FormerPin[], known: readonly KnownVersion[]): boolean {
  const before = isOwn(version, known) ? [] : ownBefore(version, known);
  const isRemade = (pin: FormerPin) => pin.content !== null && before.some((own) => means(pin, own));
  return former.some((pin) => means(pin, version) && !isRemade(pin));
}

/** Where it is served a version counts as promptsync's until it is known to be a copy; nothing is made of such a doubt. */
function isOwn(version: KnownVersion, known: readonly KnownVersion[]): boolean {
  return (known.find(({ id }) => id === version.id) ?? version).ours;
}

function ownBefore({ number }: KnownVersion, known: readonly KnownVersion[]): readonly KnownVersion[] {
  return known.filter((one) => one.ours && one.number < number);
}

/** A version of promptsync's; its number and content are missing where only a copy of its record is known. */
export type Original = Source & { readonly content: KnownVersion['content']; readonly number: number | null };

function originalOf({ digest, metadataDigest, ours, source, content, number }: KnownVersion): Original {
  return { ...(ours ? source : null), digest, metadataDigest, content, number };
}

/**
 * The version that an outside one was made from: the one whose record it has copied, which no ledger need remember; else
 * what the file says that its environment served before. Where the file follows no number, it is the newest of
 * promptsync's before it. Null where that version is not known, and undefined where none of promptsync's is.
 */
export function originOf(
  { version, pin }: Pick<OutsideEdit, 'version' | 'pin'>,
  { observed }: PromptPlan,
): Original | null | undefined {
  if (observed === null) return undefined;
  const { known } = observed;
  const own = ownBefore(version, known);
  const { source } = version;
  const copied = own.find(({ digest }) => digest === source?.digest);
  if (copied !== undefined) return originalOf(copied);
  if (source !== null) return { ...source, content: null, number: null };
  if (pin?.pin.kind === 'number' || pin?.pin.kind === 'version') {
    const named = findNamed(known, pin.pin);
    return named === undefined ? null : originalOf(named);
  }
  return own[0] && originalOf(own[0]);
}

/**
 * Whether an edit may come from a newer state of the file than its origin: one that was pulled leaves no trace in the
 * service, and what it holds of the origin may be an edit that somebody has taken back. So it is where there was a
 * version in between that nobody knows, or where the service has had the file's text already: `committed`, because
 * what no commit has is never synced.
 */
export function mayBeNewer(
  { version, pin }: Pick<OutsideEdit, 'version' | 'pin'>,
  origin: Original,
  { file, observed }: PromptPlan,
  committed: boolean,
): boolean {
  if (observed === null) return false;
  const known = observed.known.filter(({ number }) => number < version.number);
  const { number } = origin;
  if (number === null) return true;
  if (pin !== null && findNamed(known, pin.pin)?.number === number) return false;
  if (hasGap(known, number, version.number)) return true;
  // A copied record names the newest of promptsync's that the edit can come from.
  const met = known.filter((one) => (one.ours ? version.source === null : one.number > number));
  return committed && met.some(({ digest }) => digest === file.content.digest && digest !== origin.digest);
}

/** The newest version of promptsync's that is known. */
export function newestOrigin({ observed }: PromptPlan): Original | undefined {
  const newest = observed?.known.find(({ ours }) => ours);
  return newest && originalOf(newest);
}

/** Whether a file has had one text only, as far as git knows: then whatever differs was changed outside. */
export function hadOneText(files: readonly PromptFile[], { content }: PromptFile): boolean {
  return files.length > 0 && files.every((file) => file.content.digest === content.digest);
}

/** What git knows of a file's earlier pins: the states of the file, and whether there may be more of them. */
export type PinHistory = { readonly earlier: readonly FormerFile[]; readonly complete: boolean };

/** An environment that is pinned to a version of its own is pinned to the one that it serves. */
export function pinServed({ environment, pin, version }: OutsideEdit): readonly PinEdit[] {
  if (pin === null || pin.pin.kind === 'latest') return [];
  return [pinEdit({ environment, number: version.number }, pin.pin)];
}

/**
 * Whether the file may mean its pin although the environment serves something else: it was edited since the last
 * commit, or git does not know whether it was, and what is served may be what an earlier commit asked for.
 */
export function isContested({ environment, pin, own }: OutsideEdit, { earlier, complete }: PinHistory): boolean {
  if (pin === null || pin.pin.kind === 'latest') return false;
  const [last] = earlier;
  if (last === undefined) return own;
  const committed = last.file.pins.find((one) => one.environment === environment)?.pin;
  const edited = committed === undefined || pinText(committed) !== pinText(pin.pin);
  return edited || (own && !complete);
}

export function contestedProblem({ environment, pin, version }: OutsideEdit, { path }: PromptFile): Problem {
  const evidence = { environment, pin: pin === null ? '' : pinText(pin.pin), serves: `v${version.number}` };
  const place = pin === null ? {} : { line: pin.line, column: pin.column };
  return makeProblem('pull/pin-conflict', evidence, { path, ...place });
}
