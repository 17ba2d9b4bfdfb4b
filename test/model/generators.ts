import fc from 'fast-check';
import type { ProviderName } from '../../src/providers/provider-list.ts';
import {
  ENVIRONMENTS,
  LOOK,
  MOVING_REF,
  PROMPTS,
  type Command,
  type Edit,
  type Moment,
  type OutsideCommand,
  type PinIdea,
  type Setup,
  type SyncWith,
  type TheirText,
  type Trouble,
} from './commands.ts';

const is = <const Value>(value: Value): fc.Arbitrary<Value> => fc.constant(value);
const { constantFrom: among, nat, record } = fc;

/** Returns one of several arbitraries, chosen by weight. */
function often<Value>(...choices: readonly (readonly [weight: number, one: fc.Arbitrary<Value>])[]) {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** Returns `null` in one of three cases. */
function orNull<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return often<Value | null>([2, arbitrary], [1, is(null)]);
}

const few = nat({ max: 3 });
const many = nat({ max: 40 });
const prompt = nat({ max: PROMPTS.length - 1 });
const environment = among(...ENVIRONMENTS);

/** A few texts that repeat often, and enough other texts to fill a ledger. */
const texts = often<string>(
  [3, among('A', 'A ', 'B', 'C', 'D\nin two lines', 'E')],
  [1, nat({ max: 60 }).map((number) => `Text ${number}`)],
);
const metadatas = among({}, { model: 'x' }, { model: 'y', more: [1, null] });

/** `v1` exists from the start. The other refs may never exist. */
const tags = among('v1', 'v1', 'v1', 'v2', 'v2', 'v3', MOVING_REF);

const pinIdeas = often<PinIdea>(
  [24, is({ pin: 'latest' })],
  [8, record({ pin: among('number', 'id'), nth: many })],
  [8, record({ pin: is('git'), tag: tags })],
  [1, record({ pin: is('number-of-nothing'), beyond: few })],
  [1, record({ pin: is('id-of-another'), nth: many })],
);

const edits = often<Edit>(
  [12, record({ edit: is('text'), text: texts })],
  [2, record({ edit: is('metadata'), metadata: orNull(metadatas) })],
  [1, record({ edit: is('name'), name: among('First', 'New') })],
  [1, record({ edit: is('description'), description: among(null, '', 'About it.') })],
  [1, record({ edit: is('type'), isRight: often([7, is(true)], [1, is(false)]) })],
  [4, record({ edit: is('pin'), environment, idea: orNull(pinIdeas) })],
  [2, record({ edit: is('only-pin'), environment, idea: pinIdeas })],
  [1, is({ edit: 'move' })],
  [1, is({ edit: 'remove' })],
);
const someEdits = fc.array(edits, { minLength: 1, maxLength: 3 });

const goesTo = orNull(environment);
const theirTexts = often<TheirText>(
  [2, texts],
  [2, record({ ofCommitsAgo: few })],
  [2, among('Theirs 1', 'Theirs 2', 'D\r\nin two lines', 'A\n\n')],
);
const theirMetadata = fc.oneof(metadatas, is({ by: 'hand' }));
const theirFields = among({ name: 'Theirs' }, { description: 'Theirs.' }, { name: 'New', description: '' });
const copiedTexts = orNull(fc.oneof(texts, is('Copied and edited')));

/** Changes that somebody makes in the service outside of git. */
const outsideCommands = often<OutsideCommand>(
  [3, record({ kind: is('their-version'), prompt, text: theirTexts, metadata: theirMetadata, goesTo })],
  [2, record({ kind: is('their-copy'), prompt, nth: few, text: copiedTexts, metadata: orNull(theirMetadata), goesTo })],
  [2, record({ kind: is('their-move'), prompt, environment: among(...ENVIRONMENTS, LOOK), nth: many })],
  [1, record({ kind: is('their-fields'), prompt, fields: theirFields })],
  [1, record({ kind: is('their-label'), prompt, environment, nth: few })],
  [1, record({ kind: is('their-unlabel'), prompt, environment })],
  [1, record({ kind: is('their-deletion'), prompt, nth: among(0, 0, 0, 1, 5) })],
);

const moments: fc.Arbitrary<Moment> = fc.oneof(
  record({ from: is('start'), calls: fc.oneof(nat({ max: 4 }), nat({ max: 20 })) }),
  record({ from: is('applying'), calls: fc.oneof(nat({ max: 3 }), nat({ max: 15 })) }),
  record({ from: is('create'), calls: nat({ max: 8 }) }),
);
const when = among('before', 'after', 'late');
const delay = nat({ max: 12 });

