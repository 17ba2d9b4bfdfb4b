import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam, type RunOptions, type Team } from './team.ts';

const PROMPTS = { billing: {}, greeting: {}, refund: {} };
const EDIT = { 'prompts/greeting.md': promptText('greeting', { text: 'Edited.' }) };

/** What the workflow does around the action: each run has a clone of its own, and the record goes from one to the next. */
function makeCache() {
  const kept = makeFolder();
  const recordOf = (workspace: string) => join(workspace, '.git', 'promptsync');
  let last = '';
  const restore: RunOptions['prepare'] = (workspace) => {
    last = workspace;
    if (existsSync(join(kept, 'record'))) cpSync(join(kept, 'record'), recordOf(workspace), { recursive: true });
  };
  return { restore, save: () => cpSync(recordOf(last), join(kept, 'record'), { recursive: true }) };
}

function asked({ service }: Team): readonly string[] {
  const names = service.requests.splice(0).map(({ path }) => /prm_([a-z]+)/.exec(path)?.[1] ?? '?');
  return [...new Set(names)].toSorted();
}

describe('a push to main', () => {
  test('looks only at what it changes, where the record of the last sync was kept', async () => {
    const team = await makeTeam(PROMPTS);
    const { restore, save } = makeCache();
    await team.runPush(team.pushMain({}), { prepare: restore });
    expect(asked(team)).toEqual(['billing', 'greeting', 'refund']);
    save();
    const ran = await team.runPush(team.pushMain(EDIT), { prepare: restore });
    expect(ran.exitCode).toBe(0);
    expect(asked(team)).toEqual(['greeting']);
    expect(JSON.parse(ran.outputs['summary'] ?? '')).toMatchObject({ applied: 1, not_looked_at: 2 });
    expect(ran.summary).toContain('2 not looked at');
  });

  test('looks at everything where it was not kept', async () => {
    const team = await makeTeam(PROMPTS);
    await team.runPush(team.pushMain({}));
    asked(team);
    await team.runPush(team.pushMain(EDIT));
    expect(asked(team)).toEqual(['billing', 'greeting', 'refund']);
  });

  test('looks at everything where it is told to, and whenever it is a schedule that runs', async () => {
    const team = await makeTeam(PROMPTS);
    const { restore, save } = makeCache();
    await team.runPush(team.pushMain({}), { prepare: restore });
    save();
    const commit = team.pushMain(EDIT);
    asked(team);
    await team.runPush(commit, { prepare: restore, inputs: { 'all-prompts': 'true' } });
    expect(asked(team)).toEqual(['billing', 'greeting', 'refund']);
    save();
    await team.run('schedule', {}, { ref: 'refs/heads/main', commit }, { prepare: restore });
    expect(asked(team)).toEqual(['billing', 'greeting', 'refund']);
  });

  test('looks once more at what the last run could not complete', async () => {
    const team = await makeTeam(PROMPTS);
    const { restore, save } = makeCache();
    await team.runPush(team.pushMain({}), { prepare: restore });
    save();
    const refused = await team.runPush(team.pushMain(EDIT), { prepare: restore, inputs: { 'max-changes': '0' } });
    expect(refused.outputs['failure-reason']).toBe('refused');
    save();
    asked(team);
    await team.runPush(team.pushMain({ 'README.md': 'Prompts' }), { prepare: restore });
    expect(asked(team)).toEqual(['greeting']);
  });
});
