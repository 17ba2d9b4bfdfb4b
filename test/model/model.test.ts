import { describe, expect, test } from 'vitest';
import { checkSequence, renderBroken, seedOf } from './check-sequence.ts';
import { SEED } from '../support/seed.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Command, Edit, Setup, SyncWith } from './commands.ts';
import { runSequence } from './perform.ts';
import type { Statistics } from './situations.ts';

/** A small number for a fast test. `npm run model` runs many more sequences. */
const SEQUENCES = 30;
const COMMANDS = 100;
const PROVIDERS = ['integration', 'langfuse'] as const;

test.each(PROVIDERS)(
  "Random edits, interruptions, and external changes never violate the model's invariants (%s)",
  async (provider) => {
    const statistics: Statistics = new Map();
    for (let number = 0; number < SEQUENCES; number += 1) {
      const broken = await checkSequence(provider, seedOf(SEED, number), COMMANDS, statistics);
      if (broken !== null) expect.fail(renderBroken(broken, COMMANDS));
    }
    expect(statistics.get('commands')).toBeGreaterThan(SEQUENCES);
    expect(statistics.get('versions made by the tool')).toBeGreaterThan(SEQUENCES);
  },
);

const sync = (given: Partial<SyncWith> = {}): Command => ({
  ...{ kind: 'sync', concurrency: 1, only: 3, troubles: [] },
  ...given,
});
const prompt = 0;
const edit = (...edits: readonly Edit[]): Command => ({ kind: 'edit', prompt, edits });
const pinned = (environment: string, nth: number) => edit({ edit: 'pin', environment, idea: { pin: 'number', nth } });
const text = (written: string) => edit({ edit: 'text', text: written });
const metadata = (written: JsonObject | null) => edit({ edit: 'metadata', metadata: written });
const at = { from: 'applying', calls: 4 } as const;
const theirs = { kind: 'their-version', prompt, text: 'Theirs', metadata: {}, goesTo: null } as const;

/** Sequences that once broke a law, by a title that describes the situation. */
const REGRESSIONS: Readonly<Record<string, readonly Command[]>> = {
  'promptsync finds drift if only the base pins a version number': [
    ...[text('C'), sync(), pinned('staging', 1), pinned('staging', 2), sync({ base: 1 })],
  ],
  'promptsync creates the right version right after one with a different Langfuse config': [
    ...[metadata({ model: 'x' }), { kind: 'tag', tag: 'v3', ago: 0 } as const, metadata(null)],
    edit({ edit: 'only-pin', environment: 'canary', idea: { pin: 'git', tag: 'v3' } }),
    ...[{ kind: 'their-unlabel', prompt, environment: 'staging' } as const, text('B'), sync()],
  ],
  'promptsync notices a version number that Langfuse reuses right before a label moves': [
    ...[text('C'), sync(), pinned('staging', 1), theirs, text('Theirs')],
    edit({ edit: 'only-pin', environment: 'staging', idea: { pin: 'latest' } }),
    sync({
      troubles: [
        { trouble: 'disturbed', at, amid: false, by: { kind: 'their-deletion', prompt, nth: 0 } },
        { trouble: 'disturbed', at, amid: false, by: { ...theirs, text: 'Again' } },
      ],
    }),
  ],
  'promptsync reports moved labels correctly if an interrupt follows the create call': [
    ...[text('C'), sync({ troubles: [{ trouble: 'stopped', at: { from: 'create', calls: 0 } }] })],
  ],
};

const setup: Setup = {
  ...{ provider: 'langfuse', prompts: 1, environmentOrder: null, latestForbidden: [], service: 'faithful' },
  ...{ promotionSources: {} },
  ...{ chatPrompts: [], adopted: [{ text: 'A', metadata: {} }], draft: 'A' },
};

describe.each([
  { type: 'text', chatPrompts: [] },
  { type: 'chat', chatPrompts: ['p1'] },
])('promptsync handles known sequences of changes to a $type prompt', ({ type, chatPrompts }) => {
  test.each(Object.entries(REGRESSIONS))(`%s (${type} prompt)`, async (_, commands) => {
    await expect(runSequence({ ...setup, chatPrompts }, commands, new Map())).resolves.toBeUndefined();
  });
});

test('a reviewed sync may refuse the metadata of a version that an interrupted sync has left behind', async () => {
  const at = { from: 'create', calls: 0 } as const;
  const stopped = sync({ troubles: [{ trouble: 'stopped', at }] });
  const commands = [metadata({ model: 'x' }), stopped, metadata(null), sync({ reviewed: true })];
  const fourCalls: Setup = { ...setup, provider: 'integration', adopted: [] };
  const statistics: Statistics = new Map();
  await runSequence(fourCalls, [...commands, sync({ reviewed: true })], statistics);
  expect(statistics.get('problem: apply/unreviewed-metadata')).toBe(1);
});

test("a sync can create a version with the text of a foreign version if only a rewritten version's ledger lists that foreign version", async () => {
  const foreign = { ...theirs, text: 'B', metadata: { model: 'x' }, goesTo: 'production' } as const;
  const pinForeign = edit(
    { edit: 'text', text: 'B' },
    { edit: 'metadata', metadata: { model: 'x' } },
    { edit: 'only-pin', environment: 'canary', idea: { pin: 'number', nth: 1 } },
  );
  const tidies: Setup = { ...setup, provider: 'integration', service: 'tidies', draft: null };
  const commands = [sync(), foreign, text('A '), sync(), pinForeign, sync()];
  await expect(runSequence(tidies, commands, new Map())).resolves.toBeUndefined();
});
