import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addHook, git } from '../../support/folder.ts';
import { startFrontFor } from '../../support/front.ts';
import { CONFIG } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { PATH, summarizeRun } from '../../support/promotion.ts';
import { APPLIED, BRANCH, makeIncident, NOW, pinned, pushFromElsewhere, readState } from './incident.ts';

describe('rollback --now', () => {
  test('rollback --now changes nothing until the user confirms the plan, and then commits the pin on a new branch and activates the version', async () => {
    const scene = await makeIncident();
    const before = readState(scene);
    const head = git(scene.folder, 'rev-parse', 'HEAD');
    const asked = { environment: scene.service.environment, terminal: true };
    expect(summarizeRun(await scene.runJson(...NOW))).toBe('exit 1, usage/confirmation-needed');
    const dry = await scene.runJson(...NOW, '--dry-run');
    expect(summarizeRun(dry)).toBe('exit 0, greeting pending');
    expect(dry.report.prompts[0]).toMatchObject({
      edits: [{ kind: 'set-pin', before: '4', after: '2' }],
      changes: [{ kind: 'set-active', before: { version_number: 4 }, after: { version_number: 2 } }],
    });
    const declined = await run(scene.folder, NOW, { ...asked, input: 'n\n' });
    expect(declined).toMatchObject({ exitCode: 1, stdout: 'Nothing was applied.\n' });
    expect(readState(scene)).toEqual(before);
    expect(scene.service.takeWrites()).toEqual([]);

    const { exitCode, stderr, report } = await runJson(scene.folder, NOW, { ...asked, input: 'y\n' });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Apply? 1 prompt changes in production. [y/N]');
    expect(scene.serves('production')).toBe('v2');
    expect(git(scene.folder, 'branch', '--show-current')).toBe(BRANCH);
    expect(git(scene.folder, 'log', '-1', '--format=%P %s')).toBe(`${head} Roll greeting back in production (v4 → v2)`);
    expect(git(scene.folder, 'status', '--short')).toBe('');
    expect(git(scene.folder, 'show', '--format=', '--name-only')).toBe(PATH);
    expect(report).toMatchObject({ mode: 'rollback', environments: ['production'], committed: { branch: BRANCH } });
    expect(report.summary).toMatchObject({ applied: 1, set_active: 1 });
    // The file as it was before the edit is the base.
    expect(report.prompts[0]?.changes[0]).not.toHaveProperty('wanted_since');
    expect(report.next_steps).toHaveLength(4);
    git(scene.folder, ...(/run: git (.*)$/.exec(report.next_steps?.[0] ?? '')?.[1] ?? '').split(' '), '--quiet');
    expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('If a hook rejects the commit or the branch exists, rollback --now restores the files and the branch', async () => {
    const scene = await makeIncident();
    addHook(scene.folder, 'echo "Name a ticket." >&2; exit 1', 'commit-msg');
    const before = readState(scene);
    const rejected = await scene.runJson(...NOW, '--yes');
    expect(summarizeRun(rejected)).toBe('exit 1, greeting not_attempted, rollback/not-committed');
    expect(rejected.report.problems[0]?.message).toContain('Name a ticket.');
    expect(readState(scene)).toEqual(before);
    addHook(scene.folder, `echo formatted >> ${PATH}; exit 1`, 'commit-msg');
    const kept = await scene.run(...NOW, '--yes');
    expect(kept.stderr + kept.stdout).toContain(`did not restore \`${PATH}\``);
    expect(kept.stderr + kept.stdout).toContain(`\`git restore ${PATH}\``);
    expect(kept.stderr + kept.stdout).not.toContain('nothing was written');
    expect([scene.read(), git(scene.folder, 'branch')]).toEqual([expect.stringContaining('formatted'), '* main']);
    rmSync(join(scene.folder, '.git/hooks/commit-msg'));
    git(scene.folder, 'restore', PATH);
    git(scene.folder, 'branch', BRANCH);
    const existing = await scene.runJson(...NOW, '--yes');
    expect(summarizeRun(existing)).toBe('exit 1, greeting not_attempted, rollback/branch-exists');
    expect(existing.report.problems[0]?.hint).toContain(`\`--branch ${BRANCH}-2\``);
    expect(scene.service.takeWrites()).toEqual([]);
    const named = await scene.runJson(...NOW, '--yes', '--branch', 'hot-fix');
    expect([summarizeRun(named), named.report.committed?.branch]).toEqual([APPLIED, 'hot-fix']);
  });

  test('rollback --now changes only production, even if the file has unsynced edits to its text and fields', async () => {
    const config = `${CONFIG}environments: { production: {}, staging: {} }\n`;
    const scene = await makeIncident({ config });
    scene.commit({ ...pinned(4), text: 'Six.', name: 'A new name', metadata: { model: 'new' } });
    git(scene.folder, 'push', '--quiet');
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    const served = ['production', 'staging', 'promptsync'].map((environment) => scene.serves(environment));
    expect(served).toEqual(['v2', 'v5', 'v5']);
    // A version that is active nowhere is checked in the probe environment before it goes live.
    expect(scene.service.takeWrites()).toEqual([
      'set-active prm_greeting promptsync-look',
      'set-active prm_greeting production',
    ]);
    const again = await scene.runJson(...NOW, '--to', '2', '--yes');
    expect(summarizeRun(again)).toBe('exit 0, greeting unchanged');
  });

  test('rollback --now blocks a prompt if the remote has a newer commit to its file, unless --to names the version', async () => {
    const scene = await makeIncident();
    pushFromElsewhere(scene.origin, pinned(3));
    const before = readState(scene);
    const ran = await scene.runJson(...NOW, '--yes');
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked rollback/newer-files');
    expect(ran.report.prompts[0]?.problems[0]?.hint).toContain('`git pull`');
    git(scene.folder, 'remote', 'set-url', 'origin', '/nowhere');
    const silent = await scene.runJson(...NOW, '--dry-run');
    expect(summarizeRun(silent)).toBe('exit 0, greeting pending, rollback/remote-silent');
    expect(silent.report.problems[0]?.hint).not.toContain('KEY');
    expect(readState(scene)).toEqual(before);
    expect(scene.service.takeWrites()).toEqual([]);
    expect(summarizeRun(await scene.runJson(...NOW, '--to', '1', '--yes'))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v1');
  });

  test('rollback --now activates nothing if somebody edits the file or activates another version during the confirmation', async () => {
    const scene = await makeIncident();
    const runDuring = (change: () => void) =>
      runJson(scene.folder, NOW, {
        environment: scene.service.environment,
        terminal: true,
        input: 'y\n',
        onError: (text) => text.includes('[y/N]') && change(),
      });
    const edited = await runDuring(() => scene.write({ ...pinned(4), text: 'Changed.' }));
    expect(summarizeRun(edited)).toBe('exit 4, greeting failed edit/changed-meanwhile');
    expect(scene.read()).toContain('Changed.');
    expect([git(scene.folder, 'branch'), scene.serves('production')]).toEqual(['* main', 'v4']);
    git(scene.folder, 'restore', PATH);
    const moved = await runDuring(() => scene.activate('production', 3));
    expect(summarizeRun(moved)).toBe('exit 3, greeting blocked guard/stale-plan rollback/not-live');
    expect(scene.serves('production')).toBe('v3');
  });

  test('If the activation fails, rollback --now keeps the commit and reports the command that retries the activation', async () => {
    const scene = await makeIncident();
    let isBroken = true;
    const isActivation = (body: unknown) => JSON.stringify(body ?? {}).includes('"production"');
    const { environment } = await startFrontFor(scene.service, ({ body }) =>
      isBroken && isActivation(body) ? { status: 403, body: '{}' } : null,
    );
    const { exitCode, report } = await runJson(scene.folder, [...NOW, '--yes'], { environment });
    expect([exitCode, report.prompts[0]?.status, report.committed?.branch]).toEqual([4, 'failed', BRANCH]);
    expect(report.prompts[0]?.problems.at(-1)?.code).toBe('rollback/not-live');
    expect([git(scene.folder, 'branch', '--show-current'), scene.serves('production')]).toEqual([BRANCH, 'v4']);
    const command = /`promptsync ([^`]+)`/.exec(report.prompts[0]?.problems.at(-1)?.hint ?? '')?.[1] ?? '';
    expect(command).toBe('rollback greeting --environment production --to 2 --now');
    isBroken = false;
    const again = await runJson(scene.folder, [...command.split(' '), '--yes'], { environment });
    expect(summarizeRun(again)).toBe(APPLIED);
    expect(again.report.committed).toBeUndefined();
    expect(again.report.next_steps).toEqual([expect.stringMatching(/^promptsync made no commit/)]);
    expect(scene.serves('production')).toBe('v2');
  });
});
