import { describe, expect, test } from 'vitest';
import { computeContentDigest } from '../../src/domain/content.ts';
import { renderVersionRecord, type VersionRecord } from '../../src/providers/four-call/version-record.ts';
import { makeProblem } from '../../src/problem.ts';
import type { PromptService } from '../../src/providers/four-call/prompt-service.ts';
import { ServiceError } from '../../src/http/service-error.ts';
import { addManagedVersion, startWithTextOne, formatOutcome, sync, type SyncParts } from './support.ts';
import { type Backend, backends, inMemoryBackend } from '../doubles/backends.ts';
import { splitVersionRecord, type CreatedVersion, type Hooks } from '../doubles/record-calls.ts';
import { content, entry, file } from '../planning/support.ts';

const staging = { staging: 'latest' };
const two = file({ text: 'Two', pins: staging });

const makeTimeout = () => new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'unknown');

/** Loses the answers to all create-version calls, after or without the effect of the call. */
function loseAnswers(effect: 'stored' | 'not stored', only = /^create /): Hooks {
  const lose = (line: string): void => {
    if (only.test(line)) throw makeTimeout();
  };
  return effect === 'stored' ? { after: lose } : { before: lose };
}

async function syncOnce(service: Backend, wanted = two, parts: SyncParts = {}) {
  const { lines, outcomes } = await sync(service, [wanted], parts);
  return { lines, said: outcomes.map(formatOutcome), problem: outcomes[0]?.problems[0]?.message ?? '' };
}

describe.each(backends)('a lost response to create-version (backend: %s)', (_, start) => {
  test('After a lost create-version response, promptsync adopts the stored version and activates it as planned', async () => {
    const service = await startWithTextOne(start);
    const { lines, said } = await syncOnce(service, two, { hooks: loseAnswers('stored') });
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
    expect((await syncOnce(service)).lines).toStrictEqual([]);
  });

  test('If create-version is not stored and its response is lost, the sync fails, and only the next sync sends the call again', async () => {
    const service = await startWithTextOne(start);
    const { lines, said } = await syncOnce(service, two, { hooks: loseAnswers('not stored') });
    expect(said).toStrictEqual(['failed: unknown not_made apply/outcome-unknown']);
    expect(lines).toStrictEqual(['create p1 "Two"', ...Array(5).fill('read p1')]);
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'One']);
    expect((await syncOnce(service)).said).toStrictEqual(['applied: made made']);
    expect(service.countVersions('p1')).toBe(2);
  });

  test('After a lost create-version response, the prompt fails if someone else has created a newer version', async () => {
    const service = await startWithTextOne(start);
    const onWait = (): void => void service.addVersion('p1', { text: 'Theirs' });
    const { said, problem, lines } = await syncOnce(service, two, { hooks: loseAnswers('stored'), onWait });
    expect(said).toStrictEqual(['failed: unknown not_made apply/somebody-else-wrote']);
    expect(problem).toContain('v3 (id ver_3)');
    expect(service.serves('p1', 'staging')).toStrictEqual(['ver_1', 'One']);
    expect(lines.filter((line) => line.startsWith('create'))).toHaveLength(1);
  });

  test('After a lost create-version response, promptsync adopts a foreign version with the same text only if a pin needs it', async () => {
    const syncWith = async (staging: string | number) => {
      const service = await startWithTextOne(start);
      const onWait = (): void => void service.addVersion('p1', { text: 'Two' });
      const wanted = file({ text: 'Two', pins: { staging } });
      const { said } = await syncOnce(service, wanted, { hooks: loseAnswers('not stored'), onWait });
      return [said[0], service.serves('p1', 'staging')?.[1]];
    };
    expect(await syncWith('latest')).toStrictEqual(['applied: adopted made', 'Two']);
    expect(await syncWith(1)).toStrictEqual(['failed: unknown apply/somebody-else-wrote', 'One']);
  });

  test('promptsync adopts both versions if both create-version responses of a sync are lost', async () => {
    const service = await startWithTextOne(start);
    const wanted = file({ text: 'Two', pins: { staging: 'latest', production: 'git:v1' } });
    const parts = { refs: { v1: content('Old') }, hooks: loseAnswers('stored') };
    expect((await syncOnce(service, wanted, parts)).said).toStrictEqual(['applied: adopted adopted made made']);
    expect(service.countVersions('p1')).toBe(3);
    expect((await syncOnce(service, wanted, parts)).said).toStrictEqual(['unchanged:']);
  });

  test('If an interrupt ends the search for a version after a lost response, the outcome of create-version stays unknown', async () => {
    const service = await startWithTextOne(start);
    const controller = new AbortController();
    const parts = { hooks: loseAnswers('stored'), stop: controller.signal, onWait: () => controller.abort() };
    const { said, lines } = await syncOnce(service, two, parts);
    expect(said).toStrictEqual(['failed: unknown not_made apply/outcome-unknown']);
    expect(lines).toStrictEqual(['create p1 "Two"']);
    expect((await syncOnce(service)).said).toStrictEqual(['applied: adopted made']);
  });
});

