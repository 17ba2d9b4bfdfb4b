import fc from 'fast-check';
import {
  type Command,
  type Edit,
  ENVIRONMENTS,
  LOOK,
  type Moment,
  type OutsideCommand,
  type PinIdea,
  PROMPTS,
  type Setup,
  type SyncWith,
  type Trouble,
} from './commands.ts';

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
