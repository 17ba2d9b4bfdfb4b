import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startLangfuse, type LangfuseDouble } from '../doubles/langfuse-server.ts';
import type { LangfuseStoreOptions } from '../doubles/langfuse-store.ts';
import { commitAll, initRepository, makeFolder, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../support/prompts.ts';
import { runJson, type Reported } from '../support/run.ts';

const NAME = 'prm_main';
const LABEL = 'staging';

/** Starts a Langfuse with version 1 "One." and version 2 "Two.". Version 2 has the label of staging. */
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

/** Makes a clone with one commit of the prompt. Returns the function that syncs it. */
function cloneWith({ environment }: LangfuseDouble, parts: PromptParts): () => Promise<Reported> {
  const folder = makeFolder();
  initRepository(folder);
  const file = promptText('main', { key: NAME, name: NAME, pins: { [LABEL]: 'latest' }, ...parts });
  writeFiles(folder, { 'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n`, 'prompts/main.md': file });
  commitAll(folder, 'Change the prompt');
  return () => runJson(folder, ['sync', '--yes'], { environment });
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
    ['The newest commit wins after concurrent syncs of two different edits', edit, { text: 'Four.' }],
    ['The revert wins after concurrent syncs of an edit and a later revert', edit, revert],
    ['The edit wins after concurrent syncs of a revert and a later edit', revert, edit],
    ['Concurrent syncs of the same edit leave that edit active', edit, edit],
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

describe.each(['before', 'after'] as const)('a concurrent label move just %s the write of a sync', (when) => {
  test.each<readonly [sentence: string, parts: PromptParts, moved: number]>([
    ['Syncing an edit overrides a concurrent label move to the active version', edit, 2],
    ['Syncing an edit overrides a concurrent label move to an older version', edit, 1],
    ['Syncing a revert overrides a concurrent label move to the active version', revert, 2],
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

describe('sync with a label on two versions', () => {
  // Langfuse serves the version that was created first. No answer shows that another version has the label, too.
  test.each([
    ['sync removes a duplicate label from all versions except the desired one', 'Two.', ['Two.']],
    ['sync leaves a duplicate label in place if Langfuse serves the desired version', 'One.', ['One.', 'Two.']],
    ['sync moves a duplicate label from both old versions to the new version', 'Three.', ['Three.']],
  ])('%s', async (_, text, after) => {
    const { langfuse, store, labelled } = await start(setImmediate);
    store.addLabel(NAME, 1, LABEL);
    const { exitCode } = await cloneWith(langfuse, { text })();
    expect([exitCode, store.serves(NAME, LABEL)?.text, labelled()]).toEqual([0, text, after]);
  });
});
