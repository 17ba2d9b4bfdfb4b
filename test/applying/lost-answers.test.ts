import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/service/prompt-service.ts';
import { makeProblem } from '../../src/problem.ts';
import { backends, type Backend } from '../doubles/backends.ts';
import type { Hooks } from '../doubles/recorded.ts';
import { content, entry, file } from '../planning/support.ts';
import { addOwn, outcomeLine, sync, type SyncParts } from './support.ts';

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

/** A service in which the text One was synced to staging. */
async function begun(start: () => Promise<Backend>): Promise<Backend> {
  const service = await start();
  await sync(service, [file({ text: 'One', pins: staging })]);
  return service;
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

  test('is waited for ever longer, because a version may be stored late', async () => {
    const service = await begun(start);
    const waits: number[] = [];
    const onWait = (milliseconds: number): void => {
      if (waits.push(milliseconds) === 4) addOwn(service, 'Two', [entry(1, 'One')]);
    };
    const { said } = await outcomeOf(service, two, { hooks: losing('not stored'), onWait });
    expect(said).toStrictEqual(['applied: adopted made']);
    expect(waits).toStrictEqual([250, 1_000, 2_000, 4_000]);
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

  test('does not take one with metadata that nobody has reviewed', async () => {
    const service = await begun(start);
    const onWait = (): void => void service.addVersion('p1', { text: 'Two', metadata: { model: 'theirs' } });
    const { said } = await outcomeOf(service, two, { hooks: losing('not stored'), onWait });
    expect(said).toStrictEqual(['failed: unknown not_made apply/somebody-else-wrote']);
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

  test.each([
    ['reading what there is', /^read p1$/],
    ['looking', /^set p1 promptsync-look/],
    ['reading what is looked at', /^read p1 promptsync-look/],
  ])('stays unknown where %s fails as well', async (_sentence, call) => {
    const service = await begun(start);
    const hooks: Hooks = {
      before: (line) => {
        if (call.test(line)) throw lost();
      },
      ...losing('stored'),
    };
    const { said, lines } = await outcomeOf(service, two, { hooks });
    expect(said).toStrictEqual(['failed: unknown not_made apply/outcome-unknown']);
    expect(lines.filter((line) => line.startsWith('create'))).toHaveLength(1);
    expect((await outcomeOf(service)).said).toStrictEqual(['applied: adopted made']);
    expect(service.countVersions('p1')).toBe(2);
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

  test('that the service refused is not looked for', async () => {
    const service = await begun(start);
    const before = (line: string): void => {
      if (line.startsWith('create')) throw new ServiceError(makeProblem('service/timeout', { seconds: 1 }), 'rejected');
    };
    const { said, lines } = await outcomeOf(service, two, { hooks: { before } });
    expect([said, lines]).toStrictEqual([['failed: not_made not_made service/timeout'], ['create p1 "Two"']]);
  });
});
