import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PromptPlan } from '../../src/domain/plan.ts';
import type { LedgerVersion } from '../../src/ledger/version-record.ts';
import type { FormerPinsByEnvironment } from '../../src/domain/history.ts';
import { entry, file, makePlan, observation, observed, rules, version } from './support.ts';
import { runs } from '../support/seed.ts';

const NUMBERS = [1, 2, 3, 4] as const;
/** A version that is pinned in the last commit alone. */
const FRESH = 5;
type Pins = { readonly staging: number; readonly production: number };
type Environment = keyof Pins;

/** One step of a story. A sync follows each commit, and it may be interrupted. */
type Event = 'sync' | { readonly commit: Pins | 'of something else'; readonly cutShort: boolean };

const LEDGER = [...NUMBERS, FRESH].map((number) => entry(number, `Text ${number}`));
const VERSIONS = new Map<number, LedgerVersion>(
  [...NUMBERS, FRESH].map((number) => [number, version(number, `Text ${number}`, { ledger: LEDGER })]),
);

type World = {
  /** Newest first. */
  readonly commits: { readonly id: string; readonly pins: Pins | null }[];
  readonly serves: Record<Environment, number>;
  /** All versions that each environment has ever served. */
  readonly served: Record<Environment, Set<number>>;
};

function startWorld(pins: Pins): World {
  const served: World['served'] = {
    staging: new Set<number>([pins.staging]),
    production: new Set<number>([pins.production]),
  };
  return { commits: [{ id: 'c0', pins }], serves: { ...pins }, served };
}

function pinsOf({ commits }: World): Pins {
  return commits.find(({ pins }) => pins !== null)!.pins!;
}

/** Returns the earlier pins of the file, as git shows them. */
function formerPins(commits: World['commits']): FormerPinsByEnvironment {
  const touched = commits.flatMap(({ id, pins }) => (pins === null ? [] : [{ id, pins }]));
  const of = (environment: Environment) =>
    touched.map(({ id, pins }, age) => {
      return {
        commit: id,
        age,
        pin: { kind: 'number', number: pins[environment] },
        content: null,
        isFixed: true,
      } as const;
    });
  return new Map([
    ['staging', of('staging')],
    ['production', of('production')],
  ]);
}

function planOf(world: World): PromptPlan {
  const { commits, serves } = world;
  const wanted = file({ pins: pinsOf(world) });
  const active = {
    staging: VERSIONS.get(serves.staging)!,
    production: VERSIONS.get(serves.production)!,
    promptsync: VERSIONS.get(FRESH)!,
  };
  const given = rules({
    environmentOrder: ['staging', 'production'],
    promotionSources: new Map([['production', 'staging']]),
    formerPins: new Map([['p1', formerPins(commits)]]),
    firstAges: new Map([['p1', commits.filter((commit) => commit.pins !== null).length - 1]]),
  });
  return makePlan([wanted], observation(observed({ active })), given).prompts[0]!;
}

/** Applies the first `most` activations of a plan. */
function apply(world: World, { status, changes }: PromptPlan, most: number): void {
  if (status !== 'pending') return;
  for (const environment of changes
    .flatMap((one) => (one.kind === 'set-active' ? [one.environment] : []))
    .slice(0, most)) {
    if (environment !== 'staging' && environment !== 'production') continue;
    const number = pinsOf(world)[environment];
    world.serves[environment] = number;
    world.served[environment].add(number);
  }
}

function runEvent(world: World, event: Event): void {
  if (event === 'sync') return apply(world, planOf(world), 2);
  const { commit, cutShort } = event;
  world.commits.unshift({ id: `c${world.commits.length}`, pins: typeof commit === 'object' ? commit : null });
  apply(world, planOf(world), cutShort ? 1 : 2);
}

const number = fc.constantFrom(...NUMBERS);
const pins = fc.record({ staging: number, production: number });
const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ commit: pins, cutShort: fc.boolean() }) },
  fc.record({ commit: fc.constant('of something else' as const), cutShort: fc.boolean() }),
  fc.constant('sync'),
);

/** Whether production was pinned to the version before its current pin. */
function wasPinnedBefore({ commits }: World, wanted: number): boolean {
  const states = commits.flatMap((commit) => (commit.pins === null ? [] : [commit.pins.production]));
  const changed = states.findIndex((one) => one !== wanted);
  return changed !== -1 && states.slice(changed).includes(wanted);
}

const isRefused = (world: World): boolean => planOf(world).status === 'blocked';

describe('the promotion guard in random histories', () => {
  test('In random histories, production serves only versions that staging served before or that production was pinned to before', () => {
    fc.assert(
      fc.property(pins, fc.array(event, { maxLength: 12 }), (first, events) => {
        const world = startWorld(first);
        for (const one of events) {
          const allowed = new Set([...world.served.staging, ...world.served.production]);
          // After a refused commit, later commits leave the pins alone, because git counts refused pins as applied.
          const commit = 'of something else' as const;
          runEvent(world, one !== 'sync' && isRefused(world) ? { ...one, commit } : one);
          const { production } = world.serves;
          expect(allowed.has(production) || wasPinnedBefore(world, production)).toBe(true);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('The next sync completes a promotion that was interrupted after staging changed', () => {
    fc.assert(
      fc.property(pins, fc.array(event, { maxLength: 12 }), (first, events) => {
        const world = startWorld(first);
        for (const one of events) {
          runEvent(world, one);
          if (isRefused(world)) return;
        }
        const last = { staging: FRESH, production: world.serves.staging };
        world.commits.unshift({ id: 'last', pins: last });
        apply(world, planOf(world), 1);
        runEvent(world, 'sync');
        expect(world.serves).toEqual(last);
      }),
      { numRuns: runs(500) },
    );
  });
});
