import fc from 'fast-check';
import { ENVIRONMENTS, PROMPTS, type Edit, type PinIdea } from './commands.ts';

/** Null every third time. */
export function orNull<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: 2, arbitrary }, { weight: 1, arbitrary: fc.constant(null) });
}

export const few = fc.nat({ max: 3 });
export const many = fc.nat({ max: 40 });
export const prompt = fc.nat({ max: PROMPTS.length - 1 });
export const environment = fc.constantFrom(...ENVIRONMENTS);

/** Few texts that come back again and again, and enough others for ledgers to run full. */
export const texts = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('A', 'A ', 'B', 'C', 'D\nin two lines') },
  { weight: 1, arbitrary: fc.nat({ max: 60 }).map((number) => `Text ${number}`) },
);
export const metadatas = fc.constantFrom({}, { model: 'x' }, { model: 'y', more: [1, null] });

/** `v1` is there from the start; the others may never be. */
export const tags = fc.constantFrom('v1', 'v1', 'v1', 'v2', 'v2', 'v3');

const pinIdeas: fc.Arbitrary<PinIdea> = fc.oneof(
  { weight: 24, arbitrary: fc.constant({ pin: 'latest' as const }) },
  { weight: 8, arbitrary: fc.record({ pin: fc.constantFrom('number' as const, 'id' as const), nth: many }) },
  { weight: 8, arbitrary: fc.record({ pin: fc.constant('git' as const), tag: tags }) },
  { weight: 1, arbitrary: fc.record({ pin: fc.constant('number-of-nothing' as const), beyond: few }) },
  { weight: 1, arbitrary: fc.record({ pin: fc.constant('id-of-another' as const), nth: many }) },
);

const edits: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ edit: fc.constant('text' as const), text: texts }) },
  {
    weight: 2,
    arbitrary: fc.record({ edit: fc.constant('metadata' as const), metadata: orNull(metadatas) }),
  },
  { weight: 1, arbitrary: fc.record({ edit: fc.constant('name' as const), name: fc.constantFrom('First', 'New') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      edit: fc.constant('description' as const),
      description: fc.constantFrom(null, '', 'About it.'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ edit: fc.constant('pin' as const), environment, idea: orNull(pinIdeas) }) },
  { weight: 2, arbitrary: fc.record({ edit: fc.constant('only-pin' as const), environment, idea: pinIdeas }) },
  { weight: 1, arbitrary: fc.constant({ edit: 'move' as const }) },
  { weight: 1, arbitrary: fc.constant({ edit: 'remove' as const }) },
);
export const someEdits = fc.array(edits, { minLength: 1, maxLength: 3 });
