import fc from 'fast-check';
import { few, prompt, someEdits, tags } from './arbitrary-edits.ts';
import { outsideCommands } from './arbitrary-outside.ts';
import { someTroubles } from './arbitrary-troubles.ts';
import { ENVIRONMENTS, type Command, type Setup, type SyncWith, type Trouble } from './commands.ts';

const concurrency = fc.constantFrom(1, 3);
const only = fc.constantFrom(3, 3, 3, 1, 2);
const base = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: fc.nat({ max: 12 }) });
const onDrift = fc.constantFrom('overwrite' as const, 'fail' as const);
const reviewed = fc.constantFrom(false, false, false, true);
const kindSync = fc.constant('sync' as const);

function syncs(given: fc.Arbitrary<readonly Trouble[]>): fc.Arbitrary<{ readonly kind: 'sync' } & SyncWith> {
  return fc.record({ kind: kindSync, concurrency, only, troubles: given, base, onDrift, reviewed });
}

const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 16, arbitrary: fc.record({ kind: fc.constant('edit' as const), prompt, edits: someEdits }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('merge' as const), prompt, ago: few, edits: someEdits }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('revert' as const), prompt, ago: fc.nat({ max: 60 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('tag' as const), tag: tags, ago: few }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'dry-run' as const }) },
  { weight: 9, arbitrary: syncs(fc.constant([])) },
  { weight: 9, arbitrary: syncs(someTroubles) },
  { weight: 8, arbitrary: outsideCommands },
);

const setups: fc.Arbitrary<Setup> = fc.noBias(
  fc.record({
    prompts: fc.constantFrom(1, 2, 3),
    environmentOrder: fc.constantFrom(null, [...ENVIRONMENTS]),
    latestForbidden: fc.constantFrom([], [], [], [], [], [], ['canary']),
    service: fc.oneof(
      { weight: 8, arbitrary: fc.constant('faithful' as const) },
      { weight: 1, arbitrary: fc.constantFrom('tidies' as const, 'drops' as const) },
    ),
  }),
);

/** Sequences of so many commands on average, evenly between none and twice as many. */
export function sequences(average: number): fc.Arbitrary<readonly [Setup, readonly Command[]]> {
  return fc.tuple(setups, fc.noBias(fc.array(commands, { maxLength: 2 * average, size: 'max' })));
}
