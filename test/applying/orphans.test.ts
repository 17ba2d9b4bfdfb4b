import { describe, expect, test } from 'vitest';
import { backends, type Backend } from '../doubles/backends.ts';
import { content, entry, file, type WrittenPins } from '../planning/support.ts';
import { addOwn, outcomeLine, sync } from './support.ts';

const staging = { staging: 'latest' };

/** A service in which the text One was synced to staging. */
async function begun(start: () => Promise<Backend>): Promise<Backend> {
  const service = await start();
  await sync(service, [file({ text: 'One', pins: staging })]);
  return service;
}

async function creates(service: Backend, pins: WrittenPins, text = 'Two') {
  const { lines, outcomes } = await sync(service, [file({ text, pins })]);
  return { created: lines.filter((line) => line.startsWith('create')), lines, said: outcomes.map(outcomeLine) };
}

const byPins: readonly (readonly [string, WrittenPins, string])[] = [
  ['a pin latest', { staging: 'latest' }, 'applied: adopted made'],
  ['a number alone', { staging: 1 }, 'applied: adopted'],
  ['no pin at all', {}, 'applied: adopted'],
];

describe.each(backends)('The newest version that nobody has read (%s)', (_, start) => {
  test.each(byPins)('is adopted for a file with %s when it holds the text, and remembered', async (_p, pins, said) => {
    const service = await begun(start);
    const left = addOwn(service, 'Two', [entry(1, 'One')]);
    const first = await creates(service, pins);
    expect([first.created, first.said]).toStrictEqual([[], [said]]);
    expect(service.serves('p1', 'promptsync')).toStrictEqual([left, 'Two']);
    expect((await creates(service, pins)).lines).toStrictEqual([]);
    await creates(service, staging, 'Three');
    expect((await creates(service, pins)).created).toStrictEqual([]);
    expect(service.countVersions('p1')).toBe(3);
  });

  test.each(byPins)('is adopted for a file with %s when it is the first of all', async (_p, pins) => {
    const service = await start();
    const left = addOwn(service, 'Two');
    const wanted = Object.fromEntries(Object.entries(pins).map(([name]) => [name, 'latest']));
    expect((await creates(service, wanted)).created).toStrictEqual([]);
    expect(service.serves('p1', 'promptsync')).toStrictEqual([left, 'Two']);
  });

  test('does not move the tracking environment when its ledger does not name what that stands on', async () => {
    const service = await begun(start);
    const left = addOwn(service, 'Two', []);
    const { said, created } = await creates(service, staging);
    expect([said, created]).toStrictEqual([['applied: adopted made'], []]);
    expect(service.serves('p1', 'staging')).toStrictEqual([left, 'Two']);
    expect(service.serves('p1', 'promptsync')).toStrictEqual(['ver_1', 'One']);
  });

  test('is not enough for a file without a pin latest when its ledger does not name what is tracked', async () => {
    const service = await begun(start);
    addOwn(service, 'Two', []);
    expect((await creates(service, { staging: 1 })).created).toStrictEqual(['create p1 "Two"']);
    expect((await creates(service, { staging: 1 })).lines).toStrictEqual([]);
  });

  test('is adopted from somebody else for a pin latest, and never as what is tracked', async () => {
    const service = await begun(start);
    const theirs = service.addVersion('p1', { text: 'Two' });
    expect((await creates(service, staging)).said).toStrictEqual(['applied: adopted made']);
    expect(service.serves('p1', 'staging')).toStrictEqual([theirs, 'Two']);
    expect(service.serves('p1', 'promptsync')).toStrictEqual(['ver_1', 'One']);
  });

  test('is adopted from somebody else for a git pin', async () => {
    const service = await begun(start);
    const theirs = service.addVersion('p1', { text: 'Old' });
    const wanted = file({ text: 'One', pins: { production: 'git:v1' } });
    const { outcomes } = await sync(service, [wanted], { refs: { v1: content('Old') } });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: adopted made']);
    expect(service.serves('p1', 'production')).toStrictEqual([theirs, 'Old']);
    expect(service.serves('p1', 'promptsync')).toStrictEqual(['ver_1', 'One']);
  });

  test('is not adopted from somebody else where no pin follows the text', async () => {
    const service = await begun(start);
    service.addVersion('p1', { text: 'Two' });
    expect((await creates(service, { staging: 1 })).created).toStrictEqual(['create p1 "Two"']);
    expect(service.serves('p1', 'promptsync')?.[0]).toBe('ver_3');
  });

  test('is noted with its whole ledger when it holds another text', async () => {
    const service = await begun(start);
    addOwn(service, 'Between', [entry(1, 'One'), entry(7, 'Told', { id: 'ver_told' })]);
    const { created } = await sync(service, [file({ text: 'Two', pins: staging })]);
    expect(created[0]?.stamp.ledger.map(({ id }) => id)).toStrictEqual(['ver_told', 'ver_2', 'ver_1']);
  });

  test('holds up a create when the service says that there is no such version: it may be the very one', async () => {
    const service = await begun(start);
    const gone = {
      ...service,
      readPrompt: async (...asked: Parameters<Backend['readPrompt']>) => {
        const prompt = await service.readPrompt(...asked);
        return { ...prompt, latestVersionId: prompt.latestVersionId === 'ver_1' ? 'ver_gone' : prompt.latestVersionId };
      },
    };
    const { lines, outcomes } = await sync(gone, [file({ text: 'Two', pins: staging })]);
    expect(lines).toStrictEqual(['set p1 promptsync-look ver_gone']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made apply/newest-unreadable']);
  });

  test('found for a pinned number becomes what is tracked when it is newer and of our own', async () => {
    const service = await begun(start);
    const left = addOwn(service, 'Two', [entry(1, 'One')]);
    const { lines } = await creates(service, { production: 2 });
    expect(lines).toStrictEqual([
      `set p1 promptsync-look ${left}`,
      'read p1 promptsync-look',
      `set p1 promptsync ${left}`,
      'read p1 promptsync',
      `set p1 production ${left}`,
      'read p1 production',
    ]);
    expect((await creates(service, {})).lines).toStrictEqual([]);
  });

  test('found for a pinned number leaves what is tracked alone when somebody else made it', async () => {
    const service = await begun(start);
    service.addVersion('p1', { text: 'Theirs' });
    await creates(service, { production: 2 }, 'One');
    expect(service.serves('p1', 'production')).toStrictEqual(['ver_2', 'Theirs']);
    expect(service.serves('p1', 'promptsync')).toStrictEqual(['ver_1', 'One']);
  });

  test('is followed where its ledger tells of the text: that version is looked at, and adopted', async () => {
    const service = await begun(start);
    const left = addOwn(service, 'Two', [entry(1, 'One')]);
    const newest = addOwn(service, 'Three', [entry(2, 'Two'), entry(1, 'One')]);
    const { lines, said } = await creates(service, staging);
    expect(said).toStrictEqual(['applied: adopted made']);
    expect(lines.filter((line) => line.startsWith('set'))).toStrictEqual([
      `set p1 promptsync-look ${newest}`,
      `set p1 promptsync ${newest}`,
      `set p1 promptsync-look ${left}`,
      `set p1 staging ${left}`,
    ]);
    expect((await creates(service, staging, 'Three')).created).toStrictEqual([]);
    expect(service.countVersions('p1')).toBe(3);
  });

  test('is not followed where its ledger lies about the text', async () => {
    const service = await begun(start);
    service.addVersion('p1', { text: 'Theirs' });
    addOwn(service, 'Three', [entry(2, 'Two'), entry(1, 'One')]);
    expect((await creates(service, staging)).said).toStrictEqual(['failed: not_made not_made apply/other-content']);
    expect(service.serves('p1', 'staging')?.[1]).toBe('One');
  });

  test('found for a pinned id leaves what is tracked alone where that was not read, or is newer', async () => {
    const service = await begun(start);
    for (const text of ['Two', 'Three']) await creates(service, staging, text);
    await creates(service, staging, 'One');
    await creates(service, { staging: 'latest', production: 'version:ver_2' }, 'One');
    expect(service.serves('p1', 'production')).toStrictEqual(['ver_2', 'Two']);
    expect(service.serves('p1', 'promptsync')).toStrictEqual(['ver_3', 'Three']);
  });

  test.each([
    ['is looked at once and adopted for the second of two versions to make', { staging: 'latest' }],
    ['also where no pin follows it', {}],
  ])('%s', async (_sentence, followers) => {
    const service = await begun(start);
    const left = addOwn(service, 'Two', [entry(1, 'One')]);
    const wanted = file({ text: 'Two', pins: { ...followers, production: 'git:v1' } });
    const { created, lines } = await sync(service, [wanted], { refs: { v1: content('Old') } });
    expect(created.map(({ text }) => text)).toStrictEqual(['Old']);
    expect(lines.filter((line) => line === `set p1 promptsync-look ${left}`)).toHaveLength(1);
    expect((await sync(service, [wanted], { refs: { v1: content('Old') } })).lines).toStrictEqual([]);
  });

  test('is not adopted for one pin when it does not do for another that the same version was to be made for', async () => {
    const service = await begun(start);
    service.addVersion('p1', { text: 'Two', metadata: { model: 'x' } });
    const wanted = file({ text: 'Two', pins: { staging: 'latest', production: 'git:v1' } });
    const { outcomes } = await sync(service, [wanted], { refs: { v1: content('Two', { model: 'x' }) } });
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made made']);
    expect([service.serves('p1', 'staging')?.[0], service.serves('p1', 'production')?.[0]]).toStrictEqual([
      'ver_3',
      'ver_3',
    ]);
  });

  test('is not adopted for a pin when it does not do for the text, which the same version was to be made for', async () => {
    const service = await start();
    service.addVersion('p1', { text: 'Two', metadata: { model: 'x' } });
    const wanted = file({ text: 'Two', pins: { production: 'git:v1' } });
    const parts = { refs: { v1: content('Two', { model: 'x' }) } };
    const { outcomes } = await sync(service, [wanted], parts);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
    expect(service.serves('p1', 'production')?.[0]).toBe('ver_2');
    expect((await sync(service, [wanted], parts)).lines).toStrictEqual([]);
  });
});
