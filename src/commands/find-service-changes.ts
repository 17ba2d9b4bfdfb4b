import { type FormerFile, collectFormerPins, readFormerFiles } from '../desired/read-history.ts';
import { type FormerPin, type FormerPinsByEnvironment, meansVersion } from '../domain/history.ts';
import { type ObservedPromptPlan, listChangingEnvironments } from '../domain/plan.ts';
import { type EnvironmentPin, findPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';
import { makeContentKey } from '../domain/content.ts';
import { listManagedBefore } from './merge-base.ts';
import type { PlannedWorkspace } from './run-with-plan.ts';
import { findMovedEnvironments, type MovedEnvironment } from './find-moved-environments.ts';

/** The value of `--environment`. Undefined selects all pinned environments. */
type SelectedEnvironment = { readonly environment?: string | undefined };

/** The changes that somebody made to one prompt in the service. */
export type ServiceChanges = {
  /** The states of the file in git, newest first. */
  readonly formerFiles: readonly FormerFile[];
  /** The environments that somebody changed in the service. */
  readonly outsideEdits: readonly OutsideEdit[];
  /**
   * One outside edit for each distinct content. promptsync can merge the content of only one edit into the file, so the
   * pull is blocked if there are several.
   */
  readonly textEdits: readonly OutsideEdit[];
  /** The outside edits that may be older than the pin of their environment in the file. */
  readonly contested: readonly OutsideEdit[];
  /**
   * The environments that somebody moved back to a version that an earlier commit pinned. They have no text to pull.
   */
  readonly movedBack: readonly OutsideEdit[];
  /**
   * The environments with a `git:` pin that somebody changed in the service. With `portable_pins`, a pull leaves them
   * alone, because only a commit can be pinned there. Empty without this setting.
   */
  readonly leftAlone: readonly OutsideEdit[];
  /** The environments that serve no version any more. There is nothing to pull from them. */
  readonly deactivated: readonly MovedEnvironment[];
};

/**
 * An environment that somebody changed in the service. Neither HEAD nor an earlier commit pinned the version that the
 * environment serves.
 */
export type OutsideEdit = {
  readonly environment: string;
  readonly version: KnownVersion;
  /** The file's pin for the environment. Null if the file does not pin the environment. */
  readonly pin: EnvironmentPin | null;
  /**
   * Whether promptsync created the version. If so, its text comes from this repository, and there is no text to pull.
   */
  readonly isManaged: boolean;
  /**
   * Whether somebody moved the environment back to an earlier text of the file. That text then replaces the present one,
   * because a merge would mix the two.
   */
  readonly isEarlierText: boolean;
};

/**
 * Finds the environments that somebody changed in the service. Reads the git history of the file to tell these
 * environments from those that only lag behind the file.
 */
export async function findServiceChanges(
  prompt: ObservedPromptPlan,
  options: SelectedEnvironment,
  workspace: PlannedWorkspace,
): Promise<ServiceChanges> {
  const { file } = prompt;
  const { repository } = workspace;
  const head = repository?.head ?? null;
  const formerFiles = repository === null || head === null ? [] : await readFormerFiles(file, head, repository);
  const allMoved = await findMovedEnvironments(prompt, workspace);
  const moved = allMoved.filter(({ pin }) => (options.environment ?? pin.environment) === pin.environment);
  const formerPins = repository === null ? new Map() : await collectFormerPins(formerFiles, repository);
  const outsideEdits = listOutsideEdits(prompt, options, formerPins, moved);
  const known = prompt.observed.known;
  const movedBack = moved.flatMap(({ pin, served: version }): readonly OutsideEdit[] => {
    const { environment } = pin;
    if (version === null || outsideEdits.some((edit) => edit.environment === environment)) return [];
    const isManaged = isKnownAsManaged(version, known);
    return [{ environment, version, pin, isManaged, isEarlierText: true }];
  });
  const deactivated = moved.filter(({ served }) => served === null);
  if (workspace.config.portablePins) {
    return { formerFiles, deactivated, ...applyPortableRules([...outsideEdits, ...movedBack], file) };
  }
  const isHistoryComplete = repository?.isShallow === false;
  return {
    formerFiles,
    outsideEdits,
    textEdits: keepDistinctContents(outsideEdits, file),
    contested: outsideEdits.filter((edit) => isPinContested(edit, formerFiles, isHistoryComplete)),
    movedBack,
    leftAlone: [],
    deactivated,
  };
}

/**
 * Separates the environments with a `git:` pin from those whose text a pull takes. With `portable_pins`, no pin can name
 * the version that an environment serves. A pull therefore never changes a pin, and no pin is contested.
 */
function applyPortableRules(
  changed: readonly OutsideEdit[],
  file: PromptFile,
): Omit<ServiceChanges, 'formerFiles' | 'deactivated'> {
  const { leftAlone = [], outsideEdits = [] } = Object.groupBy(changed, ({ pin }) =>
    pin?.pin.kind === 'git' ? 'leftAlone' : 'outsideEdits',
  );
  const textEdits = keepDistinctContents(outsideEdits, file);
  return { outsideEdits, textEdits, contested: [], movedBack: [], leftAlone };
}

/**
 * Returns the selected environments that somebody changed in the service. Omits environments that only lag behind the
 * file, because a sync will update them.
 */
export function listOutsideEdits(
  { file, observed, changes }: ObservedPromptPlan,
  { environment }: SelectedEnvironment,
  formerPins: FormerPinsByEnvironment,
  moved: readonly MovedEnvironment[],
): readonly OutsideEdit[] {
  const changing = listChangingEnvironments(changes);
  const known = observed.known;
  const selected = environment === undefined ? file.pins.map((pin) => pin.environment) : [environment];
  return selected.flatMap((name): readonly OutsideEdit[] => {
    const version = observed.active.get(name) ?? null;
    if (version === null) return [];
    const isNewVersion = moved.some((one) => one.isNewVersion && one.pin.environment === name);
    if (!isNewVersion && wasPinnedEarlier(version, formerPins.get(name) ?? [], known)) return [];
    const pin = findPin(file.pins, name) ?? null;
    // Also compare the version numbers, because the plan has no change for a pin with an unknown version number. An
    // earlier pull may have written such a pin.
    const isOtherNumber = pin?.pin.kind === 'number' && pin.pin.number !== version.number;
    if (pin !== null && !changing.has(name) && !isOtherNumber) return [];
    const isManaged = isKnownAsManaged(version, known);
    return [{ environment: name, version, pin, isManaged, isEarlierText: false }];
  });
}

/**
 * Returns true if HEAD or an earlier commit pinned this version. A pin to `latest` or `git:<ref>` matches every version
 * with its content. For a foreign version, such a pin does not count if promptsync created an older version with the
 * same content. In that case, the pin meant the older version, and somebody later restored the content in the service.
 */
function wasPinnedEarlier(
  version: KnownVersion,
  formerPins: readonly FormerPin[],
  known: readonly KnownVersion[],
): boolean {
  const managedBefore = isKnownAsManaged(version, known) ? [] : listManagedBefore(version, known);
  const isRestored = (pin: FormerPin) =>
    pin.content !== null && managedBefore.some((older) => meansVersion(pin, older));
  return formerPins.some((pin) => meansVersion(pin, version) && !isRestored(pin));
}

/**
 * Returns true if promptsync definitely created a version. Prefers the entry in `known`, where every possible edited
 * copy counts as foreign. In `ObservedPrompt.active`, a possible edited copy counts as foreign only if its original is
 * known.
 */
function isKnownAsManaged(version: KnownVersion, known: readonly KnownVersion[]): boolean {
  return (known.find(({ id }) => id === version.id) ?? version).isManaged === true;
}

/**
 * Returns one outside edit for each distinct content. Ignores versions that promptsync created. Compares metadata only
 * if the file manages metadata. If several environments serve the same content, returns the last one that is pinned
 * to `latest`. If there is none, returns the last one. `latest` takes precedence, because the text in such an
 * environment is an edit of the file's text.
 */
function keepDistinctContents(outsideEdits: readonly OutsideEdit[], { content }: PromptFile): readonly OutsideEdit[] {
  const managesMetadata = content.metadata !== undefined;
  const makeKey = ({ version: { digest, metadataDigest } }: OutsideEdit) =>
    makeContentKey({ digest, metadataDigest: managesMetadata ? metadataDigest : undefined });
  const foreign = outsideEdits.filter(({ isManaged }) => !isManaged);
  const following = foreign.filter(({ pin }) => pin?.pin.kind === 'latest');
  const others = foreign.filter(({ pin }) => pin?.pin.kind !== 'latest');
  // If several edits have the same key, the map keeps the last of them.
  return [...new Map([...others, ...following].map((edit) => [makeKey(edit), edit])).values()];
}

/**
 * Returns true if the file's pin may be newer than the change in the service. This is possible in two cases:
 *
 * - The user edited the pin after the last commit.
 * - promptsync created the served version, and the git history of the file is incomplete. A missing commit may have
 *   pinned that version.
 */
function isPinContested(
  { environment, pin, isManaged }: OutsideEdit,
  formerFiles: readonly FormerFile[],
  isHistoryComplete: boolean,
): boolean {
  if (pin === null || pin.pin.kind === 'latest') return false;
  const [last] = formerFiles;
  if (last === undefined) return isManaged;
  const committed = findPin(last.file.pins, environment)?.pin;
  const isEdited = committed === undefined || formatPin(committed) !== formatPin(pin.pin);
  return isEdited || (isManaged && !isHistoryComplete);
}
