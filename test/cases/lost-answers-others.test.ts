import { describe, expect, test } from 'vitest';
import { cutAfter, cutBefore, isCreate, on, type Fault } from './faults.ts';
import { beginOutsideGit, expectSettled, told, type Story } from './support.ts';

const STOPPED = 'exit 4, failed, create unknown, staging not_made, apply/somebody-else-wrote';

/** Version 1 holds A; the answer to the create of B is lost, and then somebody else makes a version. */
async function overtaken(fault: Fault, theirs: (story: Story) => string): Promise<Story> {
  let id = '';
  const story = await beginOutsideGit({ text: 'A' }, { onWait: (times) => void (times === 1 && (id = theirs(story))) });
  await story.sync();
  story.edit({ text: 'B' });
  await story.through(on(isCreate, fault));
  const ran = await story.sync();
  expect(told(ran)).toBe(STOPPED);
  const { message, hint } = ran.report.prompts[0]!.problems[0]!;
  expect(message).toContain(id);
  expect(hint).toMatch(/run again/i);
  expect([story.serves('staging'), story.serves('promptsync')]).toEqual(['v1 A', 'v1 A']);
  story.directly();
  return story;
}

describe('a lost answer to create-version, and another writer in between', () => {
  test('ours was not made: nothing of theirs goes live, and the next run makes ours', async () => {
    const story = await overtaken(cutBefore, ({ draft }) => draft('Theirs.'));
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 B', 3]);
    await expectSettled(story);
  });

  test('ours was made before theirs: the way that the hint names ends with one version of it', async () => {
    const ours: string[] = [];
    const made: Fault = async (request, forward) => {
      ours.push(JSON.parse((await forward(request)).body).id);
      throw new Error('cut');
    };
    const story = await overtaken(made, ({ draft }) => draft('Theirs.'));
    story.activate('staging', ours[0]!);
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 3]);
    await expectSettled(story);
  });

  test('ours was made before theirs, and the next run is just run: the file’s text goes live, never theirs', async () => {
    const story = await overtaken(cutAfter, ({ draft }) => draft('Theirs.'));
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect(story.serves('staging')).toMatch(/^v\d B$/);
    await expectSettled(story);
  });

  test('theirs is our text with metadata that nobody has reviewed: not adopted', async () => {
    const story = await overtaken(cutBefore, ({ draft }) => draft('B', { temperature: 2 }));
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 B', 3]);
  });

  test('theirs is our very content: adopted, so that there is one version of it', async () => {
    const story: Story = await beginOutsideGit(
      { text: 'A' },
      { onWait: (times) => void (times === 1 && story.draft('B')) },
    );
    await story.sync();
    story.edit({ text: 'B' });
    await story.through(on(isCreate, cutBefore));
    expect(told(await story.sync())).toBe('exit 0, applied, create adopted, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 2]);
    await expectSettled(story);
  });
});
