import fc from 'fast-check';
import { environment, few, many, metadatas, orNull, prompt, texts } from './arbitrary-edits.ts';
import { ENVIRONMENTS, LOOK, type OutsideCommand } from './commands.ts';

const goesTo = orNull(environment);
const theirTexts = fc.oneof(
  { weight: 2, arbitrary: texts },
  { weight: 2, arbitrary: fc.record({ ofCommitsAgo: few }) },
  { weight: 2, arbitrary: fc.constantFrom('Theirs 1', 'Theirs 2', 'D\r\nin two lines') },
);
const theirMetadata = fc.oneof(metadatas, fc.constant({ by: 'hand' }));

/** What others do in the service. */
export const outsideCommands: fc.Arbitrary<OutsideCommand> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('their-version' as const),
      prompt,
      text: theirTexts,
      metadata: theirMetadata,
      goesTo,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('their-copy' as const),
      prompt,
      nth: few,
      text: orNull(fc.oneof(texts, fc.constant('Copied and edited'))),
      metadata: orNull(theirMetadata),
      goesTo,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('their-move' as const),
      prompt,
      environment: fc.constantFrom(...ENVIRONMENTS, LOOK),
      nth: many,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('their-fields' as const),
      prompt,
      fields: fc.constantFrom({ name: 'Theirs' }, { description: 'Theirs.' }, { name: 'New', description: '' }),
    }),
  },
);
