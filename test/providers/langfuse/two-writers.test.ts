import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { formatOutcome } from '../../applying/support.ts';
import { startLangfuse, type LangfuseDouble } from '../../doubles/langfuse-server.ts';
import { file } from '../../planning/support.ts';
import { sync } from './support.ts';

const LABEL = 'staging';
const NTH = ['first', 'second', 'third'] as const;

/** Starts a Langfuse with version 1 "One." and version 2 "Two.". Version 2 has the label of staging. */
async function start(pause: (write: number) => unknown, ambiguousLabel: 'oldest' | 'newest' = 'oldest') {
  const served = new Set<unknown>();
  let writes = 0;
  const langfuse: LangfuseDouble = await startLangfuse({
    ambiguousLabel,
    pause: async () => {
      served.add(serves());
      await pause((writes += 1));
    },
  });
  const { store } = langfuse;
  const serves = () => store.serves('p1', LABEL)?.text;
  store.addVersion('p1', { text: 'One.' });
  store.addVersion('p1', { text: 'Two.', labels: [LABEL] });
  return { langfuse, store, serves, served, countWrites: () => writes };
}

const files = (text: string) => [file({ text, pins: { [LABEL]: 'latest' } })];

/** Syncs a text as a clone of its own. Expects that every version exists that the sync reports as created. */
async function syncText(langfuse: LangfuseDouble, text: string, more: Parameters<typeof sync>[2] = {}) {
  const [outcome] = (await sync(langfuse, files(text), more)).outcomes;
  const made = outcome!.changes.flatMap((one) =>
    one.status === 'made' && 'version' in one ? [one.version?.number] : [],
  );
  const numbers = langfuse.store.versions('p1').map(({ version }) => version);
  expect(numbers).toEqual(expect.arrayContaining([1, 2, ...made]));
  return formatOutcome(outcome!);
}

const SUCCESS = /^(?:applied|unchanged):/;
const REVIEWED = ['One.', 'Two.', 'Three.', 'Four.'];

/** Delays one write between its read and its write until the next write is done or a run has ended. */
function holdUp(held: number) {
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const pause = (write: number) => (write === held ? promise : write > held && void setImmediate().then(goOn));
  return { pause, goOn };
}

describe.each(NTH)('two concurrent syncs with a delayed %s write', (nth) => {
  test.each([
    ['Three.', 'Four.'],
    ['Three.', 'One.'],
    ['One.', 'Three.'],
    ['Three.', 'Three.'],
  ])('After concurrent syncs of "%s" and "%s", another sync activates the second text', async (first, second) => {
    const held = holdUp(1 + NTH.indexOf(nth));
    const { langfuse, store, serves, served } = await start(held.pause);
    await Promise.all([first, second].map((text) => syncText(langfuse, text).finally(held.goOn)));
    // The pipeline of the newest commit runs last.
    expect(await syncText(langfuse, second)).toMatch(SUCCESS);
    expect(serves()).toBe(second);
    expect(REVIEWED).toEqual(expect.arrayContaining([...served]));
    if (nth === 'first') expect(store.overlaps()).toBeGreaterThan(0);
  });
});

test.each([
  ['before', 'Three.', 2],
  ['before', 'Three.', 1],
  ['before', 'One.', 2],
  ['after', 'Three.', 2],
  ['after', 'Three.', 1],
  ['after', 'One.', 2],
])(
  'If somebody moves the label just %s the write of a sync of "%s" to version %i, a second sync restores the text',
  async (...row) => {
    const [when, text, moved] = row;
    const others: Promise<unknown>[] = [];
    const { langfuse, store, serves, served } = await start(async (write) => {
      // The second write belongs to somebody else. It starts after the sync has read for its own write.
      if (write === 1) others.push(store.patchLabels('p1', moved, [LABEL]));
      if (write === 1 && when === 'before') await others[0];
      if (write === 2 && when === 'after') await setImmediate();
    });
    await syncText(langfuse, text);
    await Promise.all(others);
    expect(await syncText(langfuse, text)).toMatch(SUCCESS);
    expect(serves()).toBe(text);
    expect(REVIEWED).toEqual(expect.arrayContaining([...served]));
    expect(store.overlaps()).toBe(1);
  },
);

describe('somebody else creates a version at the same time', () => {
  /** Somebody else creates a text during each of the first `races` writes. */
  async function startRaces(races: number, makeText = (write: number) => `Other ${write}.`) {
    // The request has read the newest number, and the database refuses to use the next number twice.
    const started = await start((write) => write <= races && started.store.addVersion('p1', { text: makeText(write) }));
    return started;
  }

  test('sync uses the version if somebody else creates the same text at the same time', async () => {
    const { langfuse, store, serves } = await startRaces(1, () => 'Three.');
    expect(await syncText(langfuse, 'Three.')).toMatch(SUCCESS);
    expect([store.versions('p1').length, serves()]).toEqual([3, 'Three.']);
  });

  test('sync creates its version even after losing the race for the next version five times', async () => {
    const { langfuse, store } = await startRaces(5);
    expect(await syncText(langfuse, 'Three.')).toMatch(SUCCESS);
    expect(store.serves('p1', LABEL)).toMatchObject({ version: 8, text: 'Three.' });
  });

  test('sync fails after six attempts if it loses the race for the next version every time', async () => {
    const { langfuse, countWrites } = await startRaces(Infinity);
    let pauses = 0;
    const outcome = await syncText(langfuse, 'Three.', { onPause: () => void (pauses += 1) });
    expect(outcome).toBe('failed: not_made not_made langfuse/concurrent-version');
    expect([countWrites(), pauses]).toEqual([6, 5]);
  });

  test('sync blocks the prompt if it loses the race for the next version and its new plan differs from the expected plan', async () => {
    const { langfuse, serves, countWrites } = await startRaces(1, () => 'Three.');
    const { plan } = await sync((await start(setImmediate)).langfuse, files('Three.'));
    const outcome = await syncText(langfuse, 'Three.', { guards: { expectedPlan: plan.digest } });
    expect(outcome).toMatch(/^blocked: .*guard\/stale-plan$/);
    expect([countWrites(), serves()]).toEqual([1, 'Two.']);
  });
});

// No response shows that another version has the label, too.
test.each<[order: 'oldest' | 'newest', text: string, after: readonly string[]]>([
  ['oldest', 'Two.', ['Two.']],
  ['newest', 'One.', ['One.']],
  ['oldest', 'One.', ['One.', 'Two.']],
  ['newest', 'Two.', ['One.', 'Two.']],
  ['oldest', 'Three.', ['Three.']],
  ['newest', 'Three.', ['Three.']],
])('If Langfuse returns the %s of two versions with a label, a sync of "%s" leaves the label on %j', async (...row) => {
  const [order, text, after] = row;
  const { langfuse, store } = await start(setImmediate, order);
  store.addLabel('p1', 1, LABEL);
  expect(await syncText(langfuse, text)).toMatch(SUCCESS);
  const labeled = store.versions('p1').filter(({ labels }) => labels.includes(LABEL));
  expect(labeled.map(({ prompt }) => prompt)).toEqual(after);
});
