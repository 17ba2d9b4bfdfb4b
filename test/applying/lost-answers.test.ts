import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../src/domain/digest.ts';
import { stampToWire } from '../../src/ledger/stamp.ts';
import { makeProblem } from '../../src/problem.ts';
import { type PromptService, ServiceError } from '../../src/service/prompt-service.ts';
import { addOwn, begun, outcomeLine, sync, type SyncParts } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import { apart, type CreatedVersion, type Hooks } from '../doubles/recorded.ts';
import { content, entry, file } from '../planning/support.ts';

const staging = { staging: 'latest' };
const two = file({ text: 'Two', pins: staging });

const lost = () => new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'unknown');

/** The answers to all create-version calls are lost: the calls themselves have had their effect, or have not. */
function losing(effect: 'stored' | 'not stored', only = /^create /): Hooks {
  const lose = (line: string): void => {
    if (only.test(line)) throw lost();
  };
  return effect === 'stored' ? { after: lose } : { before: lose };
}

async function outcomeOf(service: Backend, wanted = two, parts: SyncParts = {}) {
  const { lines, outcomes } = await sync(service, [wanted], parts);
  return { lines, said: outcomes.map(outcomeLine), problem: outcomes[0]?.problems[0]?.message ?? '' };
}

describe.each(backends)('A create-version call whose answer is lost (%s)', (_, start) => {
  test('is found to have made its version, which is adopted and tracked', async () => {
    const service = await begun(start);
    const { lines, said } = await outcomeOf(service, two, { hooks: losing('stored') });
    expect(said).toStrictEqual(['applied: adopted made']);
    expect(lines).toStrictEqual([
      'create p1 "Two"',
      'read p1',
      'set p1 promptsync-look ver_2',
      'read p1 promptsync-look',
      'set p1 promptsync ver_2',
      'read p1 promptsync',
      'set p1 staging ver_2',
      'read p1 staging',
    ]);
    expect((await outcomeOf(service)).lines).toStrictEqual([]);
  });

  test('that was never stored is not sent again: it ends unknown, and the next sync makes the one version', async () => {
    const service = await begun(start);
    const { lines, said } = await outcomeOf(service, two, { hooks: losing('not stored') });
    expect(said).toStrictEqual(['failed: unknown not_made apply/outcome-unknown']);
    expect(lines).toStrictEqual(['create p1 "Two"', ...Array(5).fill('read p1')]);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'One']);
    expect((await outcomeOf(service)).said).toStrictEqual(['applied: made made']);
    expect(service.countVersions('p1')).toBe(2);
  });

  test('stops where somebody else has written since: nothing of theirs goes live', async () => {
    const service = await begun(start);
    const onWait = (): void => void service.addVersion('p1', { text: 'Theirs' });
    const { said, problem, lines } = await outcomeOf(service, two, { hooks: losing('stored'), onWait });
    expect(said).toStrictEqual(['failed: unknown not_made apply/somebody-else-wrote']);
    expect(problem).toContain('v3 (id ver_3)');
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'One']);
    expect(lines.filter((line) => line.startsWith('create'))).toHaveLength(1);
  });

  test('takes another version of the same text for its own where a pin follows the text', async () => {
    const service = await begun(start);
    const onWait = (): void => void service.addVersion('p1', { text: 'Two' });
    const { said } = await outcomeOf(service, two, { hooks: losing('not stored'), onWait });
    expect(said).toStrictEqual(['applied: adopted made']);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_2', 'Two']);
  });

  test('does not take one without a ledger where no pin follows the text', async () => {
    const service = await begun(start);
    const onWait = (): void => void service.addVersion('p1', { text: 'Two' });
    const wanted = file({ text: 'Two', pins: { staging: 1 } });
    const { said } = await outcomeOf(service, wanted, { hooks: losing('not stored'), onWait });
    expect(said).toStrictEqual(['failed: unknown apply/somebody-else-wrote']);
  });

  test('is settled for each of two versions of one run', async () => {
    const service = await begun(start);
    const wanted = file({ text: 'Two', pins: { staging: 'latest', production: 'git:v1' } });
    const parts = { refs: { v1: content('Old') }, hooks: losing('stored') };
    expect((await outcomeOf(service, wanted, parts)).said).toStrictEqual(['applied: adopted adopted made made']);
    expect(service.countVersions('p1')).toBe(3);
    expect((await outcomeOf(service, wanted, parts)).said).toStrictEqual(['unchanged:']);
  });

  test('stays unknown when the run is interrupted while it waits', async () => {
    const service = await begun(start);
    const controller = new AbortController();
    const parts = { hooks: losing('stored'), stop: controller.signal, onWait: () => controller.abort() };
    const { said, lines } = await outcomeOf(service, two, parts);
    expect(said).toStrictEqual(['failed: unknown not_made apply/outcome-unknown']);
    expect(lines).toStrictEqual(['create p1 "Two"']);
    expect((await outcomeOf(service)).said).toStrictEqual(['applied: adopted made']);
  });
});

const ALL_WAITS = [250, 1_000, 2_000, 4_000, 8_000];
const one = file({ text: 'One', pins: staging });
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
