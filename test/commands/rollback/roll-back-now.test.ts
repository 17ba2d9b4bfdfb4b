import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { KILLED, startCli } from '../../support/cli.ts';
import {
  commitAll,
  configure,
  git,
  initRepository,
  makeFolder,
  makeRepository,
  makeWorkspace,
  writeFiles,
} from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import {
  makePromotionScene,
  PATH,
  PROMOTION,
  summarizeRun,
  type Scene,
  type SceneOptions,
} from '../../support/promotion.ts';

const NOW = ['rollback', 'greeting', '--environment', 'production', '--now'] as const;
const BRANCH = 'rollback-production-greeting';
const TEXTS = ['One.', 'Two.', 'Three.', 'Four.', 'Five.'];
const pinned = (production: number | string) => ({ text: 'Five.', pins: { staging: 'latest', production } });
const APPLIED = 'exit 0, greeting applied';

/** Adds a bare remote, and pushes the main branch to it. Returns its path. */
function addOrigin(folder: string): string {
  const origin = join(makeFolder(), 'origin.git');
  git(folder, 'clone', '--quiet', '--bare', folder, origin);
  git(folder, 'remote', 'add', 'origin', `file://${origin}`);
  git(folder, 'fetch', '--quiet', 'origin');
  git(folder, 'branch', '--quiet', '--set-upstream-to', 'origin/main');
  return origin;
}

/** Makes a clone whose production has a bad version 4 after version 2, and which is up to date with its remote. */
async function makeIncident(options: SceneOptions = {}): Promise<Scene & { readonly origin: string }> {
  const scene = await makePromotionScene(pinned(2), options);
  scene.make(TEXTS);
  scene.activate('staging', 5);
  scene.activate('production', 4);
  scene.commit(pinned(4));
  return { ...scene, origin: addOrigin(scene.folder) };
}

/** Pushes a commit from another clone. */
function pushFromElsewhere(origin: string, parts: Parameters<typeof promptText>[1]): void {
  const clone = join(makeFolder(), 'colleague');
  git(makeFolder(), 'clone', '--quiet', origin, clone);
  writeFiles(clone, { [PATH]: promptText('greeting', parts) });
  commitAll(clone, 'Edit');
  git(clone, 'push', '--quiet');
}

function addHook(folder: string, name: string, script: string): void {
  writeFiles(folder, { [`.git/hooks/${name}`]: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, '.git/hooks', name), 0o755);
}

/** Returns what a rollback must not change if it does nothing: the branches, the work tree and production. */
function readState({ folder, read, serves }: Scene): readonly string[] {
  return [git(folder, 'branch'), git(folder, 'status', '--short'), read(), serves('production')];
}

