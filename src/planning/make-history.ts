import type { CommitInfo, FileHistory, FormerPin, Maker, PinnedTime, VersionHistory } from '../domain/history.ts';
import type { Observed } from '../domain/observed.ts';
import { asHeld, findContent, holds, type KnownVersion } from '../domain/versions.ts';
import { versionMeant } from './former-pins.ts';

export type HistorySources = {
  readonly observed: Observed;
  /** The file on the branch that is checked out; without states outside of git. */
  readonly history: FileHistory;
  /** What git knows of commits; those that are missing are named by their ids. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  /** Environments in the order in which they are listed; others come after them. */
  readonly order: readonly string[];
};

/** All versions that are known, newest first: who made each, where it is active, and when it was pinned. */
export function makeHistory(sources: HistorySources): readonly VersionHistory[] {
  const { metadata } = sources.observed;
  const known = knownAsServed(sources.observed);
  const pinned = allPinnedTimes(known, sources);
  const environments = inOrder([...sources.observed.active.keys()], sources.order);
  return known.map((version) => {
    const { id, number, digest, source, message } = version;
    const { commit, path } = version.ours && source !== null ? source : {};
    return {
      ref: { id, number },
      digest,
      madeBy: makerOf(version, metadata),
      commit: commit === undefined ? null : infoOf(commit, sources),
      path: path ?? null,
      message,
      activeIn: environments.filter((environment) => sources.observed.active.get(environment)?.id === id),
      pinned: pinned.filter((one) => one.id === id).map(({ time }) => time),
    };
  });
}

/** A version that is served is taken for what it is where it is served: some services add metadata to every version. */
function knownAsServed({ known, active }: Observed): readonly KnownVersion[] {
  const served = [...active.values()].filter((version) => version !== null);
  return known.map((one) => served.find(({ id }) => id === one.id) ?? one);
}

function makerOf({ ours, source }: KnownVersion, metadata: Observed['metadata']): Maker {
  if (!ours) return metadata === 'dropped' || ours === null ? 'unknown' : 'outside';
  return source?.commit === undefined ? 'uncommitted' : 'git';
}

function inOrder(environments: readonly string[], order: readonly string[]): readonly string[] {
  return [...new Set([...order.filter((one) => environments.includes(one)), ...environments])];
}

type Pinned = { readonly id: string; readonly time: PinnedTime };

function allPinnedTimes(known: readonly KnownVersion[], sources: HistorySources): readonly Pinned[] {
  const { history, observed, order } = sources;
  const environments = inOrder([...observed.active.keys(), ...history.pins.keys()], order);
  return environments.flatMap((environment) => pinnedTimes(environment, known, sources));
}

/**
 * What an environment was pinned to, newest first. Pins that are written otherwise and mean the same are one time; those
 * that mean no version that is known are none.
 */
function pinnedTimes(environment: string, known: readonly KnownVersion[], sources: HistorySources): readonly Pinned[] {
  const { commits, pins, whole } = sources.history;
  const served = sources.observed.active.get(environment)?.id;
  const active = known.find(({ id }) => id === served) ?? null;
  const meant = (pin: FormerPin) => meantBy(pin, known, active, sources.observed)?.id;
  const byAge = new Map((pins.get(environment) ?? []).map((pin) => [pin.age, meant(pin)]));
  const oldestFirst = commits.map((commit, age) => ({ commit, id: byAge.get(age) ?? null })).toReversed();
  const turns = oldestFirst.filter(({ id }, index) => index === 0 || id !== oldestFirst[index - 1]?.id);
  const times = turns.flatMap(({ commit, id }, index): readonly Pinned[] => {
    const from = index === 0 && !whole ? null : infoOf(commit, sources);
    const next = turns[index + 1]?.commit;
    return id === null ? [] : [{ id, time: { environment, from, until: next ? infoOf(next, sources) : null } }];
  });
  return times.toReversed();
}

function infoOf(commit: string, { commits }: HistorySources): CommitInfo {
  return commits.get(commit) ?? { commit };
}

/** Of equal contents the one that is served: which of them a sync had made active does not matter. */
function meantBy(
  pin: FormerPin,
  known: readonly KnownVersion[],
  active: KnownVersion | null,
  { metadata }: Observed,
): KnownVersion | undefined {
  return versionMeant(pin, known, (content) => {
    const sought = asHeld(content, metadata);
    return active !== null && holds(active, sought) ? active : findContent(known, sought);
  });
}
