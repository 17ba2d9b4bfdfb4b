import { describe, expect, test } from 'vitest';
import { activates, cutAfter, cutBefore, isCreate, on, reads, type Fault, type Matches } from './faults.ts';
import { beginOutsideGit, expectSettled, type Story } from './support.ts';

const isUpdate: Matches = ({ method }) => method === 'PATCH';

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

/** The same calls, but only after the version was made. */
function afterCreate(matches: Matches): Matches {
  let made = false;
  return (request) => {
    made ||= isCreate(request);
    return made && matches(request);
  };
}

describe('SIGINT while a call is in flight: it is finished, no other is begun, and the next run converges', () => {
  test.each<[string, Matches]>([
    ['create-version', isCreate],
    ['set-active of the tracking environment', activates('promptsync')],
    ['the read-back of the tracking environment', afterCreate(reads('promptsync'))],
    ['the read-back of staging', afterCreate(reads('staging'))],
    ['update-prompt', isUpdate],
    ['set-active of staging', activates('staging')],
    ['set-active of production', activates('production')],
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
