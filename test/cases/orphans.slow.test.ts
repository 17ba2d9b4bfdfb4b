import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../src/domain/digest.ts';
import { git } from '../support/folder.ts';
import { startCli } from '../support/cli.ts';
import { deadAfterCreate, isCreate, on } from './faults.ts';
import { begin, expectSettled, told, type Story } from './support.ts';

/** A run that is cut off right after its create leaves a version that is active nowhere. */
async function orphan(story: Story): Promise<void> {
  await story.through(deadAfterCreate());
  expect(await story.sync()).toMatchObject({ exitCode: 4 });
  story.directly();
  story.service.takeWrites();
}

const creates = ({ service }: Story) => service.takeWrites().filter((write) => write.startsWith('POST'));

describe('a version that a cut run left behind', () => {
  test('the first of all: adopted by the next run, and the tracking environment stands on it', async () => {
    const story = await begin({ text: 'A' });
    await orphan(story);
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect(creates(story)).toEqual([]);
    expect([story.serves('staging'), story.serves('promptsync'), story.versions()]).toEqual(['v1 A', 'v1 A', 1]);
    await expectSettled(story);
  });

  test('after another one: its ledger names the old head, so the tracking environment moves to it', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B' });
    await orphan(story);
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect(creates(story)).toEqual([]);
    expect([story.serves('staging'), story.serves('promptsync'), story.versions()]).toEqual(['v2 B', 'v2 B', 2]);
    await expectSettled(story);
  });

  test.each([
    ['no pin', {}, 'nothing'],
    ['a number', { staging: 1 }, 'v1 A'],
  ])('of a file without a `latest` pin (%s): adopted as well', async (_, pins, staging) => {
    const story = await begin({ text: 'A', pins: {} });
    await story.sync();
    story.edit({ text: 'B', pins });
    await orphan(story);
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect(creates(story)).toEqual([]);
    expect([story.serves('staging'), story.serves('promptsync'), story.versions()]).toEqual([staging, 'v2 B', 2]);
    await expectSettled(story);
  });

  test('the first of a file without a pin: adopted as well', async () => {
    const story = await begin({ text: 'A', pins: {} });
    await orphan(story);
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect(creates(story)).toEqual([]);
    expect([story.serves('promptsync'), story.versions()]).toEqual(['v1 A', 1]);
    await expectSettled(story);
  });

  test('somebody else’s in its place, without a ledger: it goes live, and the tracking environment stays', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.draft('B');
    story.edit({ text: 'B' });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.serves('promptsync'), story.versions()]).toEqual(['v2 B', 'v1 A', 2]);
    await expectSettled(story);
  });

  test('with a ledger that does not name the old head: it goes live, and the tracking environment stays', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B' });
    await story.sync();
    story.draft('C', { promptsync: { digest: contentDigest('C'), operation: 'of-another-repository', ledger: [] } });
    story.edit({ text: 'C' });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.serves('promptsync'), story.versions()]).toEqual(['v3 C', 'v2 B', 3]);
    story.edit({ pins: { staging: 'latest', production: 1 } });
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect(story.serves('production')).toBe('v1 A');
    await expectSettled(story);
  });

  test('two of them, and then back to the text of the first: found by the ledger of the second', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B' });
    await orphan(story);
    story.edit({ text: 'C' });
    await orphan(story);
    expect([story.serves('promptsync'), story.versions()]).toEqual(['v2 B', 3]);
    story.edit({ text: 'B' });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 3]);
    await expectSettled(story);
    story.edit({ text: 'C' });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 C', 3]);
  });

  test('beside a git: pin whose text is new as well: that one is made, and the orphan adopted', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.edit({ text: 'Of a tag.' });
    git(story.folder, 'tag', 'v1');
    story.edit({ text: 'B' });
    await orphan(story);
    story.edit({ pins: { staging: 'latest', production: 'git:v1' } });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.serves('production')]).toEqual(['v2 B', 'v3 Of a tag.']);
    expect(story.versions()).toBe(3);
    await expectSettled(story);
  });

  test('edited on before the next run: it stays what it is, and the new text is the next version', async () => {
    const story = await begin({ text: 'A' });
    await orphan(story);
    story.edit({ text: 'B' });
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 2]);
    story.edit({ text: 'A' });
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 2]);
    await expectSettled(story);
  });
});

test('a process killed after its create: the next run adopts what it made', async () => {
  const story = await begin({ text: 'A' });
  const made = Promise.withResolvers<void>();
  const front = await story.through(
    on(isCreate, async (request, forward) => {
      await forward(request);
      made.resolve();
      return new Promise(() => {});
    }),
  );
  const environment = { ...story.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
  const { child, ended } = startCli(story.folder, ['sync', '--yes'], { environment });
  await made.promise;
  child.kill('SIGKILL');
  await ended;
  story.directly();
  expect(await story.sync()).toMatchObject({ exitCode: 0 });
  expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 1]);
  await expectSettled(story);
});
