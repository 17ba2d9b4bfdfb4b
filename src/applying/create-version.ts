import { metadataDigest } from '../domain/digest.ts';
import { findContent, makeLedger } from '../domain/known-versions.ts';
import { versionsRead } from '../domain/observed.ts';
import { isNew, type CreateVersion } from '../domain/plan.ts';
import { ServiceError } from '../domain/prompt-service.ts';
import type { Stamp, Version } from '../domain/version.ts';
import { adopt, finishMade, follow, refuseRewritten, toldBy, weigh } from './adopting.ts';
import { lookAtNewest } from './looking.ts';
import { settle } from './settling.ts';
import { lookVerified } from './verifying.ts';
import type { Made, Writing } from './writing.ts';

/**
 * Makes a version and moves the tracking environment to it. The newest version is looked at first where nobody has
 * read it: it may be this very content, left behind by a run that was cut short. Throws when it was not made or when
 * that is unknown.
 */
export async function createVersion(writing: Writing, change: CreateVersion): Promise<Made> {
  const newest = await lookAtNewest(writing);
  const leads = newest !== null && weigh(writing, change, newest) !== 'rewritten';
  const problems = leads ? await follow(writing, newest) : [];
  if (problems.length > 0) return { outcome: { change, status: 'not_made' }, problems };
  for (const version of [...versionsRead(writing.observed), ...writing.looked]) {
    const found = await useRead(writing, change, version);
    if (found !== null) return found;
  }
  const stamp = stampFor(writing, change);
  const sent = await send(writing, change, stamp);
  return sent instanceof ServiceError ? settle(writing, change, stamp, sent) : finishMade(writing, change, sent);
}

/** Adopts what was read, or what its ledger tells of; null where a version has to be made all the same. */
async function useRead(writing: Writing, change: CreateVersion, version: Version): Promise<Made | null> {
  const weight = weigh(writing, change, version);
  if (weight === 'wanted') return adopt(writing, change, version, version);
  if (weight === 'rewritten') return refuseRewritten(change, version, 'not_made');
  const told = toldBy(writing, change, version);
  return told === undefined ? null : adopt(writing, change, await lookVerified(writing, told), version);
}

/** Resolves to the failure where the answer was lost; throws any other. */
async function send(writing: Writing, change: CreateVersion, stamp: Stamp): Promise<Version | ServiceError> {
  const { content, provenance } = change;
  const { changeSummary } = provenance;
  try {
    return await writing.dependencies.service.createVersion(writing.observed.prompt.id, {
      text: content.text,
      metadata: content.metadata ?? {},
      stamp,
      ...(changeSummary === undefined ? {} : { changeSummary }),
    });
  } catch (error) {
    if (error instanceof ServiceError && error.effect === 'unknown') return error;
    throw error;
  }
}

function stampFor(writing: Writing, { content, provenance }: CreateVersion): Stamp {
  const { known, observed, dependencies } = writing;
  const active = [...observed.active.values(), writing.head ?? null];
  // That of the file's own text is kept as well: it counts as there already.
  const kept = new Set([...active.map((version) => version?.id), ownVersion(writing)]);
  const { commit, path } = provenance;
  return {
    digest: content.digest,
    metadataDigest: metadataDigest(content.metadata ?? null),
    ...(commit === undefined ? {} : { commit }),
    ...(path === undefined ? {} : { path }),
    operation: dependencies.newOperation(),
    ledger: makeLedger([...known.values()], kept, pinnedIds(writing)),
  };
}

function ownVersion({ known, plan }: Writing): string | undefined {
  const newestFirst = [...known.values()].toSorted((a, b) => b.number - a.number);
  return findContent(newestFirst, plan.file.content)?.id;
}

/**
 * The versions that a pin other than `latest` stands on, those that an environment goes back to and those that it was
 * held back at: somebody may want them again, however old they have become.
 */
function pinnedIds({ plan, observed, known }: Writing): ReadonlySet<string> {
  const newest = Math.max(...[...known.values()].map(({ number }) => number));
  const standing = plan.file.pins.flatMap(({ environment, pin }) => {
    const active = observed.active.get(environment) ?? null;
    return active !== null && (pin.kind !== 'latest' || active.number < newest) ? [active.id] : [];
  });
  const targets = plan.changes.flatMap((one) => (one.kind === 'set-active' && !isNew(one.after) ? [one.after.id] : []));
  return new Set([...standing, ...targets]);
}
