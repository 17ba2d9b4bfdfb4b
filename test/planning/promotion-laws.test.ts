import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PromptPlan } from '../../src/domain/plan.ts';
import { entry, file, line, makePlan, observation, observed, rules, version } from './support.ts';
import { runs } from '../support/seed.ts';

const NUMBERS = [1, 2, 3, 4, 5] as const;
const ENVIRONMENTS = ['staging', 'production'] as const;
type Environment = (typeof ENVIRONMENTS)[number];
type Pins = Readonly<Record<Environment, number>>;

/** A commit that changes pins, a move in the service without promptsync, or a sync of one environment or of both. */
type Event =
  | { readonly kind: 'commit'; readonly pins: Partial<Pins> }
  | { readonly kind: 'move'; readonly environment: Environment; readonly number: number }
  | { readonly kind: 'sync'; readonly environments: readonly Environment[] };

const LEDGER = NUMBERS.map((number) => entry(number, `Text ${number}`));
const makeVersion = (number: number) => version(number, `Text ${number}`, { ledger: LEDGER });

type World = {
  /** Newest first. */
  readonly commits: Pins[];
  readonly serves: Record<Environment, number>;
};

function planOf({ commits, serves }: World, selected: readonly Environment[]): PromptPlan {
  const active = { staging: makeVersion(serves.staging), production: makeVersion(serves.production) };
  const given = rules({
    environmentOrder: [...ENVIRONMENTS],
    environmentSelection: { selected: [...selected], known: [...ENVIRONMENTS] },
    promotionSources: new Map([['production', 'staging']]),
    history: { line: line(commits.map((pins) => ({ pins }))) },
  });
  return makePlan([file({ pins: commits[0]! })], observation(observed({ active })), given).prompts[0]!;
}

/** Runs an event. Returns true if a guard refused a sync. */
function runEvent(world: World, event: Event): boolean {
  if (event.kind === 'commit') world.commits.unshift({ ...world.commits[0]!, ...event.pins });
  if (event.kind === 'move') world.serves[event.environment] = event.number;
  if (event.kind !== 'sync') return false;
  const { status } = planOf(world, event.environments);
  if (status === 'pending') for (const name of event.environments) world.serves[name] = world.commits[0]![name];
  return status === 'blocked';
}

const commit = (pins: Partial<Pins>): Event => ({ kind: 'commit', pins });
const sync = (...environments: readonly Environment[]): Event => ({ kind: 'sync', environments });

const number = fc.constantFrom(...NUMBERS);
const environment = fc.constantFrom(...ENVIRONMENTS);
const pins = fc.record({ staging: number, production: number });
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('commit'),
      pins: fc.record({ staging: number, production: number }, { requiredKeys: [] }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move'), environment, number }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('sync'),
      environments: fc.constantFrom([...ENVIRONMENTS], ['staging'], ['production']),
    }),
  },
);
const histories = fc.record({ first: pins, events: fc.array(event, { maxLength: 12 }) });

/** Runs a random history. Both environments serve the first pins, as after an import. */
function runHistory({ first, events }: { readonly first: Pins; readonly events: readonly Event[] }): World {
  const world: World = { commits: [first], serves: { ...first } };
  for (const one of events) runEvent(world, one);
  return world;
}

describe('promotion order in random histories', () => {
  test('A sync activates a version in production only if staging serves it, it is a rollback, or it was pinned earlier or from the start', () => {
    fc.assert(
      fc.property(histories, ({ first, events }) => {
        const world: World = { commits: [first], serves: { ...first } };
        for (const one of events) {
          const before = { ...world.serves };
          runEvent(world, one);
          const { production } = world.serves;
          if (one.kind !== 'sync' || production === before.production) continue;
          const wantedBefore = world.commits.slice(1).flatMap((committed) => Object.values(committed));
          const isAdopted = world.commits.every((committed) => committed.production === production);
          const isOlder = production < before.production;
          expect(production === before.staging || isOlder || wantedBefore.includes(production) || isAdopted).toBe(true);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('A sync never refuses to promote the version that staging serves to production', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const world = runHistory(history);
        runEvent(world, commit({ production: world.serves.staging }));
        expect(runEvent(world, sync('production'))).toBe(false);
      }),
      { numRuns: runs(500) },
    );
  });

  test('After a promotion in two commits, one sync restores staging and production, whatever versions somebody moved them to', () => {
    fc.assert(
      fc.property(histories, number, pins, (history, promoted, moved) => {
        const world = runHistory(history);
        const other = promoted === 1 ? 2 : 1;
        runEvent(world, commit({ staging: promoted, production: other }));
        runEvent(world, commit({ production: promoted }));
        for (const name of ENVIRONMENTS) runEvent(world, { kind: 'move', environment: name, number: moved[name] });
        expect(runEvent(world, sync(...ENVIRONMENTS))).toBe(false);
        expect(world.serves).toEqual({ staging: promoted, production: promoted });
      }),
      { numRuns: runs(500) },
    );
  });

  test('A sync never refuses to return production to a version that an earlier commit pinned there', () => {
    fc.assert(
      fc.property(histories, fc.nat(), number, (history, age, between) => {
        const world = runHistory(history);
        const { production } = world.commits[age % world.commits.length]!;
        fc.pre(production !== between);
        runEvent(world, commit({ production: between }));
        runEvent(world, commit({ production }));
        expect(runEvent(world, sync('production'))).toBe(false);
      }),
      { numRuns: runs(500) },
    );
  });

  test('The sync of an unchanged import is never refused, whatever versions somebody moved the environments to', () => {
    fc.assert(
      fc.property(pins, pins, (first, moved) => {
        const world: World = { commits: [first], serves: { ...moved } };
        expect(runEvent(world, sync(...ENVIRONMENTS))).toBe(false);
        expect(world.serves).toEqual(first);
      }),
      { numRuns: runs(500) },
    );
  });
});
