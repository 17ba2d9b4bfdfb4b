import { expect, test } from 'vitest';
import { checkSequence, renderBroken, seedOf } from './check-sequence.ts';
import { SEED } from '../support/seed.ts';
import type { Command, Setup, SyncWith } from './commands.ts';
import { play } from './perform.ts';
import type { Statistics } from './situations.ts';

/** `npm run model` plays many more. */
const SEQUENCES = 30;
const COMMANDS = 100;
const PROVIDERS = ['integration', 'langfuse'] as const;

test.each(PROVIDERS)('Whatever is edited, cut short and done by others: no law is broken (%s)', async (provider) => {
  const statistics: Statistics = new Map();
  for (let number = 0; number < SEQUENCES; number += 1) {
    const broken = await checkSequence(provider, seedOf(SEED, number), COMMANDS, statistics);
    if (broken !== null) expect.fail(renderBroken(broken, COMMANDS));
  }
  expect(statistics.get('commands')).toBeGreaterThan(SEQUENCES);
  expect(statistics.get('versions made by the tool')).toBeGreaterThan(SEQUENCES);
});

const sync = (given: Partial<SyncWith> = {}): Command => ({
  ...{ kind: 'sync', concurrency: 1, only: 3, troubles: [] },
  ...given,
});
const pinned = (environment: string, nth: number): Command => {
  return { kind: 'edit', prompt: 0, edits: [{ edit: 'pin', environment, idea: { pin: 'number', nth } }] };
};
const text = (written: string): Command => ({ kind: 'edit', prompt: 0, edits: [{ edit: 'text', text: written }] });
const at = { from: 'applying', calls: 4 } as const;
const prompt = 0;
const theirs = { kind: 'their-version', prompt, text: 'Theirs', metadata: {}, goesTo: null } as const;

/** What random sequences have found, by the law or the trap that each is about. */
const FOUND: Readonly<Record<string, readonly Command[]>> = {
  'drift where the base pins a number that nothing else has to know': [
    ...[text('C'), sync(), pinned('staging', 1), pinned('staging', 2), sync({ base: 1 })],
  ],
  'a version that is made right after one with a config of its own': [
    { kind: 'edit', prompt, edits: [{ edit: 'metadata', metadata: { model: 'x' } }] },
    { kind: 'tag', tag: 'v3', ago: 0 },
    { kind: 'edit', prompt, edits: [{ edit: 'metadata', metadata: null }] },
    { kind: 'edit', prompt, edits: [{ edit: 'only-pin', environment: 'canary', idea: { pin: 'git', tag: 'v3' } }] },
    ...[{ kind: 'their-unlabel', prompt, environment: 'staging' } as const, text('B'), sync()],
  ],
  'a number that is used again right before a label is moved to it': [
    ...[text('C'), sync(), pinned('staging', 1), theirs, text('Theirs')],
    { kind: 'edit', prompt, edits: [{ edit: 'only-pin', environment: 'staging', idea: { pin: 'latest' } }] },
    sync({
      troubles: [
        { trouble: 'disturbed', at, amid: false, by: { kind: 'their-deletion', prompt, nth: 0 } },
        { trouble: 'disturbed', at, amid: false, by: { ...theirs, text: 'Again' } },
      ],
    }),
  ],
  'labels that a create has moved, and an interruption right after it': [
    ...[text('C'), sync({ troubles: [{ trouble: 'stopped', at: { from: 'create', calls: 0 } }] })],
  ],
};

const setup: Setup = {
  ...{ provider: 'langfuse', prompts: 1, environmentOrder: null, latestForbidden: [], service: 'faithful' },
  ...{ adopted: [{ text: 'A', metadata: {} }], draft: 'A' },
};

test.each(Object.entries(FOUND))('No law is broken: %s', async (_, commands) => {
  await expect(play(setup, commands, new Map())).resolves.toBeUndefined();
});
