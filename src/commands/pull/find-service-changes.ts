import { makeContentKey } from '../../domain/compare-content.ts';
import {
  FIELDS,
  type FieldName,
  getWantedNumber,
  isOlderVersion,
  type ObservedPromptPlan,
  type WantedVersionRef,
} from '../../domain/plan.ts';
import { type EnvironmentPin, findPin, formatPin, type PromptFile } from '../../domain/prompt-file.ts';
import type { KnownVersion } from '../../domain/versions.ts';
import type { Line } from '../../history/line-of-states.ts';
import { choosePullEffect, isVersionInGit } from '../../planning/choose-pull.ts';
import { findUnservedVersion } from '../../planning/compare-prompt.ts';

/** An environment that somebody changed in the service. */
export type OutsideEdit = {
  readonly environment: string;
  /** The version that the environment serves. */
  readonly version: KnownVersion;
  /** The file's pin for the environment. Null if the file does not pin the environment. */
  readonly pin: EnvironmentPin | null;
  /**
   * Whether git has the content, because promptsync created the version or a state of the line has the same content. If
   * so, `pull` writes only a pin, apart from an older version with `portable_pins`.
   */
  readonly isInGit: boolean;
  /** Whether the version is older than the wanted one. If so, merging its text would mix two states of the file. */
  readonly isOlder: boolean;
};

export type ServiceChanges = {
  /** One edit for each distinct text. Several edits block the pull, because a file can take only one text. */
  readonly textEdits: readonly OutsideEdit[];
  /** The environments to pin to the version that they serve. */
  readonly pinEdits: readonly OutsideEdit[];
  /** The environments at `latest` that serve a newer version. git has its text, so there is nothing to pull. */
  readonly textsInGit: readonly OutsideEdit[];
  /** With `portable_pins`, the environments with a `git:` pin. A pin can then name only a commit, so it stays. */
  readonly leftAlone: readonly OutsideEdit[];
  /** The environments that no longer serve a version, with the number of the version that the file wants there. */
  readonly deactivated: readonly { readonly environment: string; readonly wantedNumber: number }[];
  readonly fields: readonly FieldName[];
};

/** An environment that somebody changed, and what HEAD wants there. `expected` is null if the file does not pin it. */
type ChangedEnvironment = { readonly environment: string; readonly expected: WantedVersionRef | null };

type PullRules = {
  readonly hasBase: boolean;
  readonly portablePins: boolean;
  /** The value of `--environment`. Undefined selects all pinned environments. */
  readonly environment?: string | undefined;
};

/**
 * Finds the changes that somebody made to a prompt: with a base, the drift from outside, and otherwise every
 * difference. `--environment` adds an environment that the file does not pin. `line` ends at HEAD. The served version
 * decides about an environment:
 * - No version: The environment is reported, and the file stays as it is.
 * - A version that is older than the wanted one: The file pins it and keeps its text. With `portable_pins`, the file
 *   takes the older text instead.
 * - Any other version: The file takes its text, unless git has it. Every pin but `latest` then pins the version.
 */
export function findServiceChanges(
  prompt: ObservedPromptPlan,
  line: Line,
  { hasBase, portablePins, environment }: PullRules,
): ServiceChanges {
  const { file, observed } = prompt;
  const changed = [
    ...(hasBase ? listDriftedEnvironments(prompt) : listDifferingEnvironments(prompt)),
    ...listUnpinned(environment, file),
  ].filter((one) => environment === undefined || one.environment === environment);
  const edits = changed.flatMap((one) => makeOutsideEdit(one, prompt, line));
  const isLeftAlone = ({ pin }: OutsideEdit) => portablePins && pin?.pin.kind === 'git';
  const leftAlone = edits.filter(isLeftAlone);
  const taken = edits.filter((edit) => !isLeftAlone(edit));
  const choose = ({ pin, isInGit, isOlder }: OutsideEdit) =>
    choosePullEffect({ pin: pin?.pin ?? null, isInGit, isOlder }, portablePins);
  const needsPin = (edit: OutsideEdit) => choose(edit).writesPin;
  const takesText = (edit: OutsideEdit) => choose(edit).takesText;
  return {
    textEdits: keepDistinctContents(taken.filter(takesText), file),
    pinEdits: taken.filter(needsPin),
    textsInGit: taken.filter((edit) => edit.pin?.pin.kind === 'latest' && !needsPin(edit) && !takesText(edit)),
    leftAlone,
    deactivated: changed.flatMap(({ environment: name, expected }) => {
      const isServed = (observed.active.get(name) ?? null) !== null;
      const wantedNumber = getWantedNumber(expected);
      return isServed || wantedNumber === null ? [] : [{ environment: name, wantedNumber }];
    }),
    fields: hasBase ? listDriftedFields(prompt) : listDifferingFields(prompt),
  };
}

