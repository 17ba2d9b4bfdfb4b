import { describe, expect, test } from 'vitest';
import { begin, expectSettled, on, reads, told, type Fault, type Story } from './support.ts';

/** Another version is made active when a run reads staging for the second time, which is right before it writes. */
function meddling({ activate, draft }: Story): Fault {
  const meddle: Fault = async () => {
    activate('staging', draft('Theirs.'));
    return null;
  };
  return on(reads('staging'), meddle, 2);
}

async function edited(): Promise<Story> {
  const story = await begin({ text: 'A' });
  await story.sync();
  story.edit({ text: 'B' });
  return story;
}

describe('somebody writes between the plan and the first write', () => {
  test('another version is made active: planned afresh, and the report tells of what was replaced', async () => {
    const story = await edited();
    await story.through(meddling(story));
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
    const front = await story.through(meddling(story));
    const ran = await story.sync('--expect-plan', report.plan_digest!);
    expect(ran.exitCode).toBe(3);
    expect(ran.report.prompts).toMatchObject([{ status: 'blocked', problems: [{ code: 'guard/stale-plan' }] }]);
    expect(front.takeWrites()).toEqual([]);
    expect(story.serves('staging')).toBe('v2 Theirs.');
  });
});
