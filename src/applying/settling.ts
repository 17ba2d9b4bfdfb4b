import { differsInForm } from '../domain/ownership.ts';
import type { CreateVersion } from '../domain/plan.ts';
import type { ServiceError } from '../domain/prompt-service.ts';
import type { Stamp, Version } from '../domain/version.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { adopt, refuseRewritten, weigh, type Weight } from './adopting.ts';
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
  if (dependencies.trackingEnvironment === null)
    return unsettled(change, makeProblem('apply/outcome-unseen', { id, reason }));
  const version = await look(dependencies, observed.prompt.id, id).catch(() => {
    throw lost;
  });
  note(writing, version);
  const weight = weighSent(writing, change, stamp, version);
  if (weight === 'wanted') return adopt(writing, change, version, version);
  if (weight === 'rewritten') return refuseRewritten(change, version, 'made');
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

/** What was sent just now is known by its operation even where the service has kept nothing else of it. */
function weighSent(writing: Writing, change: CreateVersion, { operation }: Stamp, version: Version): Weight {
  const weight = weigh(writing, change, version);
  if (weight !== 'other') return weight;
  const { stamp, text, digest } = version;
  const tidied = stamp === null && digest !== change.content.digest && differsInForm(text, change.content.text);
  return stamp?.operation === operation || tidied ? 'rewritten' : 'other';
}

function unsettled(change: CreateVersion, problem: Problem): Made {
  return { outcome: { change, status: 'unknown' }, problems: [problem] };
}
