import { describe, expect, test } from 'vitest';
import { contentDigest, metadataDigest } from '../../src/domain/digest.ts';
import { backends } from '../doubles/backends.ts';
import { content, entry, file } from '../planning/support.ts';
import { addOwn, begun, brief, outcomeLine, sync } from './support.ts';

const refs = { v1: content('Old') };
const staging = { staging: 'latest' };

describe.each(backends)('Applying (%s)', (_, start) => {
  test('makes its calls in the order of the contract, each set-active read back', async () => {
    const service = await start();
    const wanted = file({ name: 'New', pins: { production: 'git:v1', staging: 'latest' } });
    const { lines, outcomes } = await sync(service, [wanted], { refs, environmentOrder: ['staging', 'production'] });
    expect(brief(lines)).toStrictEqual([
      'create "Old"',
      'track ver_1',
      'create "Hello"',
      'track ver_2',
      'update p1 {"name":"New"}',
      'staging ver_2',
      'production ver_1',
    ]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made made made made']);
    expect(outcomes[0]?.changes.map(({ version }) => version)).toStrictEqual([
      { id: 'ver_1', number: 1 },
      { id: 'ver_2', number: 2 },
      undefined,
      { id: 'ver_2', number: 2 },
      { id: 'ver_1', number: 1 },
    ]);
  });

  test('sends a changed description alone', async () => {
    const service = await start();
    await sync(service, [file({ pins: staging })]);
    const { lines } = await sync(service, [file({ description: 'Other', pins: staging })]);
    expect(lines).toStrictEqual(['update p1 {"description":"Other"}']);
  });

  test('goes back by a revert of the text: the old id is active again and no version is made', async () => {
    const service = await begun(start);
    await sync(service, [file({ text: 'Two', pins: staging })]);
    const { lines, outcomes } = await sync(service, [file({ text: 'One', pins: staging })]);
    expect(brief(lines)).toStrictEqual(['look ver_1', 'staging ver_1']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made']);
    expect([service.serves('p1', 'staging'), service.countVersions('p1')]).toStrictEqual([['ver_1', 'One'], 2]);
    expect(service.serves('p1', 'promptsync')?.[0]).toBe('ver_2');
  });

  test('looks at a version once that two environments are to serve', async () => {
    const service = await start();
    const pins = { staging: 'latest', production: 'latest' };
    await sync(service, [file({ text: 'One', pins })]);
    await sync(service, [file({ text: 'Two', pins })]);
    const { lines } = await sync(service, [file({ text: 'One', pins })]);
    expect(brief(lines)).toStrictEqual(['look ver_1', 'staging ver_1', 'production ver_1']);
  });

  test('stamps a version with digest, commit, path, operation and ledger, beside the metadata of the file', async () => {
    const service = await start();
    const provenance = new Map([
      ['prompts/a.md', { commit: 'abc', path: 'sub/prompts/a.md', changeSummary: 'Soften' }],
    ]);
    service.activate('p1', 'staging', service.addVersion('p1', { text: 'Theirs', metadata: { by: 'hand' } }));
    const theirs = entry(1, 'Theirs', { metadata: { by: 'hand' }, stampFor: null });
    const first = await sync(service, [file({ metadata: { model: 'x' }, pins: staging })], { provenance });
    expect(first.created).toStrictEqual([
      {
        text: 'Hello',
        metadata: { model: 'x' },
        changeSummary: 'Soften',
        stamp: {
          digest: contentDigest('Hello'),
          metadataDigest: metadataDigest({ model: 'x' }),
          commit: 'abc',
          path: 'sub/prompts/a.md',
          operation: expect.any(String),
          ledger: [theirs],
        },
      },
    ]);
    const second = await sync(service, [file({ text: 'Hi', pins: staging })]);
    const [made] = second.created;
    expect(Object.keys(made!)).toStrictEqual(['text', 'metadata', 'stamp']);
    expect(made?.metadata).toStrictEqual({});
    expect(Object.keys(made!.stamp)).toStrictEqual(['digest', 'metadataDigest', 'operation', 'ledger']);
    expect(made?.stamp.operation).not.toBe(first.created[0]?.stamp.operation);
    const ours = { ...entry(2, 'Hello', { metadata: { model: 'x' } }), commit: 'abc', path: 'sub/prompts/a.md' };
    expect(made?.stamp.ledger).toStrictEqual([ours, theirs]);
  });

  test('stamps the version of a git: pin with the commit and path of the ref, and names it in the next ledger', async () => {
    const service = await start();
    const at = { content: content('Old'), provenance: { commit: 'c1', path: 'was/a.md', changeSummary: 'Release' } };
    const wanted = file({ pins: { staging: 'latest', production: 'git:v1' } });
    const { created } = await sync(service, [wanted], { refs: { v1: at } });
    expect(created.map(({ changeSummary, stamp: { commit, path } }) => [changeSummary, commit, path])).toStrictEqual([
      ['Release', 'c1', 'was/a.md'],
      [undefined, undefined, undefined],
    ]);
    expect(created[1]?.stamp.ledger).toStrictEqual([{ ...entry(1, 'Old'), path: 'was/a.md' }]);
  });

  const both = { staging: 'latest', production: 'latest' };
  const held = { staging: 'latest', production: 1 };
  /** Edits one after the other: the number of the text, and whether production follows it or is held at version 1. */
  const pasts: readonly (readonly [sentence: string, edits: string])[] = [
    ['was held back at during an edit', '1 follows, 1 held, 2 held, 2 follows'],
    ['went back to with an edit, and left again without one', '1 follows, 2 follows, 3 held, 3 follows'],
  ];
  test.each(pasts)('can go back, 25 edits later, to the version that an environment %s', async (_sentence, edits) => {
    const service = await start();
    const edit = (number: number, pins: Record<string, string | number>) =>
      sync(service, [file({ text: `T${number}`, pins })]);
    for (const one of edits.split(', ')) await edit(Number(one[0]), one.endsWith('held') ? held : both);
    for (let number = 4; number <= 28; number += 1) await edit(number, both);
    const { outcomes } = await edit(28, held);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made']);
    expect(service.serves('p1', 'production')).toStrictEqual(['ver_1', 'T1']);
  });

  test('moves no pin when the file has none, but keeps the content', async () => {
    const service = await start();
    const { lines } = await sync(service, [file()]);
    expect(brief(lines)).toStrictEqual(['create "Hello"', 'track ver_1']);
    expect((await sync(service, [file()])).lines).toStrictEqual([]);
  });

  test('blocks where the newest version has another number, and says how to go on', async () => {
    const service = await start();
    await sync(service, [file({ pins: staging })]);
    service.addVersion('p1', { text: 'Theirs' });
    const { lines, outcomes } = await sync(service, [
      file({ name: 'New', pins: { staging: 'latest', production: 7 } }),
    ]);
    expect(brief(lines)).toStrictEqual(['look ver_2']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['blocked: not_made pin/unknown-number']);
    expect(outcomes[0]?.problems[0]).toMatchObject({ line: 6, message: expect.stringMatching(/is known\.$/) });
  });

  test('uses the ledger of what it looked at', async () => {
    const service = await start();
    service.addVersion('p1', { text: 'Theirs' });
    addOwn(service, 'Two', [entry(1, 'Theirs', { stampFor: null })]);
    const { lines } = await sync(service, [file({ text: 'Two', pins: { production: 1 } })]);
    expect(brief(lines)).toStrictEqual(['look ver_2', 'track ver_2', 'look ver_1', 'production ver_1']);
  });

  test('looks at an id that no ledger knows before it goes live', async () => {
    const service = await start();
    await sync(service, [file({ pins: staging })]);
    service.addVersion('p1', { text: 'Theirs' });
    const wanted = file({ pins: { staging: 'latest', production: 'version:ver_2', qa: 'version:ver_2' } });
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(brief(lines)).toStrictEqual(['look ver_2', 'production ver_2', 'qa ver_2']);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['applied: made made']);
    expect((await sync(service, [wanted])).lines).toStrictEqual([]);
  });

  test.each([
    ['of another prompt', 'ver_2'],
    ['that is not there', 'ver_9'],
  ])('blocks on a pinned id %s before anything is written', async (_sentence, id) => {
    const service = await start();
    await sync(service, [file({ pins: staging })]);
    service.addVersion('p2', { text: 'Of p2' });
    const wanted = file({ text: 'Hi', pins: { staging: 'latest', production: `version:${id}` } });
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(lines).toStrictEqual([`set p1 promptsync-look ${id}`]);
    expect(outcomes.map(outcomeLine)).toStrictEqual(['blocked: not_made not_made pin/unknown-version']);
    expect(outcomes[0]?.problems[0]).toMatchObject({ path: 'prompts/a.md', line: 6, column: 3 });
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'Hello']);
  });

  test('names each of several ids that are not there, and looks at the good ones as well', async () => {
    const service = await start();
    await sync(service, [file({ pins: staging })]);
    service.addVersion('p1', { text: 'Theirs' });
    const wanted = file({ pins: { a: 'version:x', b: 'version:ver_2', c: 'version:y' } });
    const { outcomes } = await sync(service, [wanted]);
    expect(outcomes[0]?.problems.map(({ line }) => line)).toStrictEqual([5, 7]);
    expect(service.serves('p1', 'b')).toBeNull();
  });

  test('applies each prompt for itself', async () => {
    const service = await start();
    const files = ['p0', 'p1', 'p2', 'q1'].map((id) => ({ ...file({ pins: staging }), id, path: `${id}.md` }));
    const { outcomes } = await sync(service, [...files, file({ pins: { a: 9 } })].slice(0, 4));
    expect(outcomes.map(outcomeLine)).toStrictEqual([
      'failed: service/prompt-not-found',
      'applied: made made',
      'applied: made made made',
      'failed: service/not-authorised',
    ]);
  });
});
