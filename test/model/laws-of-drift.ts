import { FIELDS, type FieldName, type PromptPlan } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { SyncWith } from './commands.ts';
import { commitAgo, type Commit } from './history.ts';
import { must } from './law.ts';
import { note } from './statistics.ts';
import { isSurelyWhat, mayStay, wantedBy } from './wanted.ts';
import type { RemotePrompt } from '../../src/service/prompt-service.ts';
import { isReachable, type World } from './world.ts';

/** What the tool should say of one environment or field; `either` where it cannot know who has done it. */
export type Drifting = 'outside' | 'unfinished' | 'either' | 'none';

/** By environment and field: how each differs from what the base wants and from what the file wants. */
export type Drifts = ReadonlyMap<string, Drifting>;

/** Asked before a sync. Null where no base is given or the base does not know the prompt. */
export async function driftsOf(world: World, file: PromptFile, { base: ago }: SyncWith): Promise<Drifts | null> {
  if (ago === undefined) return null;
  const commit = commitAgo(world.history, ago);
  const base = commit.files.get(file.id)?.file;
  if (base === undefined) return null;
  const environments = file.pins.map(
    ({ environment }) => [environment, environmentDrift(world, environment, base, file)] as const,
  );
  const stands = await world.service.readPrompt(file.id);
  const fields = FIELDS.map((field) => [field, fieldDrift(world, field, base, file, commit, stands)] as const);
  return new Map<string, Drifting>([...environments, ...fields]);
}

/** What was reported is what is so, and `on_drift: fail` refuses for what somebody else has done, and for that alone. */
export function checkDrift(world: World, plan: PromptPlan, drifts: Drifts | null, { onDrift }: SyncWith): void {
  const reported = new Map(plan.drift.map((one) => ['field' in one ? one.field : one.environment, one.kind]));
  const { id } = plan.file;
  must(drifts !== null || reported.size === 0, () => `${id} is told to drift, without a base`);
  if (drifts === null) return;
  for (const [where, kind] of drifts) {
    const said = reported.get(where) ?? 'none';
    note(world.statistics, `drift: ${said}`);
    must(kind === said || kind === 'either', () => `the drift of ${where} of ${id} is ${kind}, and told as ${said}`);
  }
  const refused = plan.problems.some(({ code }) => code === 'guard/drift');
  const isOutside = [...reported.values()].includes('outside');
  must(refused === (onDrift === 'fail' && isOutside), () => `${id} is ${refused ? '' : 'not '}refused for its drift`);
}

function environmentDrift(world: World, environment: string, base: PromptFile, file: PromptFile): Drifting {
  const { service, madeByTool, setup } = world;
  const [then, now] = [base, file].map((one) => one.pins.find((pin) => pin.environment === environment)?.pin);
  if (then === undefined || now === undefined) return 'none';
  const wanted = [wantedBy(world, base, then), wantedBy(world, file, now)];
  const active = service.active(file.id, environment);
  if (active !== null && setup.service !== 'faithful') return 'either';
  if (active !== null && wanted.some((one) => isSurelyWhat(world, active, one))) return 'none';
  if (active !== null && wanted.some((one) => mayStay(world, active, one))) return 'either';
  // What cannot be resolved is not known to be wanted.
  if (wanted.some((one) => one.kind === 'nothing')) return 'either';
  if (wanted.some((one) => one.kind === 'version' && !isReachable(world, file.id, one.version.id))) return 'either';
  if (active === null || madeByTool.has(active.id)) return 'unfinished';
  // A copy, stamp and all, of what the tool has made cannot be told from it.
  const isCopy = service.versions(file.id).some((one) => madeByTool.has(one.id) && one.digest === active.digest);
  return active.stamp !== null && isCopy ? 'either' : 'outside';
}

function fieldDrift(
  { history }: World,
  field: FieldName,
  base: PromptFile,
  file: PromptFile,
  commit: Commit,
  prompt: Pick<RemotePrompt, FieldName>,
): Drifting {
  const stands = prompt[field];
  const [then, now] = [base[field], file[field]];
  if (then === undefined || now === undefined || stands === then || stands === now) return 'none';
  const earlier = history.commits.slice(0, history.commits.indexOf(commit) + 1);
  const values = earlier.map(({ files }) => files.get(file.id)?.file).filter((one) => one !== undefined);
  const known = values.filter(({ path }) => path === base.path);
  if (known.some((one) => (one[field] ?? '') === stands)) return 'unfinished';
  return values.some((one) => (one[field] ?? '') === stands) ? 'either' : 'outside';
}
