import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startLangfuse, type LangfuseDouble } from '../doubles/langfuse-server.ts';
import type { LangfuseStoreOptions } from '../doubles/langfuse-store.ts';
import { commitAll, initRepository, makeFolder, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../support/prompts.ts';
import { runJson, type Reported } from '../support/run.ts';

const NAME = 'prm_main';
const LABEL = 'staging';

/** Langfuse with version 1 «One.» and version 2 «Two.», where staging is on 2. */
async function start(pause: NonNullable<LangfuseStoreOptions['pause']>) {
  const served = new Set<unknown>();
  const langfuse: LangfuseDouble = await startLangfuse({
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

/** A clone of its own with the prompt as one commit has it, and its sync. */
function cloneWith({ environment }: LangfuseDouble, parts: PromptParts): () => Promise<Reported> {
  const folder = makeFolder();
  initRepository(folder);
  const file = promptText('main', { key: NAME, name: NAME, pins: { [LABEL]: 'latest' }, ...parts });
  writeFiles(folder, { 'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n`, 'prompts/main.md': file });
  commitAll(folder, 'Change the prompt');
  return () => runJson(folder, ['sync', '--yes'], { environment });
}

/** What a run says that it has made is there, and where it failed it says so. */
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

describe.each(['first', 'second', 'third'] as const)('two syncs at once, the %s of whose writes is held up', (nth) => {
  test.each<readonly [sentence: string, first: PromptParts, second: PromptParts]>([
    ['two edits', edit, { text: 'Four.' }],
    ['an edit and a revert', edit, revert],
    ['a revert and an edit', revert, edit],
    ['the same edit twice', edit, edit],
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

/** One write has read, and writes only after the next one has, or a run has ended. */
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

describe.each(['before', 'after'] as const)("somebody's move is written right %s that of a sync", (when) => {
  test.each<readonly [sentence: string, parts: PromptParts, moved: number]>([
    ['beside an edit, to the version that serves', edit, 2],
    ['beside an edit, to an older version', edit, 1],
    ['beside a revert, to the version that serves', revert, 2],
  ])('%s', async (_, parts, moved) => {
    let writes = 0;
    const others: Promise<unknown>[] = [];
    const { langfuse, store, served } = await start(async () => {
      writes += 1;
      // The second write is that of somebody else: it begins once the sync's own has read.
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

describe('a label that is on two versions', () => {
  // Langfuse serves the one that was made first: that the label is on another one as well is seen nowhere.
  test.each([
    ['is on one after the next sync', 'Two.', ['Two.']],
    ['stays there while the right one is served', 'One.', ['One.', 'Two.']],
    ['is on one after the next edit', 'Three.', ['Three.']],
  ])('%s', async (_, text, after) => {
    const { langfuse, store, labelled } = await start(setImmediate);
    store.addLabel(NAME, 1, LABEL);
    const { exitCode } = await cloneWith(langfuse, { text })();
    expect([exitCode, store.serves(NAME, LABEL)?.text, labelled()]).toEqual([0, text, after]);
  });
});
