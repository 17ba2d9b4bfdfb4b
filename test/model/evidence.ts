import { isDeepStrictEqual } from 'node:util';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { LedgerVersion } from '../../src/ledger/version-record.ts';
import { commitAgo, findCommitted, type Commit } from './history.ts';
import { mayStay, wantedBy } from './limits.ts';
import type { World } from './world.ts';

/** Whether the times of versions show that somebody moved an environment. `unclear`: the model cannot tell. */
export type Evidence = 'moved' | 'none' | 'unclear';

/** An environment that differs from what its pin at the base wants. */
type Moved = {
  readonly environment: string;
  /** The number of commits between the base and the head. */
  readonly ago: number;
  /** The prompt file at the head. */
  readonly file: PromptFile;
};

/**
 * Applies the rule "moved back or unfinished" to the times that the service shows. The rule needs to know which version
 * the pin wants. If several versions have the wanted content, all of them must lead to the same result.
 */
export function evidenceOf(world: World, moved: Moved): Evidence {
  const base = findCommitted(commitAgo(world.history, moved.ago), moved.file)?.file;
  const pin = base?.pins.find((one) => one.environment === moved.environment)?.pin;
  if (base === undefined || pin === undefined) return 'none';
  const wanted = wantedBy(world, base, pin);
  const versions = world.service.versions(base.id).filter((version) => mayStay(world, version, wanted));
  const results = new Set(versions.map((version) => evidenceFor(world, version, base, moved)));
  const [first = 'none', ...others] = results;
  return others.length > 0 ? 'unclear' : first;
}

function evidenceFor(world: World, wanted: LedgerVersion, base: PromptFile, moved: Moved): Evidence {
  const { environment, file } = moved;
  const { service } = world;
  const times = service.timesOf(file.id, wanted.id);
  const since = wantedSince(world, environment, base);
  if (times === null || since === null) return 'none';
  if (since === 'unclear') return 'unclear';
  const follows = base.pins.some((one) => one.environment === environment && one.pin.kind === 'latest');
  if (follows && times.created > since.time && times.isTouched) {
    // promptsync does not know an old version without a label, so it would create the content again.
    return service.isKept(file.id, wanted.id) ? 'moved' : 'unclear';
  }
  const served = service.active(file.id, environment);
  const servedTimes = served === null ? null : service.timesOf(file.id, served.id);
  if (servedTimes === null || times.changed <= since.time || servedTimes.changed <= since.time) return 'none';
  if (!service.isKept(file.id, wanted.id)) return 'unclear';
  const touching = file.pins
    .filter((one) => one.environment !== environment)
    .map((one) => {
      const active = service.active(file.id, one.environment);
      const isOnEither = active !== null && (active.id === wanted.id || active.id === served?.id);
      const otherWanted = wantedBy(world, file, one.pin);
      if (isOnEither && otherWanted.kind === 'nothing') return 'unclear';
      if (!isOnEither || !mayStay(world, active, otherWanted)) return 'none';
      const other = wantedSince(world, one.environment, base);
      return other === 'unclear' ? 'unclear' : other?.id === since.id ? 'touched' : 'none';
    });
  if (touching.includes('touched')) return 'none';
  return touching.includes('unclear') ? 'unclear' : 'moved';
}

/**
 * Returns the commit that introduced what the pin wants at the base. `null` if the head wants something else, or if the
 * base does not pin the environment or pins a tag, because a tag can move. A number and `latest` can want the same version. The model then cannot tell.
 */
function wantedSince({ history }: World, environment: string, base: PromptFile): Commit | null | 'unclear' {
  const pinOf = (one: PromptFile | undefined) => one?.pins.find((pin) => pin.environment === environment)?.pin;
  const pin = pinOf(base);
  if (pin === undefined) return null;
  const pinAtHead = pinOf(history.commits.at(-1)?.files.get(base.id)?.file);
  // A tag can move. The head may want the same content with a different pin.
  if (pin.kind === 'git') return pinAtHead?.kind === 'git' ? null : 'unclear';
  let since: Commit | null = null;
  for (const commit of history.commits.toReversed()) {
    const committed = findCommitted(commit, base);
    // The history of a file continues in front of the commit that removed it or changed its type.
    if (committed === undefined) continue;
    const other = pinOf(committed.file);
    if (other !== undefined && other.kind !== 'git' && other.kind !== pin.kind) return 'unclear';
    const isSame =
      pin.kind === 'latest'
        ? other?.kind === 'latest' && isDeepStrictEqual(committed.file.content, base.content)
        : isDeepStrictEqual(other, pin);
    if (!isSame) break;
    since = history.commits.find(({ id }) => id === committed.touchedBy) ?? null;
  }
  return since;
}
