import { EMPTY_METADATA_DIGEST } from '../domain/digest.ts';
import { differsInForm, followsLedger } from '../domain/ownership.ts';
import type { CreateVersion } from '../domain/plan.ts';
import type { ServiceError } from '../domain/prompt-service.ts';
import type { Stamp, Version } from '../domain/version.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { adopt, refuseRewritten, weigh } from './adopting.ts';
import { look } from './looking.ts';
import { note, type Made, type Writing } from './writing.ts';

/** In milliseconds: a version may be stored well after its answer was given up. */
const WAITS = [250, 1_000, 2_000, 4_000, 8_000];

/**
 * Finds out what became of a version whose answer was lost: waits until the service has a version that nobody has
 * read, and looks at it. Throws the failure where none turns up: then nothing is known, and nothing is sent again.
 */
export async function settle(writing: Writing, change: CreateVersion, stamp: Stamp, lost: ServiceError): Promise<Made> {
  const id = await awaitUnread(writing);
  if (id === null) throw lost;
  const { dependencies, observed } = writing;
  const reason = lost.problem.message;
  const version = await look(dependencies, observed.prompt.id, id).catch(() => {
    throw lost;
  });
  note(writing, version);
  const weight = weigh(writing, change, version);
  if (weight === 'wanted') return adopt(writing, change, version, version);
  const ours = version.stamp?.operation === stamp.operation && followsLedger(version);
  if (weight === 'rewritten') return refuseRewritten(change, version, ours ? 'made' : 'unknown');
  if (isTidied(change, version)) return refuseRewritten(change, version, 'unknown');
  const { number } = version;
  return unsettled(change, makeProblem('apply/somebody-else-wrote', { id, number, reason }));
}

/** The id of a newest version that is not known; null where none turns up in time, or it cannot be asked for. */
async function awaitUnread({ dependencies, observed, known }: Writing): Promise<string | null> {
  const { service, sleep } = dependencies;
  try {
    for (const wait of WAITS) {
      await sleep(wait);
      const { latestVersionId: id } = await service.readPrompt(observed.prompt.id);
      if (id !== null && !known.has(id) && !observed.missing.includes(id)) return id;
    }
  } catch {
    return null;
  }
  return null;
}

/** A service that has kept the text but for its form, and no metadata at all: what turned up may well be what was sent. */
function isTidied({ content }: CreateVersion, { stamp, text, digest, metadataDigest }: Version): boolean {
  const bare = stamp === null && metadataDigest === EMPTY_METADATA_DIGEST;
  return bare && digest !== content.digest && differsInForm(text, content.text);
}

function unsettled(change: CreateVersion, problem: Problem): Made {
  return { outcome: { change, status: 'unknown' }, problems: [problem] };
}
