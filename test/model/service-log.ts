import { FIELDS, type PromptOutcome } from '../../src/domain/plan.ts';
import { ENVIRONMENTS, LOOK } from './commands.ts';
import { head } from './history.ts';
import type { ServiceModel, World } from './world.ts';

/** The name of an environment or of a field. */
export type Place = string;

/** What a place has: the id of a version, or the text of a field. Null if no version is active. */
export type PlaceValue = string | null;

/** A change of one prompt in the service: by one run of promptsync, or by one action of somebody else. */
export type ServiceChange = {
  readonly by: 'promptsync' | 'somebody';
  /** The index of the newest commit at that time. */
  readonly commit: number;
  readonly moves: ReadonlyMap<Place, { readonly from: PlaceValue; readonly to: PlaceValue }>;
  /** The ids of the versions whose times the service has changed. */
  readonly touched: ReadonlySet<string>;
};

/** The import of the prompt, or a run without troubles after which the service matched the file. */
export type CompletedSync = {
  readonly commit: number;
  /** The number of earlier changes. */
  readonly age: number;
  /** What the sync left in the places that it covered. */
  readonly left: ReadonlyMap<Place, PlaceValue>;
  /** The ids of the versions that the sync created. */
  readonly created: ReadonlySet<string>;
};

/** Everything that happened to one prompt in the service since its import. */
export type ServiceLog = {
  readonly changes: ServiceChange[];
  readonly syncs: CompletedSync[];
  /** The index of the commit that imported the prompt. */
  readonly importedAt: number;
  state: ServiceState;
};

type ServiceState = {
  readonly places: ReadonlyMap<Place, PlaceValue>;
  readonly times: ReadonlyMap<string, number>;
};

/** The environments and the labels of Langfuse whose moves change the times of versions. */
const LABELS = [...ENVIRONMENTS, LOOK, 'latest'];

/** Opens the log of a prompt. Its import counts as a completed sync, because its file pins what the environments serve. */
export function openLog(service: ServiceModel, promptId: string, importedAt: number): ServiceLog {
  const state = readState(service, promptId);
  const left = new Map(ENVIRONMENTS.map((environment) => [environment, state.places.get(environment) ?? null]));
  const syncs = [{ commit: importedAt, age: 0, left, created: new Set<string>() }];
  return { changes: [], syncs, importedAt, state };
}

function readState(service: ServiceModel, promptId: string): ServiceState {
  const fields = service.fields(promptId);
  const places = [
    ...LABELS.map((name) => [name, service.active(promptId, name)?.id ?? null] as const),
    ...(fields === null ? [] : FIELDS.map((field) => [field, fields[field]] as const)),
  ];
  return { places: new Map(places), times: service.readTimes(promptId) };
}

/** Logs what has changed since the last time. Must be called before and after each action of somebody, and after runs. */
export function logChanges(world: World, promptId: string, by: ServiceChange['by']): void {
  const log = world.logs.get(promptId)!;
  const { places, times } = log.state;
  log.state = readState(world.service, promptId);
  const moves = [...log.state.places].flatMap(([place, to]) => {
    const from = places.get(place) ?? null;
    return from === to ? [] : [[place, { from, to }] as const];
  });
  const touched = [...log.state.times].filter(([id, time]) => times.get(id) !== time).map(([id]) => id);
  if (moves.length + touched.length === 0) return;
  const commit = head(world.history).index;
  log.changes.push({ by, commit, moves: new Map(moves), touched: new Set(touched) });
}

/** Logs a run without troubles after which the service matched the file in the given places. */
export function logCompletedSync(
  { logs, history }: World,
  { plan }: PromptOutcome,
  covered: readonly Place[],
  created: readonly string[],
): void {
  const { changes, syncs, state } = logs.get(plan.file.id)!;
  const left = new Map(covered.map((place) => [place, state.places.get(place) ?? null]));
  syncs.push({ commit: head(history).index, age: changes.length, left, created: new Set(created) });
}

/** Returns the last change that moved a place. */
export function findLastMove({ changes }: ServiceLog, place: Place): ServiceChange | undefined {
  return changes.findLast(({ moves }) => moves.has(place));
}
