import { describe, expect, test } from 'vitest';
import {
  activates,
  beginOutsideGit,
  cutAfter,
  cutBefore,
  expectNoWrites,
  expectSettled,
  isCreate,
  isRead,
  on,
  reads,
  told,
  type Fault,
  type Matches,
  type Story,
} from './support.ts';

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

test('a lost create that somebody else has overtaken: the way that the hint names ends with one version of it', async () => {
  let [ours, theirs] = ['', ''];
  const onWait = (times: number): void => {
    if (times === 1) theirs = story.draft('Theirs.');
  };
  const story: Story = await beginOutsideGit({ text: 'A' }, { onWait });
  await story.sync();
  story.edit({ text: 'B' });
  const made: Fault = async (request, forward) => {
    ours = JSON.parse((await forward(request)).body).id;
    throw new Error('cut');
  };
  await story.through(on(isCreate, made));
  const ran = await story.sync();
  expect(told(ran)).toBe('exit 4, failed, create unknown, staging not_made, apply/somebody-else-wrote');
  const { message, hint } = ran.report.prompts[0]!.problems[0]!;
  expect(message).toContain(theirs);
  expect(hint).toMatch(/run again/i);
  expect([story.serves('staging'), story.serves('promptsync')]).toEqual(['v1 A', 'v1 A']);

  story.directly();
  story.activate('staging', ours);
  expect(await story.sync()).toMatchObject({ exitCode: 0 });
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 3]);
  await expectSettled(story);
});

/** A new text, a new name, and two environments to set: every kind of call is made. */
async function edited(): Promise<Story> {
  const story = await beginOutsideGit({ text: 'A', pins: { staging: 'latest', production: 'latest' } });
  await story.sync();
  story.edit({ text: 'B', name: 'New name' });
  return story;
}

function interrupting(story: Story): Fault {
  return async (request, forward) => {
    story.interrupt();
    return forward(request);
  };
}

describe('SIGINT while a call is in flight: it is finished, no other is begun, and the next run converges', () => {
  test.each<[string, Matches]>([
    ['create-version', isCreate],
    ['set-active of staging', activates('staging')],
  ])('%s', async (_, matches) => {
    const story = await edited();
    const front = await story.through(on(matches, interrupting(story), 1));
    const ran = await story.sync();
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('Interrupted');
    expect(front.requests.at(-1)).toSatisfy(matches);
    expect(ran.report.prompts).toMatchObject([{ problems: [{ code: 'apply/interrupted' }] }]);

    story.directly();
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual(['v2 B', 'v2 B', 2]);
    await expectSettled(story);
  });

  test('the first read: nothing is written', async () => {
    const story = await edited();
    const front = await story.through(on(reads('staging'), interrupting(story), 1));
    expect(await story.sync()).toMatchObject({ exitCode: 130 });
    expect(front.takeWrites()).toEqual([]);
  });

  test.each([
    ['made', on(isCreate, cutAfter)],
    ['not made', on(isCreate, cutBefore)],
  ])('the waiting after a lost create ends at once (%s)', async (_, fault) => {
    const story = await beginOutsideGit({ text: 'A' }, { onWait: () => story.interrupt() });
    await story.through(fault);
    const ran = await story.sync();
    expect(ran.exitCode).toBe(130);
    expect(story.waits).toHaveLength(1);
    expect(ran.report.prompts[0]!.changes[0]).toMatchObject({ kind: 'create-version', status: 'unknown' });

    story.directly();
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 1]);
    await expectSettled(story);
  });
});