const ALL_WAITS = [250, 1_000, 2_000, 4_000, 8_000];
const one = file({ text: 'One', pins: staging });

/** Handles a create-version call in the service before its answer is lost. */
type CreateHandler = (service: Backend, sent: CreatedVersion, store: () => Promise<unknown>) => unknown;

/** Syncs the text One, and then another file while the answers to create-version are lost. */
async function syncWithLostAnswers(handle: CreateHandler, parts: SyncParts = {}, wanted = two, before = [one]) {
  const service = inMemoryBackend();
  await sync(service, before, parts);
  const waits: number[] = [];
  const losing: PromptService = {
    ...service,
    createVersion: async (promptId, sent) => {
      await handle(service, splitVersionRecord(sent), () => service.createVersion(promptId, sent));
      throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'unknown');
    },
  };
  const onWait = async (milliseconds: number) => {
    waits.push(milliseconds);
    await parts.onWait?.(milliseconds);
  };
  const synced = await sync(losing, [wanted], { ...parts, onWait });
  const [outcome] = synced.outcomes;
  return { ...synced, service, waits, line: formatOutcome(outcome!), said: outcome?.problems[0]?.message };
}

describe('the search for a version after a lost answer', () => {
  test.each([1, 2, 3, 4, 5])(
    'After a lost create-version response, promptsync finds the new version even if it appears only during wait %i',
    async (late) => {
      let storeIt = async (): Promise<unknown> => undefined;
      let count = 0;
      const keepBack: CreateHandler = (_service, _sent, store) => void (storeIt = store);
      const onWait = async () => {
        if (++count === late) await storeIt();
      };
      const { waits, line } = await syncWithLostAnswers(keepBack, { onWait });
      expect([waits, line]).toStrictEqual([ALL_WAITS.slice(0, late), 'applied: adopted made']);
    },
  );

  test('If a version is found after a lost response, the ledger of the next version includes the ledger entries of that version', async () => {
    const wanted = file({ text: 'Two', pins: { staging: 'latest', production: 'git:v1' } });
    const handle: CreateHandler = (service, { text }, store) =>
      text === 'Old' ? addManagedVersion(service, 'Old', [entry(9, 'Nine'), entry(1, 'One')]) : store();
    const { line, created } = await syncWithLostAnswers(handle, { refs: { v1: content('Old') } }, wanted);
    expect(line).toBe('applied: adopted adopted made made');
    expect(created[1]?.stamp.ledger.map(({ id }) => id)).toStrictEqual(['ver_9', 'ver_2', 'ver_1']);
  });

  const addCopy = (service: Backend, text: string, record: VersionRecord) =>
    service.addVersion('p1', { text, metadata: { promptsync: renderVersionRecord(record) } });
  test.each<[string, outcome: string, CreateHandler]>([
    [
      'After a lost create-version response, promptsync does not activate its own version with a changed text',
      'made not_made apply/rewritten',
      (service, { stamp }) => addCopy(service, 'T-w-o', stamp),
    ],
    [
      'After a lost create-version response, promptsync does not activate a version with changed whitespace and a modified record',
      'unknown not_made apply/rewritten',
      (service, { stamp }) => addCopy(service, ' Two', { ...stamp, ledger: [] }),
    ],
    [
      'After a lost create-version response, promptsync does not activate a version with changed text and the record of another run',
      'unknown not_made apply/rewritten',
      (service, { stamp }) => addCopy(service, 'T-w-o', { ...stamp, operation: 'of another run' }),
    ],
    [
      'After a lost create-version response, promptsync does not activate a copy without a record',
      'unknown not_made apply/rewritten',
      (service) => service.addVersion('p1', { text: ' Two ' }),
    ],
    [
      'After a lost create-version response, a prompt fails if it finds a version with different whitespace and the record of another text',
      'unknown not_made apply/somebody-else-wrote',
      (service, { stamp }) => addCopy(service, ' Two ', { ...stamp, digest: computeContentDigest('Another') }),
    ],
    [
      'After a lost create-version response, a prompt fails if it finds a version with different whitespace and metadata',
      'unknown not_made apply/somebody-else-wrote',
      (service) => service.addVersion('p1', { text: ' Two ', metadata: { by: 'x' } }),
    ],
    [
      'After a lost create-version response, a prompt fails if it finds a version with the same text but unreviewed metadata',
      'unknown not_made apply/somebody-else-wrote',
      (service) => service.addVersion('p1', { text: 'Two', metadata: { by: 'x' } }),
    ],
  ])('%s', async (_title, expected, handle) => {
    const { service, line, said, outcomes } = await syncWithLostAnswers(handle);
    expect(line).toBe(`failed: ${expected}`);
    expect(said).toContain('v2');
    const version = expected.startsWith('made') ? { id: 'ver_2', number: 2 } : undefined;
    expect(outcomes[0]?.changes[0]?.version).toStrictEqual(version);
    for (const environment of ['staging', 'promptsync']) {
      expect(service.serves('p1', environment)).toStrictEqual(['ver_1', 'One']);
    }
  });
});
