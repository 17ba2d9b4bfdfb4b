import { describe, expect, test } from 'vitest';
import { keeps, numberedOddly } from './faults.ts';
import { begin, beginOutsideGit, expectSettled, told } from './support.ts';

describe('metadata of the file', () => {
  test('changed with the same text: another version; changed back: the old one', async () => {
    const story = await beginOutsideGit({ text: 'A', metadata: { model: 'small' } });
    await story.sync();
    story.edit({ metadata: { model: 'large' } });
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect(story.active('staging')!.metadata_).toMatchObject({ model: 'large' });
    story.edit({ metadata: { model: 'small' } });
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 2]);
    await expectSettled(story);
  });

  test('changed after somebody moved the tracking environment to a draft: it goes live all the same', async () => {
    const story = await beginOutsideGit({ text: 'A', metadata: { model: 'small' } });
    await story.sync();
    story.activate('promptsync', story.draft('Theirs.'));
    story.edit({ metadata: { model: 'large' } });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect(story.active('staging')!.metadata_).toMatchObject({ model: 'large' });
  });
});

describe('a service that adds metadata of its own', () => {
  const adding = () =>
    keeps(({ metadata_, ...rest }) => ({
      ...rest,
      metadata_: { ...(typeof metadata_ === 'object' && metadata_), source: 'api' },
    }));

  test('does not matter to a file without metadata', async () => {
    const story = await beginOutsideGit({ text: 'A' });
    await story.through(adding());
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    story.edit({ text: 'B' });
    await story.sync();
    story.edit({ text: 'A' });
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 2]);
    await expectSettled(story);
  });

  test('is told to a file with metadata, and no second version is made', async () => {
    const story = await beginOutsideGit({ text: 'A', metadata: { model: 'small' } });
    await story.through(adding());
    for (const _ of ['first', 'second', 'third']) {
      expect(await story.sync()).toMatchObject({ exitCode: 4 });
      expect([story.serves('staging'), story.versions()]).toEqual(['nothing', 1]);
    }
  });

  test('and numbers in its own way: still one version of each text', async () => {
    const story = await beginOutsideGit({ text: 'A' });
    const add = adding();
    await story.through(async (request, forward) => {
      const answer = (await add(request, forward)) ?? (await forward(request));
      return { ...answer, body: numberedOddly(answer.body) };
    });
    await story.sync();
    for (const _ of ['second', 'third']) expect(told(await story.sync())).toBe('exit 0, unchanged');
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 1]);
  });
});

describe("a copy of our version with its metadata, edited in the service's UI", () => {
  test.each([
    ['another text', 'Edited in the UI.'],
    ['white space at its end', 'A \n'],
  ])('%s: it is theirs, and the file’s version returns', async (_, text) => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.activate('staging', story.draft(text, story.active('staging')!.metadata_!));
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 2]);
    await expectSettled(story);
  });

  test('of the newest of several: the ledger it carries takes nothing away', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B' });
    await story.sync();
    story.activate('staging', story.draft('Edited in the UI.', story.active('staging')!.metadata_!));
    story.edit({ text: 'C', pins: { staging: 'latest', production: 2 } });
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made, production made');
    expect([story.serves('staging'), story.serves('production')]).toEqual(['v4 C', 'v2 B']);
    expect(story.versions()).toBe(4);
    await expectSettled(story);
  });

  test.each<[string, object | undefined]>([
    ['a file without metadata', undefined],
    ['a file with metadata', { model: 'small' }],
  ])('only the metadata edited, %s: our version returns', async (_, metadata) => {
    const story = await begin({ text: 'A', ...(metadata && { metadata }) });
    await story.sync();
    const ours = story.active('staging')!;
    story.activate('staging', story.draft('A', { ...ours.metadata_, model: 'unreviewed' }));
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect(story.active('staging')!.id).toBe(ours.id);
    expect(story.versions()).toBe(2);
    await expectSettled(story);
  });
});

describe('the same text with other metadata made outside', () => {
  test.each([true, false])('is not adopted when the file has no metadata (active: %s)', async (isActive) => {
    const story = await begin({ text: 'A' });
    await story.sync();
    const theirs = story.draft('B', { temperature: 2 });
    if (isActive) story.activate('staging', theirs);
    story.edit({ text: 'B' });
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 B', 3]);
    expect(Object.keys(story.active('staging')!.metadata_!)).toEqual(['promptsync']);
    await expectSettled(story);
  });

  test('is adopted when the file has that very metadata', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.activate('staging', story.draft('B', { temperature: 2 }));
    story.edit({ text: 'B', metadata: { temperature: 2 } });
    expect(told(await story.sync())).toBe('exit 0, unchanged');
    expect(story.versions()).toBe(2);
  });
});
