import { entryOf, makeLedger } from '../domain/known-versions.ts';
import type { ChangeOutcome } from '../domain/outcome.ts';
import { isNew, type CreateVersion } from '../domain/plan.ts';
import { refOf, type Stamp, type Version } from '../domain/version.ts';
import { during, makeProblem, problemOf, type Problem } from '../problem.ts';
import { activate, type Made, type Writing } from './writing.ts';

/** Makes a version and moves the tracking environment to it. Throws when it was not made or when that is unknown. */
export async function createVersion(writing: Writing, change: CreateVersion): Promise<Made> {
  const { content, provenance } = change;
  const { changeSummary } = provenance;
  const version = await writing.dependencies.service.createVersion(writing.observed.prompt.id, {
    text: content.text,
    metadata: content.metadata ?? {},
    stamp: stampFor(writing, change),
    ...(changeSummary === undefined ? {} : { changeSummary }),
  });
  writing.known.push(entryOf(version));
  writing.made.push({ content, version });
  const outcome: ChangeOutcome = { change, status: 'made', version: refOf(version) };
  if (version.digest !== content.digest) {
    return { outcome, problems: [makeProblem('apply/rewritten', { version: `v${version.number}` })] };
  }
  return { outcome, problems: await track(writing, version) };
}

/** The tracking environment moves first: a run cut right after this still leaves its newest ledger readable. */
async function track(writing: Writing, version: Version): Promise<readonly Problem[]> {
  const { trackingEnvironment } = writing.dependencies;
  if (trackingEnvironment === null) return [];
  const step = `Setting "${trackingEnvironment}" after the version was made`;
  try {
    const { problems } = await activate(writing, trackingEnvironment, version);
    return problems.map((problem) => during(step, problem));
  } catch (error) {
    return [during(step, problemOf(error))];
  }
}

function stampFor(writing: Writing, { content, provenance }: CreateVersion): Stamp {
  const { known, observed, dependencies } = writing;
  const activeIds = new Set([...observed.active.values()].flatMap((version) => version?.id ?? []));
  const { commit, path } = provenance;
  return {
    digest: content.digest,
    ...(commit === undefined ? {} : { commit }),
    ...(path === undefined ? {} : { path }),
    operation: dependencies.newOperation(),
    ledger: makeLedger(known, activeIds, pinnedIds(writing)),
  };
}

/**
 * The versions that a pin other than `latest` stands on, those that an environment goes back to and those that it was
 * held back at: somebody may want them again, however old they have become.
 */
function pinnedIds({ plan, observed, known }: Writing): ReadonlySet<string> {
  const newest = Math.max(...known.map(({ number }) => number));
  const standing = plan.file.pins.flatMap(({ environment, pin }) => {
    const active = observed.active.get(environment) ?? null;
    return active !== null && (pin.kind !== 'latest' || active.number < newest) ? [active.id] : [];
  });
  const targets = plan.changes.flatMap((one) => (one.kind === 'set-active' && !isNew(one.after) ? [one.after.id] : []));
  return new Set([...standing, ...targets]);
}
