import fc from 'fast-check';
import { few } from './arbitrary-edits.ts';
import { outsideCommands } from './arbitrary-outside.ts';
import type { Moment, Trouble } from './commands.ts';

const moments: fc.Arbitrary<Moment> = fc.oneof(
  fc.record({ from: fc.constant('start' as const), calls: fc.oneof(fc.nat({ max: 4 }), fc.nat({ max: 20 })) }),
  fc.record({ from: fc.constant('applying' as const), calls: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 15 })) }),
  fc.record({ from: fc.constant('create' as const), calls: fc.nat({ max: 8 }) }),
);
const when = fc.constantFrom('before' as const, 'after' as const, 'late' as const);
const delay = fc.nat({ max: 12 });

const troubles: fc.Arbitrary<Trouble> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      trouble: fc.constant('fault' as const),
      call: fc.constantFrom('create' as const, 'create' as const, 'set' as const, 'read' as const, 'update' as const),
      nth: fc.oneof(fc.constant(0), fc.nat({ max: 12 })),
      when,
      effect: fc.constantFrom('not-sent' as const, 'rejected' as const, 'unknown' as const),
      lasting: fc.boolean(),
      delay,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      trouble: fc.constant('ignored' as const),
      call: fc.constantFrom('set' as const, 'update' as const),
      nth: few,
    }),
  },
  { weight: 3, arbitrary: fc.record({ trouble: fc.constant('killed' as const), at: moments, when, delay }) },
  { weight: 1, arbitrary: fc.record({ trouble: fc.constant('stopped' as const), at: moments }) },
  {
    weight: 3,
    arbitrary: fc.record({ trouble: fc.constant('disturbed' as const), at: moments, by: outsideCommands }),
  },
);

const lost: fc.Arbitrary<Trouble> = fc.record({
  trouble: fc.constant('fault' as const),
  call: fc.constant('create' as const),
  nth: fc.constant(0),
  when,
  effect: fc.constant('unknown' as const),
  lasting: fc.constant(false),
  delay,
});

/** One or two of any kind, a lost create with another writer behind it, or somebody who writes again and again. */
export const someTroubles: fc.Arbitrary<readonly Trouble[]> = fc.oneof(
  { weight: 5, arbitrary: fc.array(troubles, { minLength: 1, maxLength: 2 }) },
  { weight: 1, arbitrary: fc.tuple(lost, disturbed('create', 3)) },
  { weight: 1, arbitrary: fc.tuple(disturbed('applying', 0), disturbed('applying', 6)) },
);

function disturbed(from: Moment['from'], most: number): fc.Arbitrary<Trouble> {
  const at = fc.record({ from: fc.constant(from), calls: fc.nat({ max: most }) });
  return fc.record({ trouble: fc.constant('disturbed' as const), at, by: outsideCommands });
}
