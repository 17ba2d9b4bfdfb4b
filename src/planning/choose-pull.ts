import { isInSync } from '../domain/compare-content.ts';
import { toStoredContent } from '../domain/content.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { type Drift, isOlderVersion } from '../domain/plan.ts';
import { findPin, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';
import type { LineState } from '../history/line-of-states.ts';

/** The facts that a pull needs about an environment that serves a version other than the one its pin names. */
type PullFacts = {
  /** Null if the file does not pin the environment. */
  readonly pin: Pin | null;
  /** Whether git has the content of the served version. */
  readonly isInGit: boolean;
  /** Whether the served version is older than the wanted one. */
  readonly isOlder: boolean;
};

/** The parts that a pull writes into the file: a pin for the served version, its text, both or neither. */
export type PullEffect = { readonly writesPin: boolean; readonly takesText: boolean };

/** With `portable_pins`, writes no pins, and leaves an environment with a `git:` pin alone. */
export function choosePullEffect({ pin, isInGit, isOlder }: PullFacts, portablePins: boolean): PullEffect {
  if (portablePins && pin?.kind === 'git') return { writesPin: false, takesText: false };
  return {
    writesPin: !portablePins && pin !== null && (isOlder || pin.kind !== 'latest'),
    takesText: isOlder ? portablePins : pin === null || !isInGit,
  };
}

export function canPullDrift(drift: Drift, { pins }: Pick<PromptFile, 'pins'>, portablePins: boolean): boolean {
  if (drift.subject === 'field') return true;
  const { environment, expected, observed } = drift;
  if (observed === null) return false;
  const pin = findPin(pins, environment)?.pin ?? null;
  const facts = { pin, isInGit: observed.isInGit, isOlder: isOlderVersion(observed, expected) };
  const { writesPin, takesText } = choosePullEffect(facts, portablePins);
  return writesPin || takesText;
}

/** Returns true if promptsync definitely created the version, or if a state of the line has the same content. */
export function isVersionInGit(
  version: KnownVersion,
  states: readonly LineState[],
  { file, observed }: { readonly file: PromptFile; readonly observed: ObservedPrompt },
): boolean {
  if (version.isManaged === true) return true;
  const contents = states.map((state) => toStoredContent(state.file.content, observed.metadata));
  // If the file manages metadata, a state without metadata does not have the complete content.
  const managesMetadata = toStoredContent(file.content, observed.metadata).metadata !== undefined;
  const complete = managesMetadata ? contents.filter(({ metadata }) => metadata !== undefined) : contents;
  return complete.some((content) => isInSync(version, content));
}
