import { describe, expect, test } from 'vitest';
import { backends } from '../doubles/backends.ts';
import { content, entry, file } from '../planning/support.ts';
import { startWithTextOne, shortenCalls, formatOutcome, sync } from './support.ts';

const refs = { v1: content('Old') };
const staging = { staging: 'latest' };

describe.each(backends)('applyPlan (backend: %s)', (_, start) => {
  test('promptsync sends its calls in the documented order and confirms each activation by reading it back', async () => {
    const service = await start();
    const wanted = file({ name: 'New', pins: { production: 'git:v1', staging: 'latest' } });
    const { lines, outcomes } = await sync(service, [wanted], { refs, environmentOrder: ['staging', 'production'] });
    expect(shortenCalls(lines)).toStrictEqual([
      'create "Old"',
      'track ver_1',
      'create "Hello"',
      'track ver_2',
      'update p1 {"name":"New"}',
      'staging ver_2',
      'production ver_1',
    ]);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: made made made made made']);
    expect(outcomes[0]?.changes.map(({ version }) => version)).toStrictEqual([
      { id: 'ver_1', number: 1 },
      { id: 'ver_2', number: 2 },
      undefined,
      { id: 'ver_2', number: 2 },
      { id: 'ver_1', number: 1 },
    ]);
  });

  test('If the old text of a prompt file is restored, promptsync reactivates the old version instead of creating a new one', async () => {
    const service = await startWithTextOne(start);
    await sync(service, [file({ text: 'Two', pins: staging })]);
    const { lines, outcomes } = await sync(service, [file({ text: 'One', pins: staging })]);
    expect(shortenCalls(lines)).toStrictEqual(['look ver_1', 'staging ver_1']);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: made']);
    expect([service.serves('p1', 'staging'), service.countVersions('p1')]).toStrictEqual([['ver_1', 'One'], 2]);
    expect(service.serves('p1', 'promptsync')?.[0]).toBe('ver_2');
  });

  test('A new version includes the metadata from the file and a complete version record', async () => {
    const service = await start();
    const history = { provenance: { commit: 'abc', path: 'sub/prompts/a.md', changeSummary: 'Soften' } };
    service.activate('p1', 'staging', service.addVersion('p1', { text: 'Theirs', metadata: { by: 'hand' } }));
    const theirs = entry(1, 'Theirs', { metadata: { by: 'hand' }, stampFor: null });
    const first = await sync(service, [file({ metadata: { model: 'x' }, pins: staging })], { history });
    const { digest, metadataDigest } = content('Hello', { model: 'x' });
    const source = { commit: 'abc', path: 'sub/prompts/a.md' };
    const stamp = { digest, metadataDigest, ...source, operation: expect.any(String), ledger: [theirs] };
    const sent = { type: 'text', text: 'Hello', metadata: { model: 'x' }, changeSummary: 'Soften', stamp };
    expect(first.created).toStrictEqual([sent]);
    const second = await sync(service, [file({ text: 'Hi', pins: staging })]);
    const [made] = second.created;
    expect(Object.keys(made!)).toStrictEqual(['type', 'text', 'metadata', 'stamp']);
    expect(made?.metadata).toStrictEqual({});
    expect(Object.keys(made!.stamp)).toStrictEqual(['digest', 'metadataDigest', 'operation', 'ledger']);
    expect(made?.stamp.operation).not.toBe(first.created[0]?.stamp.operation);
    const ours = { ...entry(2, 'Hello', { metadata: { model: 'x' } }), ...source };
    expect(made?.stamp.ledger).toStrictEqual([ours, theirs]);
  });

  test('A version created for a git pin records the commit and the file path that its text came from', async () => {
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

  test('A prompt is blocked if promptsync cannot find its pinned version number even after probing the newest version', async () => {
    const service = await start();
    await sync(service, [file({ pins: staging })]);
    service.addVersion('p1', { text: 'Theirs' });
    const wanted = file({ name: 'New', pins: { staging: 'latest', production: 7 } });
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(shortenCalls(lines)).toStrictEqual(['look ver_2']);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['blocked: not_made pin/unknown-number']);
    const message = expect.stringMatching(/could not find this version\.$/);
    expect(outcomes[0]?.problems[0]).toMatchObject({ line: 6, message });
  });

  test('If some pinned version ids do not exist, promptsync reports each of them and activates none of the pinned versions', async () => {
    const service = await start();
    await sync(service, [file({ pins: staging })]);
    service.addVersion('p1', { text: 'Theirs' });
    const wanted = file({ text: 'Hi', pins: { a: 'version:x', b: 'version:ver_2', c: 'version:y' } });
    const { lines, outcomes } = await sync(service, [wanted]);
    expect(outcomes[0]?.status).toBe('blocked');
    expect(outcomes[0]?.problems.map(({ code, line }) => `${code} ${line}`)).toStrictEqual([
      'pin/unknown-version 5',
      'pin/unknown-version 7',
    ]);
    expect(lines.filter((line) => !line.includes('promptsync-look'))).toStrictEqual([]);
  });

  test('If one prompt fails, promptsync still applies the other prompts', async () => {
    const service = await start();
    const files = ['p0', 'p1', 'p2', 'q1'].map((id) => ({ ...file({ pins: staging }), id, path: `${id}.md` }));
    const { outcomes } = await sync(service, files);
    expect(outcomes.map(formatOutcome)).toStrictEqual([
      'failed: service/prompt-not-found',
      'applied: made made',
      'applied: made made made',
      'failed: service/not-authorised',
    ]);
  });
});