describe('rollback --now', () => {
  test('rollback --now commits the pin on a new branch and activates the version after the user confirms the plan', async () => {
    const scene = await makeIncident();
    const head = git(scene.folder, 'rev-parse', 'HEAD');
    const options = { environment: scene.service.environment, terminal: true, input: 'y\n' };
    const ran = await run(scene.folder, NOW, options);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('Apply? 1 prompt changes in production. [y/N]');
    expect(scene.serves('production')).toBe('v2');
    expect(git(scene.folder, 'branch', '--show-current')).toBe(BRANCH);
    expect(git(scene.folder, 'rev-parse', 'HEAD~1')).toBe(head);
    expect(git(scene.folder, 'log', '-1', '--format=%s')).toBe('Roll greeting back in production (v4 → v2)');
    expect(git(scene.folder, 'status', '--short')).toBe('');
    expect(git(scene.folder, 'show', '--format=', '--name-only')).toBe(PATH);
  });

  test('rollback --now changes nothing if the user declines the plan', async () => {
    const scene = await makeIncident();
    const before = readState(scene);
    const options = { environment: scene.service.environment, terminal: true, input: 'n\n' };
    expect(await run(scene.folder, NOW, options)).toMatchObject({ exitCode: 1, stdout: 'Nothing was applied.\n' });
    expect(readState(scene)).toEqual(before);
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('If production already serves the version, rollback --now reports only a pin edit and suggests no sync', async () => {
    const scene = await makeIncident();
    scene.activate('production', 2);
    for (const [flag, outcome] of [
      ['--dry-run', 'Plan: 1 of 1 prompt changes (1 pin edit).'],
      ['--yes', 'Applied: 1 prompt (1 pin edit).'],
    ] as const) {
      const { stdout, stderr } = await scene.run(...NOW, '--to', '2', flag);
      expect(stdout).toContain(outcome);
      expect(`${stdout}${stderr}`).not.toContain('promptsync sync');
    }
  });

  test('rollback --now requires --yes if there is no terminal', async () => {
    const scene = await makeIncident();
    expect(summarizeRun(await scene.runJson(...NOW))).toBe('exit 1, usage/confirmation-needed');
  });

  test('rollback --now --dry-run shows the edit and the activation without writing', async () => {
    const scene = await makeIncident();
    const before = readState(scene);
    const ran = await scene.runJson(...NOW, '--dry-run');
    expect(summarizeRun(ran)).toBe('exit 0, greeting pending');
    expect(ran.report.prompts[0]).toMatchObject({
      edits: [{ kind: 'set-pin', before: '4', after: '2' }],
      changes: [{ kind: 'set-active', before: { version_number: 4 }, after: { version_number: 2 } }],
    });
    expect(ran.report.summary.set_active).toBe(1);
    expect(readState(scene)).toEqual(before);
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('The JSON report of rollback --now contains the edits, the changes, the commit and the next steps', async () => {
    const scene = await makeIncident();
    const { exitCode, report } = await scene.runJson(...NOW, '--yes');
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ mode: 'rollback', environments: ['production'], committed: { branch: BRANCH } });
    expect(report.summary).toMatchObject({ applied: 1, set_active: 1 });
    const [prompt] = report.prompts;
    expect(prompt?.edits).toMatchObject([{ kind: 'set-pin', environment: 'production', before: '4', after: '2' }]);
    expect(prompt?.changes).toMatchObject([{ kind: 'set-active', status: 'made', before_text: 'Four.' }]);
    // The file as it was before the edit is the base.
    expect(prompt?.changes[0]).not.toHaveProperty('wanted_since');
    expect(report.next_steps).toEqual([
      `Committed ${report.committed?.commit.slice(0, 12)} on ${BRANCH}. To go back, run: git checkout -`,
      `Next: git push -u origin ${BRANCH}`,
      'Next: open a pull request from this branch.',
      'If main is synced before this branch is merged, the sync undoes the rollback.',
    ]);
  });

  test.each([
    [
      'rollback --now prints the gh command that opens the pull request on GitHub',
      'https://github.com/acme/prompts.git',
      'gh pr create --fill --base main',
    ],
    [
      'rollback --now prints the glab command that opens the merge request on GitLab',
      'https://gitlab.acme.example/acme/prompts.git',
      'glab mr create --fill --target-branch main',
    ],
  ])('%s', async (_, url, command) => {
    const scene = await makeIncident();
    configure(scene.folder, { [`url.file://${scene.origin}.insteadOf`]: url });
    git(scene.folder, 'remote', 'set-url', 'origin', url);
    expect((await scene.runJson(...NOW, '--yes')).report.next_steps).toContain(`Next: ${command}`);
  });

  test('If the file did not pin the environment, rollback --now does not say that a sync would undo the rollback', async () => {
    const scene = await makeIncident();
    scene.commit({ ...pinned(4), pins: { staging: 'latest' } });
    git(scene.folder, 'push', '--quiet');
    const { report } = await scene.runJson(...NOW, '--yes');
    expect(report.committed).toBeDefined();
    expect(report.next_steps?.join(' ')).not.toContain('undoes the rollback');
  });

  test('The command with which rollback --now suggests to go back works from a detached HEAD', async () => {
    const scene = await makeIncident();
    git(scene.folder, 'checkout', '--quiet', '--detach');
    const head = git(scene.folder, 'rev-parse', 'HEAD');
    const { report } = await scene.runJson(...NOW, '--yes');
    git(scene.folder, ...(/run: git (.*)$/.exec(report.next_steps?.[0] ?? '')?.[1] ?? '').split(' '), '--quiet');
    expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('rollback --now suggests neither a push nor a pull request if the repository has no remote', async () => {
    const scene = await makeIncident();
    git(scene.folder, 'remote', 'remove', 'origin');
    const { report } = await scene.runJson(...NOW, '--yes');
    expect(report.next_steps).toEqual([
      expect.stringContaining(`on ${BRANCH}.`),
      'If main is synced before this branch is merged, the sync undoes the rollback.',
    ]);
  });

  test('rollback --now changes only production, even if the file has unsynced edits to its text and fields', async () => {
    const config = `${CONFIG}environments: { production: {}, staging: {} }\n`;
    const scene = await makeIncident({ config });
    scene.commit({ ...pinned(4), text: 'Six.', name: 'A new name', metadata: { model: 'new' } });
    git(scene.folder, 'push', '--quiet');
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    expect([scene.serves('production'), scene.serves('staging'), scene.serves('promptsync')]).toEqual([
      'v2',
      'v5',
      'v5',
    ]);
    // A version that is active nowhere is checked in the probe environment before it goes live.
    expect(scene.service.takeWrites()).toEqual([
      'set-active prm_greeting promptsync-look',
      'set-active prm_greeting production',
    ]);
  });

  test('rollback --now creates no baseline for a prompt that promptsync has never synced', async () => {
    const scene = await makePromotionScene({ text: 'Two.', pins: { production: 2 } }, { config: CONFIG });
    const { store } = scene.service;
    const [one, two] = ['One.', 'Two.'].map((content) =>
      store.createVersion('prm_greeting', { content, metadata: {} })!,
    );
    store.setActive('prm_greeting', { environment: 'staging', versionId: one!.id });
    store.setActive('prm_greeting', { environment: 'production', versionId: two!.id });
    scene.commit({ text: 'Two.', pins: { staging: 1, production: 2 } });
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    expect(store.readPrompt('prm_greeting', 'production')?.active_version?.version_number).toBe(1);
    expect(scene.service.takeWrites()).toEqual(['set-active prm_greeting production']);
  });

  test('If the file already pins the version, rollback --now activates it and explains why it made no commit', async () => {
    const scene = await makeIncident();
    scene.commit(pinned(2));
    git(scene.folder, 'push', '--quiet');
    const ran = await scene.runJson(...NOW, '--yes');
    expect(summarizeRun(ran)).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v2');
    expect(ran.report.committed).toBeUndefined();
    expect(ran.report.next_steps).toEqual([expect.stringMatching(/^promptsync made no commit.*git pull/)]);
    expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
  });
});

describe('rollback --now with portable pins', () => {
  test('With portable pins, rollback --now pins the previous commit and activates the version with its text', async () => {
    const config = `${CONFIG}portable_pins: true\n`;
    const scene = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } }, { config });
    const first = git(scene.folder, 'rev-parse', 'HEAD');
    scene.make(['One.', 'Two.']);
    const second = scene.commit({ text: 'Two.', pins: { staging: 'latest', production: `git:${first}` } });
    scene.commit({ text: 'Two.', pins: { staging: 'latest', production: `git:${second}` } });
    scene.activate('staging', 2);
    scene.activate('production', 2);
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    expect(scene.read()).toContain(`"production":"git:${first}"`);
    expect(scene.serves('production')).toBe('v1');
    expect(summarizeRun(await scene.runJson(...NOW, '--to', '1', '--yes'))).toBe('exit 0, greeting unchanged');
  });
});

describe('the remote of rollback --now', () => {
  test('rollback --now blocks a prompt if the remote has a newer commit to its file, unless --to names the version', async () => {
    const scene = await makeIncident();
    pushFromElsewhere(scene.origin, pinned(3));
    const before = readState(scene);
    for (const flag of ['--dry-run', '--yes']) {
      const ran = await scene.runJson(...NOW, flag);
      expect(summarizeRun(ran)).toBe('exit 3, greeting blocked rollback/newer-files');
      expect(ran.report.prompts[0]?.problems[0]?.hint).toContain('`git pull`');
    }
    expect(readState(scene)).toEqual(before);
    expect(scene.service.takeWrites()).toEqual([]);
    expect(summarizeRun(await scene.runJson(...NOW, '--to', '1', '--yes'))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v1');
  });

  test('rollback --now also checks the remote for newer commits if the service is embedded', async () => {
    const config = `${CONFIG}service: { embedded: .promptsync/service.db }\n`;
    const files = (text: string) => workspaceFiles({ greeting: { text, pins: { production: 'latest' } } }, config);
    const folder = makeRepository({ ...files('One.'), '.gitignore': '.promptsync\n' });
    const origin = addOrigin(folder);
    for (const text of ['One.', 'Two.']) {
      writeFiles(folder, files(text));
      commitAll(folder, text);
      git(folder, 'push', '--quiet');
      expect((await runJson(folder, ['sync', '--yes'])).exitCode).toBe(0);
    }
    pushFromElsewhere(origin, { text: 'Three.', pins: { production: 'latest' } });
    expect(summarizeRun(await runJson(folder, [...NOW, '--yes']))).toContain('rollback/newer-files');
    git(folder, 'pull', '--quiet');
    expect(summarizeRun(await runJson(folder, [...NOW, '--yes']))).toBe(APPLIED);
  });

  test('rollback --now accepts an edit on an unmerged branch if no newer commit on the remote changes the file', async () => {
    const scene = await makeIncident();
    pushFromElsewhere(scene.origin, pinned(4));
    git(scene.folder, 'switch', '--quiet', '--create', 'feature');
    scene.commit({ ...pinned(4), text: 'A new text.' });
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    expect(git(scene.folder, 'log', '-1', '--format=%s', 'HEAD~1')).toBe('Edit');
  });

  test('rollback --now says that the new branch contains earlier commits that are not merged', async () => {
    const scene = await makeIncident();
    scene.commit({ ...pinned(4), name: 'Not merged' });
    const { report } = await scene.runJson(...NOW, '--yes');
    expect(report.next_steps).toContain('The branch also contains your earlier commits that are not on main yet.');
  });

  test('rollback --now warns and continues if the remote does not respond', async () => {
    const scene = await makeIncident();
    git(scene.folder, 'remote', 'set-url', 'origin', '/nowhere');
    const ran = await scene.runJson(...NOW, '--yes');
    expect(summarizeRun(ran)).toBe(`${APPLIED}, rollback/remote-silent`);
    expect(ran.report.problems[0]?.hint).not.toContain('KEY');
    expect(scene.serves('production')).toBe('v2');
  });
});

describe('the branch of rollback --now', () => {
  test('rollback --now fails if its new branch already exists, but accepts another name from --branch', async () => {
    const scene = await makeIncident();
    git(scene.folder, 'branch', BRANCH);
    const before = readState(scene);
    const ran = await scene.runJson(...NOW, '--yes');
    expect(summarizeRun(ran)).toBe('exit 1, greeting not_attempted, rollback/branch-exists');
    expect(ran.report.problems[0]?.hint).toContain(`\`--branch ${BRANCH}-2\``);
    expect(readState(scene)).toEqual(before);
    const named = await scene.runJson(...NOW, '--yes', '--branch', 'hot-fix');
    expect([summarizeRun(named), named.report.committed?.branch]).toEqual([APPLIED, 'hot-fix']);
  });

  test('rollback --now derives the branch name from the first key and replaces special characters with hyphens', async () => {
    const parts = { ...pinned(2), key: 'support/größe v2' };
    const scene = await makeIncident({ others: { other: parts } });
    scene.make(TEXTS, 'other');
    scene.activate('production', 3, 'other');
    const words = ['rollback', 'support/größe v2', 'greeting', '-e', 'production', '--to', '1', '--now', '--yes'];
    const { report } = await scene.runJson(...words);
    expect(report.committed?.branch).toBe('rollback-production-support-gr--e-v2');
  });

  test.each([
    ['commit-msg', 'echo "Name a ticket." >&2; exit 1', 'Name a ticket.'],
    ['pre-commit', 'exit 1', 'git created no commit'],
  ])(
    'If the %s hook rejects the commit, rollback --now restores the files and the branch',
    async (name, script, reason) => {
      const scene = await makeIncident();
      addHook(scene.folder, name, script);
      const before = readState(scene);
      const ran = await scene.runJson(...NOW, '--yes');
      expect(summarizeRun(ran)).toBe('exit 1, greeting not_attempted, rollback/not-committed');
      expect(ran.report.problems[0]?.message).toContain(reason);
      expect(readState(scene)).toEqual(before);
      expect(scene.service.takeWrites()).toEqual([]);
    },
  );

  test('If a hook edits the file and rejects the commit, rollback --now keeps the edit and names the file', async () => {
    const scene = await makeIncident();
    addHook(scene.folder, 'pre-commit', `echo formatted >> ${PATH}; exit 1`);
    const { stdout, stderr } = await scene.run(...NOW, '--yes');
    expect(stderr + stdout).toContain(`did not restore \`${PATH}\``);
    expect(stderr + stdout).toContain(`\`git restore ${PATH}\``);
    expect(stderr + stdout).not.toContain('nothing was written');
    expect(scene.read()).toContain('formatted');
    expect(git(scene.folder, 'branch')).toBe('* main');
  });
});

describe('the guards of rollback --now', () => {
  test('rollback --now leaves the file of a blocked prompt unchanged and rolls back the other prompt', async () => {
    const others = { other: pinned(4) };
    const scene = await makeIncident({ others });
    scene.make(TEXTS, 'other');
    scene.activate('staging', 5, 'other');
    scene.activate('production', 4, 'other');
    scene.commit({ ...pinned(4), text: 'Five.\n\nUncommitted.' });
    scene.write({ ...pinned(4), text: 'Changed.' });
    const words = ['rollback', 'greeting', 'other', '-e', 'production', '--to', '3', '--now', '--yes'];
    const ran = await scene.runJson(...words);
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked guard/uncommitted-edit, other applied');
    expect([scene.serves('production'), scene.serves('production', 'other')]).toEqual(['v4', 'v3']);
    expect(git(scene.folder, 'show', '--format=', '--name-only')).toBe('prompts/other.md');
    expect(scene.read()).toContain('Changed.');
  });

  test.each<[string, string, (scene: Scene) => void, string, string]>([
    [
      'If an uncommitted edit blocks every prompt, rollback --now creates no branch and suggests a next step that is still possible',
      '',
      (scene) => scene.write({ ...pinned(4), text: 'Changed.' }),
      ...(['guard/uncommitted-edit', 'without `--commit`, `--branch`, and `--now`'] as const),
    ],
    [
      'If drift blocks every prompt, rollback --now creates no branch and suggests a next step that is still possible',
      'on_drift: fail\n',
      (scene) => void scene.make(['Hot fix.']),
      'guard/drift',
      'without `--now`',
    ],
    [
      'If max_changes blocks every prompt, rollback --now creates no branch and suggests a next step that is still possible',
      'max_changes: 0\n',
      () => {},
      'guard/max-changes',
      '`max_changes` in `promptsync.yaml`',
    ],
  ])('%s', async (_, settings, prepare, code, step) => {
    const scene = await makeIncident({ config: PROMOTION + settings });
    prepare(scene);
    if (code === 'guard/drift') {
      const { store } = scene.service;
      const version = store.createVersion('prm_greeting', { content: 'Hot fix.', metadata: {} })!;
      store.setActive('prm_greeting', { environment: 'production', versionId: version.id });
    }
    const before = readState(scene);
    const ran = await scene.runJson(...NOW, '--to', '1', '--yes');
    expect(summarizeRun(ran)).toBe(`exit 3, greeting blocked ${code}`);
    expect(ran.report.prompts[0]?.problems[0]?.hint).toContain(step);
    expect(readState(scene)).toEqual(before);
  });

  test('rollback --now blocks a prompt if no version contains the text to restore', async () => {
    const config = `${CONFIG}portable_pins: true\n`;
    const scene = await makePromotionScene({ text: 'Never synced.', pins: { staging: 'latest' } }, { config });
    const first = git(scene.folder, 'rev-parse', 'HEAD');
    scene.make(['One.']);
    const second = scene.commit({ text: 'One.', pins: { staging: 'latest', production: `git:${first}` } });
    scene.commit({ text: 'One.', pins: { staging: 'latest', production: `git:${second}` } });
    scene.activate('staging', 1);
    scene.activate('production', 1);
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe('exit 3, greeting blocked rollback/new-version');
    expect(git(scene.folder, 'branch')).toBe('* main');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('rollback --now fails outside a git repository and in combination with --commit', async () => {
    const outside = await makePromotionScene(pinned(4), { makeFolder: makeWorkspace, config: CONFIG });
    outside.make(TEXTS);
    outside.activate('production', 4);
    const ran = await outside.runJson(...NOW, '--yes');
    expect(summarizeRun(ran)).toBe('exit 1, greeting not_attempted, git/needs-repository');
    expect(summarizeRun(await outside.runJson(...NOW, '--commit'))).toBe('exit 1, usage/invalid');
  });
});

describe('an interrupted rollback --now', () => {
  test('If the activation fails, rollback --now keeps the commit and reports the command that retries the activation', async () => {
    const scene = await makeIncident();
    let isBroken = true;
    const isActivation = (body: unknown) => JSON.stringify(body ?? {}).includes('"production"');
    const front = await startFront({
      target: scene.service.baseUrl,
      answer: ({ body }) => (isBroken && isActivation(body) ? { status: 403, body: '{}' } : null),
    });
    const environment = { ...scene.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    const ran = await runJson(scene.folder, [...NOW, '--yes'], { environment });
    expect([ran.exitCode, ran.report.prompts[0]?.status]).toEqual([4, 'failed']);
    expect(ran.report.prompts[0]?.problems.at(-1)?.code).toBe('rollback/not-live');
    expect(ran.report.committed?.branch).toBe(BRANCH);
    expect([git(scene.folder, 'branch', '--show-current'), scene.serves('production')]).toEqual([BRANCH, 'v4']);
    const hint = ran.report.prompts[0]?.problems.at(-1)?.hint ?? '';
    const command = /`promptsync ([^`]+)`/.exec(hint)?.[1] ?? '';
    expect(command).toBe('rollback greeting --environment production --to 2 --now');
    isBroken = false;
    for (const expected of [APPLIED, 'exit 0, greeting unchanged']) {
      expect(summarizeRun(await runJson(scene.folder, [...command.split(' '), '--yes'], { environment }))).toBe(
        expected,
      );
      expect(scene.serves('production')).toBe('v2');
    }
  });

  test('Running rollback --now again completes a run that was killed before the activation', async () => {
    const scene = await makeIncident();
    const arrived = Promise.withResolvers<void>();
    const front = await startFront({
      target: scene.service.baseUrl,
      answer: ({ method }) => {
        if (method === 'GET') return null;
        arrived.resolve();
        return new Promise(() => {});
      },
    });
    const environment = { ...scene.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    const { child, ended } = startCli(scene.folder, [...NOW, '--yes'], { environment });
    await arrived.promise;
    child.kill('SIGKILL');
    expect((await ended).exitCode).toBe(KILLED);
    expect([git(scene.folder, 'branch', '--show-current'), scene.serves('production')]).toEqual([BRANCH, 'v4']);
    // The lock of a killed process expires after five seconds.
    rmSync(join(scene.folder, 'promptsync.lock'), { recursive: true });
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v2');
    expect(git(scene.folder, 'rev-list', '--count', 'main..')).toBe('1');
  });

  test('rollback --now creates no branch if somebody edits the file during the confirmation', async () => {
    const scene = await makeIncident();
    const ran = await runJson(scene.folder, NOW, {
      environment: scene.service.environment,
      terminal: true,
      input: 'y\n',
      onError: (text) => text.includes('[y/N]') && scene.write({ ...pinned(4), text: 'Changed.' }),
    });
    expect(summarizeRun(ran)).toBe('exit 4, greeting failed edit/changed-meanwhile');
    expect(scene.read()).toContain('Changed.');
    expect([git(scene.folder, 'branch'), scene.serves('production')]).toEqual(['* main', 'v4']);
  });

  test('rollback --now activates nothing if somebody activates another version during the confirmation', async () => {
    const scene = await makeIncident();
    const ran = await runJson(scene.folder, NOW, {
      environment: scene.service.environment,
      terminal: true,
      input: 'y\n',
      onError: (text) => text.includes('[y/N]') && scene.activate('production', 3),
    });
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked guard/stale-plan rollback/not-live');
    expect(scene.serves('production')).toBe('v3');
  });

  test('rollback --now changes nothing if the user interrupts the confirmation', async () => {
    const scene = await makeIncident();
    const before = readState(scene);
    let interrupt = (): void => {};
    const ran = await run(scene.folder, NOW, {
      environment: scene.service.environment,
      terminal: true,
      input: new PassThrough(),
      onSignal: (signal) => (interrupt = signal),
      onError: (text) => text.includes('[y/N]') && interrupt(),
    });
    expect(ran.exitCode).toBe(130);
    expect(readState(scene)).toEqual(before);
  });
});

describe('rollback --now with Langfuse', () => {
  test('rollback --now moves only the given Langfuse label back and creates no version', async () => {
    const langfuse = await startLangfuse();
    const folder = makeFolder();
    initRepository(folder);
    const name = 'support/greeting';
    const file = (text: string, production: string | number) =>
      promptText('greeting', { key: name, name, text, pins: { staging: 'latest', production } }).replace(
        'prm_greeting',
        name,
      );
    const config = `${CONFIG}service: { provider: langfuse }\nenvironments: { staging: {}, production: {} }\n`;
    writeFiles(folder, { 'promptsync.yaml': config });
    for (const text of ['One.', 'Two.', 'Three.']) {
      writeFiles(folder, { [PATH]: file(text, 'latest') });
      commitAll(folder, text);
      expect((await runJson(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    }
    writeFiles(folder, { [PATH]: file('Four.', 3) });
    commitAll(folder, 'Four.');
    const words = ['rollback', name, '-e', 'production', '--now', '--yes'];
    const { exitCode, report } = await runJson(folder, words, langfuse);
    expect(exitCode).toBe(0);
    expect(report.prompts[0]?.changes).toMatchObject([
      { kind: 'set-active', environment: 'production', after: { version_number: 2 }, status: 'made' },
    ]);
    expect(report.committed?.branch).toBe('rollback-production-support-greeting');
    const status = await runJson(folder, ['status'], langfuse);
    const rows = status.report.prompts[0]?.environments?.map((row) => [row.environment, row.active?.version_number]);
    expect(rows).toEqual([
      ['staging', 3],
      ['production', 2],
    ]);
  });
});
