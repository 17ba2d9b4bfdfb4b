import { describe, expect, test } from 'vitest';
import { activates, cutAfter, cutBefore, isCreate, isRead, on, type Fault, type Matches } from './faults.ts';
import { begin, beginOutsideGit, expectNoWrites, expectSettled, told } from './support.ts';

/** The service makes the version, and this is what the tool gets to see of it. */
function answering(change: (body: string) => { readonly status: number; readonly body: string }): Fault {
  return async (request, forward) => change((await forward(request)).body);
}

const HTML = '<html><body>Sign in</body></html>';

const lostAfterCommit: readonly [string, Fault][] = [
  ['the connection is cut', cutAfter],
  ['500', answering(() => ({ status: 500, body: '{"detail":"oops"}' }))],
  ['a gateway’s 502 in HTML', answering(() => ({ status: 502, body: HTML }))],
  ['HTML under 200', answering(() => ({ status: 200, body: HTML }))],
  ['truncated JSON', answering((body) => ({ status: 200, body: body.slice(0, body.length / 2) }))],
  ['JSON of another shape', answering(() => ({ status: 200, body: '{}' }))],
];

describe('a lost answer to create-version, after the commit', () => {
  test.each(lostAfterCommit)('%s: one version, adopted, and the second run writes nothing', async (_, fault) => {
    const story = await beginOutsideGit({ text: 'A' });
    const front = await story.through(on(isCreate, fault));
    expect(told(await story.sync())).toBe('exit 0, applied, create adopted, staging made');
    expect(front.requests.filter(isCreate)).toHaveLength(1);
    story.directly();
    expect([story.versions(), story.serves('staging'), story.serves('promptsync')]).toEqual([1, 'v1 A', 'v1 A']);
    await expectNoWrites(story);
  });

  test('a time-out, the commit coming late: waited for, and adopted', async () => {
    let commit: (() => Promise<unknown>) | undefined;
    let waits = 0;
    const onWait = async (): Promise<void> => {
      waits += commit === undefined ? 0 : 1;
      if (waits === 3) await commit?.();
    };
    const story = await beginOutsideGit({ text: 'A' }, { config: 'timeout_seconds: 0.5\n', onWait });
    const late: Fault = (request, forward) => {
      commit = () => forward(request);
      return new Promise(() => {});
    };
    await story.through(on(isCreate, late));
    expect(told(await story.sync())).toBe('exit 0, applied, create adopted, staging made');
    expect(waits).toBeGreaterThanOrEqual(3);
    story.directly();
    expect([story.versions(), story.serves('staging')]).toEqual([1, 'v1 A']);
    await expectSettled(story);
  });

  test('reading fails at first as well: it is still found', async () => {
    const story = await beginOutsideGit({ text: 'A' });
    let made = false;
    const creating = on(isCreate, (request, forward) => ((made = true), cutAfter(request, forward)));
    const reading = on((request) => made && isRead(request), cutBefore, 1, 2);
    await story.through(
      async (request, forward) => (await creating(request, forward)) ?? (await reading(request, forward)),
    );
    expect(told(await story.sync())).toBe('exit 0, applied, create adopted, staging made');
    expect(story.versions()).toBe(1);
    await expectSettled(story);
  });
});

describe('a lost create-version, before the commit', () => {
  test('is unknown to that run, and the next one makes exactly one', async () => {
    const story = await beginOutsideGit({ text: 'A' });
    const front = await story.through(on(isCreate, cutBefore));
    const lost = await story.sync();
    expect(told(lost)).toBe('exit 4, failed, create unknown, staging not_made, apply/outcome-unknown');
    expect(lost.report.prompts[0]!.problems[0]!.hint).toMatch(/run again/i);
    expect(front.requests.filter(isCreate)).toHaveLength(1);
    expect(story.waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(10_000);
    expect(story.versions()).toBe(0);

    story.directly();
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect([story.versions(), story.serves('staging')]).toEqual([1, 'v1 A']);
    await expectSettled(story);
  });
});

describe('a lost answer for one of two creates in a run (of a git: pin, and of the file)', () => {
  test.each([
    ['the first', 1, 'create adopted, create made'],
    ['the second', 2, 'create made, create adopted'],
  ])('%s', async (_, lost, creates) => {
    const story = await begin({ text: 'A' });
    story.edit({ text: 'B' });
    story.edit({ text: 'C', pins: { staging: 'latest', production: 'git:HEAD~1' } });
    await story.through(on(isCreate, cutAfter, lost));
    expect(told(await story.sync())).toBe(`exit 0, applied, ${creates}, staging made, production made`);
    expect([story.serves('production'), story.serves('staging')]).toEqual(['v1 B', 'v2 C']);
    expect([story.serves('promptsync'), story.versions()]).toEqual(['v2 C', 2]);
    await expectSettled(story);
  });
});

describe('a lost answer to another call, which is repeated', () => {
  const isUpdate: Matches = ({ method }) => method === 'PATCH';

  test.each<[string, Matches]>([
    ['update-prompt', isUpdate],
    ['set-active of the tracking environment', activates('promptsync')],
    ['set-active of staging', activates('staging')],
  ])('%s', async (_, matches) => {
    const story = await beginOutsideGit({ text: 'A', name: 'New name' });
    const front = await story.through(on(matches, cutAfter, 1));
    expect(told(await story.sync())).toBe('exit 0, applied, create made, update made, staging made');
    expect(front.requests.filter(matches)).toHaveLength(2);
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 1]);
    await expectSettled(story);
  });

  test('lost each time: told as unknown, and the next run sees that it was done', async () => {
    const story = await beginOutsideGit({ text: 'A' });
    await story.sync();
    story.edit({ name: 'New name' });
    await story.through(on(isUpdate, cutAfter));
    expect(told(await story.sync())).toBe('exit 4, failed, update unknown, service/connection-lost');
    story.directly();
    await expectSettled(story);
  });
});
