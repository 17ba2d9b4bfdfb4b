import { expect, test } from 'vitest';
import {
  beginOutsideGit,
  cutAfter,
  expectNoWrites,
  expectSettled,
  isCreate,
  on,
  told,
  type Fault,
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

test.each(lostAfterCommit)(
  'a lost answer to create-version, after the commit (%s): one version, adopted, and no write in the second run',
  async (_, fault) => {
    const story = await beginOutsideGit({ text: 'A' });
    const front = await story.through(on(isCreate, fault));
    expect(told(await story.sync())).toBe('exit 0, applied, create adopted, staging made');
    expect(front.requests.filter(isCreate)).toHaveLength(1);
    story.directly();
    expect([story.versions(), story.serves('staging'), story.serves('promptsync')]).toEqual([1, 'v1 A', 'v1 A']);
    await expectNoWrites(story);
  },
);

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