const faults: fc.Arbitrary<Trouble> = record({
  trouble: is('fault'),
  call: among('create', 'create', 'set', 'read', 'update'),
  nth: fc.oneof(is(0), nat({ max: 12 })),
  when,
  effect: among('not-sent', 'rejected', 'unknown'),
  lasting: fc.boolean(),
  delay,
});
const troubles = often<Trouble>(
  [6, faults],
  [1, record({ trouble: is('ignored'), call: among('set', 'update'), nth: few })],
  [3, record({ trouble: is('killed'), at: moments, when, delay })],
  [1, record({ trouble: is('stopped'), at: moments })],
  [3, record({ trouble: is('disturbed'), at: moments, by: outsideCommands, amid: fc.boolean() })],
);

const first = { trouble: is('fault'), call: is('create'), nth: is(0) };
const lost = record({ ...first, when, effect: is('unknown'), lasting: is(false), delay });

/** Somebody deletes the newest version and creates another one, which gets the same number. */
const numberUsedAgain = record({
  prompt,
  text: theirTexts,
  at: record({ from: is('applying'), calls: nat({ max: 6 }) }),
}).map(({ prompt, text, at }): readonly Trouble[] => [
  { trouble: 'disturbed', at, amid: false, by: { kind: 'their-deletion', prompt, nth: 0 } },
  { trouble: 'disturbed', at, amid: false, by: { kind: 'their-version', prompt, text, metadata: {}, goesTo: null } },
]);

/** One or two troubles of any kind, a lost create followed by another writer, or repeated foreign writes. */
const someTroubles = often<readonly Trouble[]>(
  [5, fc.array(troubles, { minLength: 1, maxLength: 2 })],
  [1, fc.tuple<[Trouble, Trouble]>(lost, disturbed('create', 3))],
  [1, fc.tuple(disturbed('applying', 0), disturbed('applying', 6))],
  [1, numberUsedAgain],
);

function disturbed(from: Moment['from'], most: number): fc.Arbitrary<Trouble> {
  return record({
    trouble: is('disturbed'),
    at: record({ from: is(from), calls: nat({ max: most }) }),
    by: outsideCommands,
    amid: fc.boolean(),
  });
}

const concurrency = among(1, 3);
const only = among(3, 3, 3, 1, 2);
const base = often<number | undefined>([3, is(undefined)], [1, is(0)], [2, nat({ max: 12 })]);
const onDrift = among('overwrite', 'fail');
const reviewed = among(false, false, false, true);
const environments = often<readonly string[] | undefined>(
  [3, is(undefined)],
  [1, fc.subarray([...ENVIRONMENTS], { minLength: 1 })],
);

function syncs(given: fc.Arbitrary<readonly Trouble[]>): fc.Arbitrary<{ readonly kind: 'sync' } & SyncWith> {
  return record({ kind: is('sync'), concurrency, only, troubles: given, base, onDrift, reviewed, environments });
}

const commands = often<Command>(
  [16, record({ kind: is('edit'), prompt, edits: someEdits })],
  [2, record({ kind: is('merge'), prompt, ago: few, edits: someEdits })],
  [4, record({ kind: is('revert'), prompt, ago: nat({ max: 60 }) })],
  [2, record({ kind: is('tag'), tag: tags, ago: few })],
  [2, record({ kind: is('dry-run'), ago: few, base })],
  [2, record({ kind: is('jobs'), concurrency, only, base, onDrift })],
  [9, syncs(is([]))],
  [9, syncs(someTroubles)],
  [8, outsideCommands],
);

const PROMOTED_TWICE = { production: 'staging', canary: 'production' };

const setups: fc.Arbitrary<Omit<Setup, 'provider'>> = fc.noBias(
  record({
    prompts: among(1, 2, 3),
    chatPrompts: fc.subarray([...PROMPTS]),
    environmentOrder: among(null, [...ENVIRONMENTS]),
    latestForbidden: among([], [], [], [], [], [], ['canary']),
    promotionSources: among<Setup['promotionSources'][]>({}, {}, { production: 'staging' }, PROMOTED_TWICE),
    service: often<Setup['service']>([8, is('faithful')], [1, among('tidies', 'drops')]),
    adopted: often<Setup['adopted']>(
      [1, is([])],
      [1, fc.array(record({ text: texts, metadata: metadatas }), { minLength: 1, maxLength: 3 })],
    ),
    draft: orNull(texts),
  }),
);

/** Returns sequences whose lengths are evenly distributed from 0 to twice the average. */
export function sequences(average: number, provider: ProviderName): fc.Arbitrary<readonly [Setup, readonly Command[]]> {
  const limits = provider === 'langfuse' ? { service: 'faithful' as const } : { chatPrompts: [] };
  return fc.tuple(
    setups.map((setup) => ({ provider, ...setup, ...limits })),
    fc.noBias(fc.array(commands, { maxLength: 2 * average, size: 'max' })),
  );
}
