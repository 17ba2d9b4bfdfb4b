import { describe, expect, test } from 'vitest';
import { begin, expectSettled, on, reads, told, type Fault, type Story } from './support.ts';

/** Somebody writes when a run begins to read staging: for the second time, which is right before it writes, or always. */
function whenRead(write: () => void, ...times: readonly number[]): Fault {
  const fault: Fault = async () => {
    write();
    return null;
  };
  return on(reads('staging'), fault, ...times);
}

function edited(): Promise<Story> {
  return begin({ text: 'A' }).then(async (story) => {
    await story.sync();
    story.edit({ text: 'B' });
    return story;
  });
}

const activateTheirs = ({ activate, draft }: Story) => activate('staging', draft('Theirs.'));

describe('somebody writes between the plan and the first write', () => {
  test('another version is made active: planned afresh, and the report tells of what was replaced', async () => {
    const story = await edited();
    await story.through(whenRead(() => activateTheirs(story), 2));
    const ran = await story.sync();
    expect(told(ran)).toBe('exit 0, applied, create made, staging made');
    expect(ran.report.prompts[0]!.changes[1]).toMatchObject({ before: { version_number: 2 } });
    story.directly();
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 B', 3]);
    await expectSettled(story);
  });

  test('with --expect-plan it is another plan: refused, and nothing is written', async () => {
    const story = await edited();
    const { report } = await story.plan();
    const front = await story.through(whenRead(() => activateTheirs(story), 2));
    const ran = await story.sync('--expect-plan', report.plan_digest!);
    expect(ran.exitCode).toBe(3);
    expect(ran.report.prompts).toMatchObject([{ status: 'blocked', problems: [{ code: 'guard/stale-plan' }] }]);
    expect(front.takeWrites()).toEqual([]);
    expect(story.serves('staging')).toBe('v2 Theirs.');
  });
});
