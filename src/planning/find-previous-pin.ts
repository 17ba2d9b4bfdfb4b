import { toStoredContent } from '../domain/content.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { findPin, type Pin } from '../domain/prompt-file.ts';
import { findVersionWithContent, type KnownVersion } from '../domain/versions.ts';
import { findWantedVersion, type Line, type LineState, type Want, wantsVersion } from '../history/line-of-states.ts';

export type RollbackSource = {
  readonly environment: string;
  readonly served: KnownVersion;
  /** The line up to HEAD, with the planned file as its newest state. */
  readonly line: Line;
  readonly metadata: ObservedPrompt['metadata'];
};

type LinePin = {
  readonly state: LineState;
  readonly pin: Pin;
  /** Undefined if the pin wants nothing, because its ref can move or because git does not know the ref. */
  readonly want: Want | undefined;
};

type PreviousPin =
  | { readonly kind: 'version'; readonly version: KnownVersion }
  | { readonly kind: 'pin'; readonly pin: Pin }
  /** promptsync cannot tell which version this pin meant. The commit is null if only the planned file has the pin. */
  | { readonly kind: 'unclear'; readonly pin: Pin; readonly commit: string | null }
  | { readonly kind: 'nothing' };

/**
 * Finds the version that the newest pin from before the served version wants. Skips versions that are not older or have
 * the same text, and committed text that no version holds, because no sync has created it. The result is `unclear` if a
 * newer pin wants nothing, or wants an unknown version. `known` is sorted newest first.
 */
export function findPreviousVersion(source: RollbackSource, known: readonly KnownVersion[]): PreviousPin {
  const newest = source.line.states.findIndex((state) => wantsServed(state, source));
  for (const { state, pin, want } of listPinsFrom(newest + 1, source)) {
    // This version is newer, whether or not promptsync knows it.
    if (want?.kind === 'number' && want.number > source.served.number) continue;
    const version =
      want &&
      findWantedVersion(want, known, (content) => {
        return findVersionWithContent(known, toStoredContent(content, source.metadata));
      });
    if (version === undefined && want?.kind !== 'content') return { kind: 'unclear', pin, commit: state.commit };
    if (version !== undefined && isEarlierText(version, source.served)) return { kind: 'version', version };
  }
  return { kind: 'nothing' };
}

/**
 * Finds the newest `git:` pin from before the environment was first pinned to the served version, so that rollbacks do
 * not alternate between two pins: commits have no order such as that of version numbers. Skips numbers, ids and
 * `latest`, because they mean something different in another service or another state of the file. In the newest state,
 * every pin counts. The result is `unclear` if the pin wants nothing.
 */
export function findPreviousGitPin(source: RollbackSource): PreviousPin {
  const [present] = source.line.states;
  const oldest = source.line.states.findLastIndex((state) => wantsServed(state, source));
  const previous = listPinsFrom(oldest + 1, source).find(({ state, pin }) => pin.kind === 'git' || state === present);
  if (previous === undefined) return { kind: 'nothing' };
  const { state, pin, want } = previous;
  return want === undefined ? { kind: 'unclear', pin, commit: state.commit } : { kind: 'pin', pin };
}

/** Returns the newest known version that is older than the served version and has a different text. */
export function findOlderVersion(
  known: readonly KnownVersion[],
  served: Pick<KnownVersion, 'number' | 'digest'>,
): KnownVersion | undefined {
  return known.find((version) => isEarlierText(version, served));
}

function isEarlierText(version: KnownVersion, served: Pick<KnownVersion, 'number' | 'digest'>): boolean {
  return version.number < served.number && version.digest !== served.digest;
}

export function wantsServed(state: LineState, { environment, served, metadata }: RollbackSource): boolean {
  return wantsVersion(state, environment, served, metadata);
}

/** Lists the pins of the environment, newest first, starting at the state with this index. */
function listPinsFrom(index: number, { environment, line }: RollbackSource): readonly LinePin[] {
  return line.states.slice(index).flatMap((state): readonly LinePin[] => {
    const pin = findPin(state.file.pins, environment)?.pin;
    return pin === undefined ? [] : [{ state, pin, want: state.wants.get(environment) }];
  });
}
