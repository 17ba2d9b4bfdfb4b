import { describe, expect, test } from 'vitest';
import { startStory, expectInSync, faultOn, isReadOf, summarizeRun, type Fault, type Story } from './support.ts';

/** Activates another version when a run reads staging for the second time, right before its first write. */
function activateBeforeWrite({ activate, draft }: Story): Fault {
  const activateForeign: Fault = async () => {
    activate('staging', draft('Theirs.'));
    return null;
  };
  return faultOn(isReadOf('staging'), activateForeign, 2);
}

async function syncAndEdit(): Promise<Story> {
  const story = await startStory({ text: 'A' });
  await story.sync();
  story.edit({ text: 'B' });
  return story;
}

describe('changes in the service between the plan and the first write', () => {
  test('sync replans and reports the replaced version if another version becomes active before the first write', async () => {
    const story = await syncAndEdit();
    await story.through(activateBeforeWrite(story));
    const ran = await story.sync();
    expect(summarizeRun(ran)).toBe('exit 0, applied, create made, staging made');
    expect(ran.report.prompts[0]!.changes[1]).toMatchObject({ before: { version_number: 2 } });
    story.directly();
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 B', 3]);
    await expectInSync(story);
  });

  test('sync --expect-plan writes nothing if another version becomes active after the plan', async () => {
    const story = await syncAndEdit();
    const { report } = await story.plan();
    const front = await story.through(activateBeforeWrite(story));
    const ran = await story.sync('--expect-plan', report.plan_digest!);
    expect(ran.exitCode).toBe(3);
    expect(ran.report.prompts).toMatchObject([{ status: 'blocked', problems: [{ code: 'guard/stale-plan' }] }]);
    expect(front.takeWrites()).toEqual([]);
    expect(story.serves('staging')).toBe('v2 Theirs.');
  });
});
