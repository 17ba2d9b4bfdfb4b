import { describe, expect, test } from 'vitest';
import { stampToWire } from '../../src/ledger/stamp.ts';
import { makeProblem } from '../../src/problem.ts';
import { ServiceError } from '../../src/service/prompt-service.ts';
import { addOwn, outcomeLine, sync } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import { content, entry, file, version, type WrittenPins } from '../planning/support.ts';

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

const wanted = file({ text: 'Two', pins: staging });
const look = (id: string) => [`set p1 promptsync-look ${id}`, 'read p1 promptsync-look'];
const track = (id: string) => [`set p1 promptsync ${id}`, 'read p1 promptsync'];

/** A service whose staging has followed the text One: version ver_1, on which the tracking environment stands. */
async function withOne(): Promise<Backend> {
  const service = inMemoryBackend();
  await sync(service, [file({ text: 'One', pins: staging })]);
  return service;
}

describe('The newest version, which nobody has read and which is looked at before one is made,', () => {
  test('is adopted for a git: pin, and the own content is made after it', async () => {
    const service = await withOne();
    const id = addOwn(service, 'Old', [entry(1, 'One')]);
    const pins = { staging: 'latest', production: 'git:v1' };
    const { lines, outcomes } = await sync(service, [file({ text: 'Two', pins })], { refs: { v1: content('Old') } });
    expect(lines).toStrictEqual([
      ...look(id),
      ...track(id),
      'create p1 "Two"',
      ...track('ver_3'),
      'set p1 staging ver_3',
      'read p1 staging',
      `set p1 production ${id}`,
      'read p1 production',
    ]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: adopted made made made']);
  });

  test('is looked at once, however many versions are made', async () => {
    const service = await withOne();
    service.addVersion('p1', { text: 'Theirs' });
    const pins = { staging: 'latest', production: 'git:v1' };
    const { lines } = await sync(service, [file({ text: 'Two', pins })], { refs: { v1: content('Old') } });
    expect(lines.filter((line) => line.includes('look'))).toStrictEqual(look('ver_2'));
  });

  test('is named where it is what the service made of the content; nothing is made beside it', async () => {
    const service = await withOne();
    const stamp = version(2, 'Two', { ledger: [entry(1, 'One')] }).stamp!;
    const id = service.addVersion('p1', { text: 'two, tidied', metadata: { promptsync: stampToWire(stamp) } });
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(lines).toStrictEqual(look(id));
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made apply/rewritten']);
    expect(outcomes[0]?.changes[0]?.version).toStrictEqual({ id, number: 2 });
    expect(outcomes[0]?.problems[0]?.message).toBe(
      'The service stored something else than was sent (version v2); it was not made active.',
    );
  });

  test('is not believed in what its ledger says of a version that was read', async () => {
    const service = await withOne();
    addOwn(service, 'Theirs', [entry(1, 'Not what it holds'), entry(9, 'Nine')]);
    const { created } = await sync(service, [wanted]);
    expect(created[0]?.stamp.ledger.map(({ id, digest }) => [id, digest])).toStrictEqual([
      ['ver_9', content('Nine').digest],
      ['ver_2', content('Theirs').digest],
      ['ver_1', content('One').digest],
    ]);
  });

  test('names a version of the content that is not there: the prompt has failed', async () => {
    const service = await withOne();
    const id = addOwn(service, 'Theirs', [entry(7, 'Two', { id: 'gone' }), entry(1, 'One')]);
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(lines).toStrictEqual([...look(id), ...track(id), 'set p1 promptsync-look gone']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made service/version-not-found']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/^Creating the version: The service has no prompt "p1" with/);
  });

  test('leads to a version of the content that its ledger names, whatever else that ledger names', async () => {
    const service = await withOne();
    const left = addOwn(service, 'Two');
    const newest = addOwn(service, 'Three', [entry(2, 'Two')]);
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(lines).toStrictEqual([...look(newest), ...look(left), `set p1 staging ${left}`, `read p1 staging`]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: adopted made']);
  });

  test('leads nowhere where no pin follows the content and the tracking environment could not move to it', async () => {
    const service = await withOne();
    addOwn(service, 'Two');
    const newest = addOwn(service, 'Three', [entry(2, 'Two')]);
    const { lines } = await sync(service, [file({ text: 'Two', pins: { staging: 1 } })]);
    expect(lines).toStrictEqual([...look(newest), 'create p1 "Two"', ...track('ver_4')]);
  });

  test('does not move the tracking environment back behind a version that was made after it', async () => {
    const service = await withOne();
    const newest = addOwn(service, 'Two', [entry(1, 'One')]);
    const pins = { staging: 'latest', production: 'git:v1' };
    const { lines } = await sync(service, [file({ text: 'Two', pins })], { refs: { v1: content('Old') } });
    expect(lines).toStrictEqual([
      ...look(newest),
      ...track(newest),
      'create p1 "Old"',
      ...track('ver_3'),
      `set p1 staging ${newest}`,
      'read p1 staging',
      'set p1 production ver_3',
      'read p1 production',
    ]);
  });

  test('is not followed where the tracking environment cannot be moved: nothing is made beside it', async () => {
    const service = await withOne();
    const newest = addOwn(service, 'Three', [entry(1, 'One')]);
    const before = (line: string) => {
      if (line === `set p1 promptsync ${newest}`)
        throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'rejected');
    };
    const { lines, outcomes } = await sync(service, [wanted], { hooks: { before } });
    expect(lines).toStrictEqual([...look(newest), `set p1 promptsync ${newest}`]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made service/timeout']);
    expect(outcomes[0]?.problems[0]?.message).toMatch(/^Setting "promptsync" to v2: The service did not/);
  });

  test('is not there, although the service names it: nothing is made, and it is named', async () => {
    const service = await withOne();
    const haunted: Backend = {
      ...service,
      readPrompt: async (...asked) => ({ ...(await service.readPrompt(...asked)), latestVersionId: 'ver_gone' }),
    };
    const { lines, outcomes } = await sync(haunted, [wanted]);
    expect(lines).toStrictEqual(['set p1 promptsync-look ver_gone']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made apply/newest-unreadable']);
    expect(outcomes[0]?.problems[0]?.message).toContain('The service names "ver_gone" as its newest version');
  });

  test('is classified as ever where somebody has moved the tracking environment to a version of theirs', async () => {
    const service = await withOne();
    service.activate('p1', 'promptsync', service.addVersion('p1', { text: 'Theirs' }));
    service.addVersion('p1', { text: 'Draft' });
    const { outcomes } = await sync(service, [file({ text: 'Draft', pins: { staging: 1 } })]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made']);
  });

  test.each(['not-sent', 'rejected', 'unknown'] as const)(
    'cannot be looked at (%s): nothing is made beside it',
    async (effect) => {
      const service = await withOne();
      service.addVersion('p1', { text: 'Theirs' });
      const before = () => {
        throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), effect);
      };
      const { lines, outcomes } = await sync(service, [wanted], { hooks: { before } });
      expect(lines).toStrictEqual(['set p1 promptsync-look ver_2']);
      expect(outcomes.map(outcomeLine)).toStrictEqual(['failed: not_made not_made service/timeout']);
    },
  );
});

describe('A version that is looked at because a pin names it', () => {
  test('moves the tracking environment, and leaves other environments alone', async () => {
    const service = await withOne();
    const id = addOwn(service, 'Two', [entry(1, 'One')]);
    const { lines } = await sync(service, [file({ text: 'One', pins: { staging: 'latest', production: 2 } })]);
    expect(lines).toStrictEqual([...look(id), ...track(id), `set p1 production ${id}`, 'read p1 production']);
  });

  test('does not move the tracking environment where a newer one is known', async () => {
    const service = await withOne();
    addOwn(service, 'Two', [entry(1, 'One')]);
    service.activate('p1', 'qa', addOwn(service, 'Three', [entry(1, 'One')]));
    const pins = { staging: 'latest', qa: 3, production: 'version:ver_2' };
    const { lines } = await sync(service, [file({ text: 'One', pins })]);
    expect(lines.filter((line) => line.startsWith('set'))).toStrictEqual([
      'set p1 promptsync-look ver_2',
      'set p1 production ver_2',
    ]);
  });
});