function listDriftedEnvironments({ drift }: ObservedPromptPlan): readonly ChangedEnvironment[] {
  return drift.flatMap((one) => (one.subject === 'environment' && one.kind === 'outside' ? [one] : []));
}

/** Lists the environments that serve a version other than the wanted one, even if promptsync does not know that one. */
function listDifferingEnvironments({ file, observed, changes }: ObservedPromptPlan): readonly ChangedEnvironment[] {
  const activations = changes.filter((change) => change.kind === 'set-active');
  return file.pins.flatMap((pin): readonly ChangedEnvironment[] => {
    const { environment } = pin;
    const served = observed.active.get(environment) ?? null;
    const after = activations.find((activation) => activation.environment === environment)?.after ?? null;
    const expected = findUnservedVersion({ pin, after }, served);
    return served === null || expected === null ? [] : [{ environment, expected }];
  });
}

/** If the file does not pin the environment that the user passed as `--environment`, returns this environment. */
function listUnpinned(environment: string | undefined, { pins }: PromptFile): readonly ChangedEnvironment[] {
  if (environment === undefined || findPin(pins, environment) !== undefined) return [];
  return [{ environment, expected: null }];
}

function makeOutsideEdit(
  { environment, expected }: ChangedEnvironment,
  { file, observed }: ObservedPromptPlan,
  line: Line,
): readonly OutsideEdit[] {
  const version = observed.active.get(environment) ?? null;
  if (version === null) return [];
  return [
    {
      environment,
      version,
      pin: findPin(file.pins, environment) ?? null,
      isInGit: isVersionInGit(version, line.states, { file, observed }),
      isOlder: isOlderVersion(version, expected),
    },
  ];
}

/**
 * If several environments serve the same content, prefers an environment that is pinned to `latest`, because text that
 * is served under this pin is an edit of the file's own text.
 */
function keepDistinctContents(edits: readonly OutsideEdit[], { content }: PromptFile): readonly OutsideEdit[] {
  const managesMetadata = content.metadata !== undefined;
  const makeKey = ({ version: { digest, metadataDigest } }: OutsideEdit) =>
    makeContentKey({ digest, metadataDigest: managesMetadata ? metadataDigest : undefined });
  const following = edits.filter(({ pin }) => pin?.pin.kind === 'latest');
  const others = edits.filter(({ pin }) => pin?.pin.kind !== 'latest');
  // If several edits have the same key, the map keeps the last of them.
  return [...new Map([...others, ...following].map((edit) => [makeKey(edit), edit])).values()];
}

function listDriftedFields({ drift }: ObservedPromptPlan): readonly FieldName[] {
  return drift.flatMap((one) => (one.subject === 'field' && one.kind === 'outside' ? [one.field] : []));
}

function listDifferingFields({ changes }: ObservedPromptPlan): readonly FieldName[] {
  return changes.flatMap((change) =>
    change.kind === 'update-prompt' ? FIELDS.filter((field) => change.fields[field] !== undefined) : [],
  );
}

/** Returns the pin edits that would overwrite uncommitted pins. Only the user knows which of the two is newer. */
export function findContestedPins({ pinEdits }: ServiceChanges, { states }: Line): readonly OutsideEdit[] {
  return pinEdits.filter(({ environment, pin }) => {
    const committed = findPin(states[0]?.file.pins ?? [], environment);
    return pin !== null && (committed === undefined || formatPin(committed.pin) !== formatPin(pin.pin));
  });
}
