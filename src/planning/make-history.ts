import { entryAsServed, knownVersions, type KnownVersion } from '../domain/known-versions.ts';
import type { Observed } from '../domain/observed.ts';
import { dropsMetadata } from '../domain/ownership.ts';
import type { CommitInfo, Maker, PinnedTime, VersionHistory } from '../domain/prompt-history.ts';
import { pinnedTimes, type FilePast } from './pinned-times.ts';

/** What one prompt's history is made from. */
export type HistorySources = {
  readonly observed: Observed;
  /** The file on the branch that is checked out; without states outside of git. */
  readonly past: FilePast;
  /** What git knows of commits; those that are missing are told by their ids. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  readonly trackingEnvironment: string;
  /** Environments in the order in which they are told; others come after them. */
  readonly order: readonly string[];
  /** Environments of promptsync's own: nothing is told of them. */
  readonly hidden: readonly string[];
};

/** All versions that are known, newest first: who made each, where it is active, and when it was pinned. */
export function makeHistory(sources: HistorySources): readonly VersionHistory[] {
  const known = judgedVersions(sources.observed);
  const forgets = dropsMetadata(sources.observed, sources.trackingEnvironment);
  const pinned = allPinnedTimes(known, forgets, sources);
  const active = activeIds(sources);
  return known.map((version) => {
    const { id, number, commit, path, digest } = version;
    return {
      ref: { id, number },
      digest,
      madeBy: makerOf(version, forgets),
      commit: commit === undefined ? null : infoOf(commit, sources),
      path: path ?? null,
      activeIn: active.filter(([, one]) => one === id).map(([environment]) => environment),
      pinned: pinned.filter((one) => one.id === id).map(({ time }) => time),
    };
  });
}

/** What is known, what was read judged as it is where it is served: some services add metadata to every version. */
function judgedVersions(observed: Observed): readonly KnownVersion[] {
  const known = knownVersions(observed);
  return known.map((one) =>
    one.version === null ? one : { ...entryAsServed(one.version, known), version: one.version },
  );
}

function makerOf({ outside, commit }: KnownVersion, forgets: boolean): Maker {
  if (outside === true) return forgets ? 'unknown' : 'outside';
  return commit === undefined ? 'uncommitted' : 'git';
}

function activeIds({ observed, hidden, order }: HistorySources): readonly (readonly [string, string | null])[] {
  const shown = [...observed.active.keys()].filter((environment) => !hidden.includes(environment));
  return inOrder(shown, order).map((environment) => [environment, observed.active.get(environment)?.id ?? null]);
}

function inOrder(environments: readonly string[], order: readonly string[]): readonly string[] {
  return [...new Set([...order.filter((one) => environments.includes(one)), ...environments])];
}

type Pinned = { readonly id: string; readonly time: PinnedTime };

function allPinnedTimes(known: readonly KnownVersion[], forgets: boolean, sources: HistorySources): readonly Pinned[] {
  const { past, observed, order } = sources;
  const environments = [...observed.active.keys(), ...past.states.flatMap(({ pins }) => [...pins.keys()])];
  return inOrder(environments, order).flatMap((environment) => {
    const served = observed.active.get(environment)?.id;
    const active = known.find(({ id }) => id === served) ?? null;
    return pinnedTimes(environment, past, { known, active, forgets }).map(({ id, from, until }): Pinned => {
      const ended = until === null ? null : infoOf(until, sources);
      return { id, time: { environment, from: from === null ? null : infoOf(from, sources), until: ended } };
    });
  });
}

function infoOf(commit: string, { commits }: HistorySources): CommitInfo {
  return commits.get(commit) ?? { commit };
}
