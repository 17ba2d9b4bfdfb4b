import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startLangfuse, type LangfuseDouble } from '../../doubles/langfuse-server.ts';
import type { LangfuseStoreOptions } from '../../doubles/langfuse-store.ts';
import { commitAll, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../../support/prompts.ts';
import { runJson, type Reported, type RunOptions } from '../../support/run.ts';

const NAME = 'prm_main';
const LABEL = 'staging';

/** Starts a Langfuse with version 1 "One." and version 2 "Two.". Version 2 has the label of staging. */
async function start(
  pause: NonNullable<LangfuseStoreOptions['pause']>,
  ambiguousLabel: NonNullable<LangfuseStoreOptions['ambiguousLabel']> = 'oldest',
) {
  const served = new Set<unknown>();
  const langfuse: LangfuseDouble = await startLangfuse({
    ambiguousLabel,
    pause: async () => {
      look();
      await pause();
    },
  });
  const { store } = langfuse;
  const look = () => void served.add(store.serves(NAME, LABEL)?.text);
  store.addVersion(NAME, { text: 'One.' });
  store.addVersion(NAME, { text: 'Two.', labels: [LABEL] });
  const labelled = () => store.versions(NAME).flatMap(({ prompt, labels }) => (labels.includes(LABEL) ? [prompt] : []));
  return { langfuse, store, labelled, served: () => (look(), [...served]) };
}

/** Makes a clone with one commit of the prompt. Returns the function that runs a command there, by default `sync`. */
function cloneWith({ environment }: LangfuseDouble, parts: PromptParts) {
  const folder = makeFolder();
  initRepository(folder);
  const file = promptText('main', { key: NAME, name: NAME, pins: { [LABEL]: 'latest' }, ...parts });
  writeFiles(folder, { 'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n`, 'prompts/main.md': file });
  commitAll(folder, 'Change the prompt');
  return (options: Pick<RunOptions, 'sleep'> = {}, ...words: readonly string[]): Promise<Reported> =>
    runJson(folder, words.length === 0 ? ['sync', '--yes'] : words, { environment, ...options });
}

/** Expects every version that a run reports as created, and an exit code that matches the statuses. */
function expectTrue({ exitCode, report }: Reported, { store }: LangfuseDouble): void {
  const made = report.prompts.flatMap(({ changes }) =>
    changes.flatMap((one) =>
      one.kind === 'create-version' && one.status === 'made' ? [one.version?.version_number] : [],
    ),
  );
  expect(store.versions(NAME).map(({ version }) => version)).toEqual(expect.arrayContaining([1, 2, ...made]));
  expect([exitCode, report.prompts.map(({ status }) => status)]).toEqual(
    exitCode === 0 ? [0, [expect.stringMatching('applied|unchanged')]] : [4, ['failed']],
  );
}

const edit = { text: 'Three.' };
const revert = { text: 'One.' };

describe.each(['first', 'second', 'third'] as const)('two concurrent syncs with a delayed %s write', (nth) => {
  test.each<readonly [sentence: string, first: PromptParts, second: PromptParts]>([
    [
      'After concurrent syncs of two different edits, another sync activates the text of the newest commit',
      edit,
      { text: 'Four.' },
    ],
    [
      'After concurrent syncs of an edit and a later revert, another sync of the revert restores the older text',
      edit,
      revert,
    ],
    [
      'After concurrent syncs of a revert and a later edit, another sync of the edit activates the edited text',
      revert,
      edit,
    ],
    ['The edit is active after two clones sync the same edit concurrently', edit, edit],
  ])('%s', async (_, ...commits) => {
    const held = holdUp(['first', 'second', 'third'].indexOf(nth));
    const { langfuse, store, served } = await start(held.pause);
    const syncs = commits.map((parts) => cloneWith(langfuse, parts));
    for (const ran of await Promise.all(syncs.map((sync) => sync().finally(held.goOn)))) expectTrue(ran, langfuse);
    // The pipeline of the newest commit runs last.
    expect((await syncs[1]?.())?.exitCode).toBe(0);
    expect(store.serves(NAME, LABEL)?.text).toBe(commits[1].text);
    expect(served()).toEqual(expect.toSatisfy(areReviewed));
    if (nth === 'first') expect(store.overlaps()).toBeGreaterThan(0);
  });
});

function areReviewed(texts: readonly unknown[]): boolean {
  return texts.every((text) => ['One.', 'Two.', 'Three.', 'Four.'].includes(`${text}`));
}

/** Delays one write between its read and its write until the next write is done or a run has ended. */
function holdUp(held: number) {
  let count = 0;
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const pause = async (): Promise<void> => {
    const at = count++;
    if (at === held) return promise;
    if (at > held) void setImmediate().then(goOn);
  };
  return { pause, goOn };
}

describe.each(['before', 'after'] as const)('somebody else moves the label just %s the write of a sync', (when) => {
  test.each<readonly [sentence: string, parts: PromptParts, moved: number]>([
    [
      'If somebody puts the label back on the previous version while an edit is syncing, the edit is active after a second sync',
      edit,
      2,
    ],
    [
      'If somebody moves the label to an older version during the sync of an edit, the edit is active after a second sync',
      edit,
      1,
    ],
    [
      'If somebody puts the label back on the previous version while a revert is syncing, the reverted text is active after a second sync',
      revert,
      2,
    ],
  ])('%s', async (_, parts, moved) => {
    let writes = 0;
    const others: Promise<unknown>[] = [];
    const { langfuse, store, served } = await start(async () => {
      writes += 1;
      // The second write belongs to somebody else. It starts after the sync has read for its own write.
      if (writes === 1) others.push(store.patchLabels(NAME, moved, [LABEL]));
      if (writes === 1 && when === 'before') await others[0];
      if (writes === 2 && when === 'after') await setImmediate();
    });
    const sync = cloneWith(langfuse, parts);
    expectTrue(await sync(), langfuse);
    await Promise.all(others);
    expect((await sync()).exitCode).toBe(0);
    expect(store.serves(NAME, LABEL)?.text).toBe(parts.text);
    expect(served()).toEqual(expect.toSatisfy(areReviewed));
    expect(store.overlaps()).toBe(1);
  });
});

describe('somebody else creates a version at the same time', () => {
  test.each<readonly [sentence: string, text: string, texts: readonly string[]]>([
    [
      'sync uses the version if somebody else creates the same text at the same time',
      'Three.',
      ['One.', 'Two.', 'Three.'],
    ],
    [
      'sync creates the next version if somebody else creates a different text at the same time',
      'Four.',
      ['One.', 'Two.', 'Four.', 'Three.'],
    ],
  ])('%s', async (_, text, texts) => {
    let writes = 0;
    const { langfuse, store } = await start(async () => {
      writes += 1;
      // The request has read the newest number, and the database refuses to use the next number twice.
      if (writes === 1) store.addVersion(NAME, { text });
    });
    const ran = await cloneWith(langfuse, edit)();
    expectTrue(ran, langfuse);
    expect(ran.exitCode).toBe(0);
    expect(store.versions(NAME).map(({ prompt }) => prompt)).toEqual(texts);
    expect(store.serves(NAME, LABEL)?.text).toBe('Three.');
  });

  /** Somebody else creates a different text during each of the first `races` writes. */
  async function startRaces(races: number) {
    let writes = 0;
    const scene = await start(async () => {
      writes += 1;
      if (writes <= races) scene.store.addVersion(NAME, { text: `Other ${writes}.` });
    });
    return { ...scene, countWrites: () => writes };
  }

  test('sync creates its version even after losing the race for the next version five times', async () => {
    const { langfuse, store } = await startRaces(5);
    const ran = await cloneWith(langfuse, edit)();
    expectTrue(ran, langfuse);
    expect([ran.exitCode, store.serves(NAME, LABEL)]).toMatchObject([0, { version: 8, text: 'Three.' }]);
  });

  test('sync fails after six attempts if it loses the race for the next version every time', async () => {
    const { langfuse, countWrites } = await startRaces(Infinity);
    const pauses: number[] = [];
    const sync = cloneWith(langfuse, edit);
    const { exitCode, report } = await sync({ sleep: async (milliseconds) => void pauses.push(milliseconds) });
    expect([exitCode, report.prompts[0]?.problems.map(({ code }) => code)]).toEqual([
      4,
      ['langfuse/concurrent-version'],
    ]);
    expect([countWrites(), pauses.length]).toEqual([6, 5]);
  });

  test('sync blocks the prompt if it loses the race for the next version and its new plan differs from the expected plan', async () => {
    let writes = 0;
    const { langfuse, store } = await start(async () => {
      writes += 1;
      if (writes === 1) store.addVersion(NAME, edit);
    });
    const sync = cloneWith(langfuse, edit);
    const { report: planned } = await sync({}, 'plan');
    const { exitCode, report } = await sync({}, 'sync', '--yes', '--expect-plan', planned.plan_digest ?? '');
    expect([exitCode, report.prompts.map(({ status }) => status)]).toEqual([3, ['blocked']]);
    expect(report.prompts[0]?.problems.map(({ code }) => code)).toEqual(['guard/stale-plan']);
    expect([writes, store.serves(NAME, LABEL)?.text]).toEqual([1, 'Two.']);
  });
});

describe('sync with a label on two versions', () => {
  // No response shows that another version has the label, too.
  type Row = readonly [sentence: string, order: 'oldest' | 'newest', text: string, after: readonly string[]];
  test.each<Row>([
    [
      'If two versions have the same label and Langfuse returns the older, undesired one, sync leaves the label only on the newer one',
      'oldest',
      'Two.',
      ['Two.'],
    ],
    [
      'If two versions have the same label and Langfuse returns the newer, undesired one, sync leaves the label only on the older one',
      'newest',
      'One.',
      ['One.'],
    ],
    [
      'If two versions have the same label and Langfuse returns the older, desired one, sync changes nothing',
      'oldest',
      'One.',
      ['One.', 'Two.'],
    ],
    [
      'If two versions have the same label and Langfuse returns the newer, desired one, sync changes nothing',
      'newest',
      'Two.',
      ['One.', 'Two.'],
    ],
    [
      'If two versions have the same label and Langfuse returns the older one, sync moves the label from both to a new version',
      'oldest',
      'Three.',
      ['Three.'],
    ],
    [
      'If two versions have the same label and Langfuse returns the newer one, sync moves the label from both to a new version',
      'newest',
      'Three.',
      ['Three.'],
    ],
  ])('%s', async (_, ambiguousLabel, text, after) => {
    const { langfuse, store, labelled } = await start(setImmediate, ambiguousLabel);
    store.addLabel(NAME, 1, LABEL);
    const { exitCode } = await cloneWith(langfuse, { text })();
    expect(exitCode).toBe(0);
    expect(labelled()).toEqual(after);
  });
});
