import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../src/domain/digest.ts';
import { ServiceError, type PromptService } from '../../src/service/prompt-service.ts';
import { makeProblem } from '../../src/problem.ts';
import { stampToWire } from '../../src/ledger/stamp.ts';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { content, entry, file } from '../planning/support.ts';
import { addOwn, outcomeLine, sync, type SyncParts } from './support.ts';
import { apart, type CreatedVersion } from '../doubles/recorded.ts';

const ALL_WAITS = [250, 1_000, 2_000, 4_000, 8_000];
const staging = { staging: 'latest' };
const one = file({ text: 'One', pins: staging });
const two = file({ text: 'Two', pins: staging });
const LOST = 'It is not known whether the version was created: The service did not answer within 1 s.';

/** What a service does with a version whose answer gets lost. */
type Fate = (service: Backend, sent: CreatedVersion, store: () => Promise<unknown>) => unknown;

/** Syncs a file after the text One while the answers to create-version get lost. */
async function syncLosing(fate: Fate, parts: SyncParts = {}, wanted = two, before = [one]) {
  const service = inMemoryBackend();
  await sync(service, before, parts);
  const waits: number[] = [];
  const losing: PromptService = {
    ...service,
    createVersion: async (promptId, sent) => {
      await fate(service, apart(sent), () => service.createVersion(promptId, sent));
      throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'unknown');
    },
  };
  const onWait = async (milliseconds: number) => {
    waits.push(milliseconds);
    await parts.onWait?.(milliseconds);
  };
  const synced = await sync(losing, [wanted], { ...parts, onWait });
  const [outcome] = synced.outcomes;
  return { ...synced, service, waits, line: outcomeLine(outcome!), said: outcome?.problems[0]?.message };
}

const neverStored: Fate = () => {};

describe('A version whose answer was lost', () => {
  test.each([1, 2, 3, 4, 5])('is waited for until it is there: it is stored during wait %i', async (late) => {
    let storeIt = async (): Promise<unknown> => undefined;
    let count = 0;
    const keepBack: Fate = (_service, _sent, store) => {
      storeIt = store;
    };
    const onWait = async () => {
      count += 1;
      if (count === late) await storeIt();
    };
    const { waits, line } = await syncLosing(keepBack, { onWait });
    expect([waits, line]).toStrictEqual([ALL_WAITS.slice(0, late), 'applied: adopted made']);
  });

  test.each([
    ['a prompt that has versions', [one]],
    ['a prompt that has none yet', []],
  ])('is waited for to the end where it does not turn up, and the reason is told: %s', async (_, before) => {
    const { waits, lines, line, said } = await syncLosing(neverStored, {}, two, before);
    expect(waits).toStrictEqual(ALL_WAITS);
    expect(lines).toStrictEqual(['create p1 "Two"', ...ALL_WAITS.map(() => 'read p1')]);
    expect([line, said]).toStrictEqual(['failed: unknown not_made apply/outcome-unknown', LOST]);
  });

  test('is found beside the ledger of whoever made it, which the next version remembers', async () => {
    const wanted = file({ text: 'Two', pins: { staging: 'latest', production: 'git:v1' } });
    const fate: Fate = (service, { text }, store) =>
      text === 'Old' ? addOwn(service, 'Old', [entry(9, 'Nine'), entry(1, 'One')]) : store();
    const { line, created } = await syncLosing(fate, { refs: { v1: content('Old') } }, wanted);
    expect(line).toBe('applied: adopted adopted made made');
    expect(created[1]?.stamp.ledger.map(({ id }) => id)).toStrictEqual(['ver_9', 'ver_2', 'ver_1']);
  });

  test("is not taken to be somebody else's, whatever that has in common with it", async () => {
    const { service, line, said } = await syncLosing((found, { stamp }) => {
      const another = { ...stamp, digest: contentDigest('Another'), operation: 'of another run' };
      found.addVersion('p1', { text: ' Two ', metadata: { promptsync: stampToWire(another) } });
    });
    expect(line).toBe('failed: unknown not_made apply/somebody-else-wrote');
    expect(said).toBe(`${LOST} Since then somebody else made v2 (id ver_2); nothing was made active.`);
    expect(service.serves('p1', 'promptsync')).toStrictEqual(['ver_1', 'One']);
  });

  const rewritten: readonly (readonly [string, string, string, Fate])[] = [
    [
      'with its record',
      'ours',
      'made',
      (service, { stamp }) => service.addVersion('p1', { text: 'T-w-o', metadata: { promptsync: stampToWire(stamp) } }),
    ],
    [
      'with its record, which somebody has copied',
      'perhaps not ours',
      'unknown',
      (service, { stamp }) => {
        const copied = stampToWire({ ...stamp, ledger: [] });
        service.addVersion('p1', { text: ' Two', metadata: { promptsync: copied } });
      },
    ],
    [
      'with the record of another run for the same content',
      'perhaps not ours',
      'unknown',
      (service, { stamp }) => {
        const another = stampToWire({ ...stamp, operation: 'of another run' });
        service.addVersion('p1', { text: 'T-w-o', metadata: { promptsync: another } });
      },
    ],
    [
      'tidied, and without any metadata',
      'perhaps not ours',
      'unknown',
      (service) => service.addVersion('p1', { text: ' Two ' }),
    ],
  ];
  test.each(rewritten)(
    'is not made active where something else is stored for it: %s, it is %s',
    async (_, _whose, status, fate) => {
      const { service, line, said, outcomes } = await syncLosing(fate);
      expect(line).toBe(`failed: ${status} not_made apply/rewritten`);
      expect(said).toContain('(version v2)');
      const version = status === 'made' ? { id: 'ver_2', number: 2 } : undefined;
      expect(outcomes[0]?.changes[0]?.version).toStrictEqual(version);
      expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'One']);
      expect(service.serves('p1', 'promptsync')).toStrictEqual(['ver_1', 'One']);
    },
  );

  const others: readonly (readonly [string, Fate])[] = [
    ['another text', (service) => service.addVersion('p1', { text: 'Theirs' })],
    [
      'the same text but for its form, with metadata',
      (service) => service.addVersion('p1', { text: ' Two ', metadata: { by: 'x' } }),
    ],
    [
      'the same text with metadata that nobody has reviewed',
      (service) => service.addVersion('p1', { text: 'Two', metadata: { by: 'x' } }),
    ],
  ];
  test.each(others)("is taken to be somebody else's where that is %s", async (_, fate) => {
    const { line } = await syncLosing(fate);
    expect(line).toBe('failed: unknown not_made apply/somebody-else-wrote');
  });
});
