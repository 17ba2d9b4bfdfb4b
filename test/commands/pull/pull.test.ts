import { describe, expect, test } from 'vitest';
import { git } from '../../support/folder.ts';
import { promptText } from '../../support/prompts.ts';
import { run } from '../../support/run.ts';
import {
  changeOutside,
  conflict,
  edit,
  makeSynced,
  only,
  PATH,
  pull,
  settle,
  source,
  TEXT,
  textIn,
  writeSource,
} from './pulling.ts';

const two = (text: string) => TEXT.replace('Two.', text);

describe('pull from the command line', () => {
  test('pull --dry-run shows a service edit and pull --branch commits only the edited file to a new branch', async () => {
    const scene = await makeSynced();
    const before = source(scene);
    expect((await pull(scene, '--branch', 'pulled')).exitCode).toBe(0);
    expect(git(scene.folder, 'branch', '--list', 'pulled')).toBe('');
    changeOutside(scene, { content: two('2.') });
    const dry = await run(scene.folder, ['pull', '--dry-run'], scene.service);
    expect(dry.exitCode).toBe(0);
    expect(dry.stdout).toMatch(/staging v2[^]*^ *- *Two\.$[^]*^ *\+ *2\.$/m);
    expect(source(scene)).toBe(before);
    writeSource(scene, 'x', 'notes.txt');
    const { exitCode, report, stderr } = await pull(scene, '--branch', 'pulled');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('You are now on the branch pulled');
    expect(source(scene)).toBe(before.replace('Two.', '2.'));
    expect(report.committed).toEqual({ commit: git(scene.folder, 'rev-parse', 'HEAD'), branch: 'pulled' });
    expect(git(scene.folder, 'log', '-1', '--format=%s', '--name-only')).toBe(
      `Pull greeting from the service\n\n${PATH}`,
    );
    expect(git(scene.folder, 'rev-parse', 'main')).toBe(git(scene.folder, 'rev-parse', 'pulled~1'));
    expect(git(scene.folder, 'status', '--porcelain')).toBe('?? notes.txt');
  });

  test('pull writes and does not commit conflict markers, which validate, plan and pull reject until they are resolved', async () => {
    const scene = await makeSynced();
    changeOutside(scene, { content: two('Theirs.') });
    const head = edit(scene, { text: two('Ours.') });
    const before = source(scene);
    const both = await pull(scene, '--ours', '--theirs');
    expect(both).toMatchObject({ exitCode: 1, report: { mode: 'pull', problems: [{ code: 'usage/invalid' }] } });
    const page = await run(scene.folder, ['pull', '--dry-run', '--format', 'markdown'], scene.service);
    expect(page.exitCode).toBe(4);
    expect(page.stdout).toContain('text: `staging v2` (1 conflict) |\n');
    expect(page.stdout).not.toContain('resolve the conflicts');
    expect(only(await pull(scene, '--dry-run')).problems).toMatchObject([{ code: 'pull/would-conflict' }]);
    expect(source(scene)).toBe(before);
    const { exitCode, report } = await pull(scene, '--commit');
    expect({ exitCode, committed: report.committed }).toEqual({ exitCode: 4, committed: undefined });
    expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
    expect(textIn(scene)).toBe(two(conflict('Ours.', 'Theirs.')));
    for (const command of ['validate', 'plan', 'pull']) {
      const refused = await run(scene.folder, [command, '--format', 'json'], scene.service);
      expect(refused).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('prompt/conflict-markers') });
    }
    writeSource(scene, source(scene).replace(conflict('Ours.', 'Theirs.'), 'Both.'));
    await settle(scene);
    expect(textIn(scene)).toBe(two('Both.'));
  });

  test('pull fails for a prompt that is missing from the service, and pulls the prompts and the environment that the user names', async () => {
    const scene = await makeSynced();
    changeOutside(scene, { content: two('2.') });
    changeOutside(scene, { content: two('Tried.'), environments: ['playground'] });
    writeSource(scene, promptText('missing'), 'prompts/missing.md');
    expect((await pull(scene, 'missing')).exitCode).toBe(1);
    expect((await pull(scene, '--environment', 'promptsync')).exitCode).toBe(1);
    expect(textIn(scene)).toBe(TEXT);
    const { exitCode, report } = await pull(scene);
    expect(exitCode).toBe(4);
    expect(report.prompts.map(({ key, status }) => [key, status])).toEqual([
      ['greeting', 'applied'],
      ['missing', 'failed'],
    ]);
    expect(textIn(scene)).toBe(two('2.'));
    git(scene.folder, 'restore', PATH);
    const playground = await pull(scene, 'greeting', '--environment', 'playground');
    expect([playground.exitCode, playground.report.prompts.map(({ key }) => key)]).toEqual([0, ['greeting']]);
    expect(source(scene)).toBe(promptText('greeting', { text: two('Tried.') }));
  });
});
