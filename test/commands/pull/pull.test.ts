import { describe, expect, test } from 'vitest';
import { commitAll, git } from '../../support/folder.ts';
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
const first = TEXT.replace('One.', '1.');

describe('pull of a text that changed in the service', () => {
  test('pull --dry-run previews a service edit, and pull writes it to the file so that the next plan is empty', async () => {
    const scene = await makeSynced({});
    const before = source(scene);
    changeOutside(scene, { content: two('2.') });
    const dry = await run(scene.folder, ['pull', '--dry-run'], scene.service);
    expect(dry.exitCode).toBe(0);
    expect(dry.stdout).toMatch(/staging v2[^]*^ *- *Two\.$[^]*^ *\+ *2\.$/m);
    expect(source(scene)).toBe(before);
    const ran = await pull(scene);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(only(ran)).toMatchObject({
      status: 'applied',
      edits: [{ kind: 'set-text', from: 'staging v2', conflicts: 0 }],
      changes: [],
      problems: [],
    });
    expect(source(scene)).toBe(before.replace('Two.', '2.'));
    await settle(scene);
  });

  test('pull merges a service edit with committed and uncommitted edits to the file', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: first });
    const mine = promptText('greeting', { text: TEXT.replace('Three.', '3.') });
    writeSource(scene, mine);
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe('1.\n\nTwo.\n\n3.');
    writeSource(scene, mine);
    commitAll(scene.folder, 'Edit');
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe('1.\n\nTwo.\n\n3.');
    await settle(scene);
  });

  test('pull changes nothing if the file already matches the text in the service', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: two('2.') });
    edit(scene, { text: two('2.') });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
    await settle(scene);
  });

  test('pull --environment copies text from an environment that has no pin', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: two('Tried.'), environments: ['playground'] });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged' });
    expect((await pull(scene, '--environment', 'playground')).exitCode).toBe(0);
    expect(source(scene)).toBe(promptText('greeting', { text: two('Tried.') }));
  });
});

describe('pull of a text that changed in the service and in git', () => {
  const makeConflict = async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: two('Theirs.').replace('One.', '1.') });
    edit(scene, { text: two('Ours.').replace('Three.', '3.') });
    return scene;
  };

  test('pull writes conflict markers, which validate, plan and pull reject until they are resolved', async () => {
    const scene = await makeConflict();
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({
      status: 'failed',
      edits: [{ kind: 'set-text', from: 'staging v2', conflicts: 1 }],
      problems: [{ code: 'pull/conflict', severity: 'error', path: PATH }],
    });
    const text = `1.\n\n${conflict('Ours.', 'Theirs.')}\n\n3.`;
    expect(textIn(scene)).toBe(text);
    for (const command of ['validate', 'plan', 'pull']) {
      const refused = await run(scene.folder, [command, '--format', 'json'], scene.service);
      expect(refused).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('prompt/conflict-markers') });
    }
    writeSource(scene, source(scene).replace(conflict('Ours.', 'Theirs.'), 'Both.'));
    await settle(scene);
    expect(textIn(scene)).toBe('1.\n\nBoth.\n\n3.');
  });

  test('pull --dry-run reports a conflict with the same exit code as pull but writes nothing', async () => {
    const scene = await makeConflict();
    const before = source(scene);
    const ran = await pull(scene, '--dry-run');
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({ status: 'failed', problems: [{ code: 'pull/would-conflict' }] });
    const page = await run(scene.folder, ['pull', '--dry-run', '--format', 'markdown'], scene.service);
    expect(page.stdout).toContain('| failed |\n');
    expect(page.stdout).toContain('text: `staging v2` (1 conflict) |\n');
    expect(page.stdout).not.toContain('resolve the conflicts');
    expect(source(scene)).toBe(before);
  });

  test('pull --ours and pull --theirs resolve only the conflict and merge all other changes', async () => {
    const scene = await makeConflict();
    const before = source(scene);
    const both = await pull(scene, '--ours', '--theirs');
    expect(both).toMatchObject({ exitCode: 1, report: { mode: 'pull', problems: [{ code: 'usage/invalid' }] } });
    for (const [flag, line] of [
      ['--ours', 'Ours.'],
      ['--theirs', 'Theirs.'],
    ] as const) {
      writeSource(scene, before);
      expect(await pull(scene, flag)).toMatchObject({ exitCode: 0, report: { prompts: [{ status: 'applied' }] } });
      expect(textIn(scene)).toBe(`1.\n\n${line}\n\n3.`);
    }
  });
});

describe('pull of prompt text that contains conflict markers', () => {
  const block = '<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE';
  const accept_warnings = ['prompt/conflict-markers'];

  test('if text in the service contains conflict markers, pull lists prompt/conflict-markers as accepted, so that the next sync is a no-op', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: two(block) });
    const ran = await pull(scene);
    expect(only(ran)).toMatchObject({ status: 'applied', edits: [{ field: 'accept_warnings' }, { conflicts: 0 }] });
    const before = promptText('greeting', { text: two(block) });
    expect(source(scene)).toBe(before.replace('\n---\n\n', '\naccept_warnings: [prompt/conflict-markers]\n---\n\n'));
    await settle(scene);
  });

  test.each([
    [
      'pull writes no conflict markers of its own into a file that accepts conflict markers',
      { accept_warnings },
      'Theirs.',
    ],
    ['pull writes no conflict markers of its own if the text in the service contains conflict markers', {}, block],
  ])('%s', async (_, parts, theirs) => {
    const scene = await makeSynced(parts);
    changeOutside(scene, { content: two(theirs) });
    edit(scene, { ...parts, text: two('Ours.') });
    const before = source(scene);
    for (const words of [[], ['--dry-run']]) {
      const ran = await pull(scene, ...words);
      expect(ran.exitCode).toBe(3);
      expect(only(ran)).toMatchObject({ status: 'blocked', problems: [{ code: 'pull/side-needed', path: PATH }] });
      expect(source(scene)).toBe(before);
    }
    expect((await pull(scene, '--ours')).exitCode).toBe(0);
    expect(textIn(scene)).toBe(two('Ours.'));
    writeSource(scene, before);
    expect((await pull(scene, '--theirs')).exitCode).toBe(0);
    expect(textIn(scene)).toBe(two(theirs));
    await settle(scene);
  });
});

test('pull preserves the comments, quotes, line endings and byte order mark of a file', async () => {
  const yaml = [
    '# Ours.',
    'id: prm_greeting # never change',
    '',
    "key: 'greeting'",
    'name: greeting',
    'pins: { staging: 1 }',
  ];
  const before = ['\ufeff---', ...yaml, '---', '', ...TEXT.split('\n'), ''].join('\r\n');
  const scene = await makeSynced(before.replace('1 }', 'latest }'));
  changeOutside(scene, { content: two('2.\n2b.') });
  scene.service.store.updatePrompt('prm_greeting', { name: 'Hello' });
  writeSource(scene, before);
  commitAll(scene.folder, 'Pin');
  const ran = await pull(scene);
  expect(ran.exitCode).toBe(0);
  const pin = `version:${scene.service.store.readPrompt('prm_greeting', 'staging')?.active_version?.id}`;
  expect(only(ran).edits).toMatchObject([
    { kind: 'set-field', field: 'name', before: '"greeting"', after: '"Hello"', conflict: false },
    { kind: 'set-text', from: 'staging v2', conflicts: 0 },
    { kind: 'set-pin', environment: 'staging', before: '1', after: pin },
  ]);
  const after = before.replace('1 }', `${pin} }`).replace('Two.', '2.\r\n2b.');
  expect(source(scene)).toBe(after.replace('name: greeting', 'name: Hello'));
  await settle(scene);
});

describe('pull --commit', () => {
  test('pull --commit commits only the edited file', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: two('2.') });
    writeSource(scene, 'x', 'notes.txt');
    const { report, exitCode } = await pull(scene, '--commit');
    expect(exitCode).toBe(0);
    expect(report.committed).toEqual({ commit: git(scene.folder, 'rev-parse', 'HEAD'), branch: 'main' });
    expect(git(scene.folder, 'log', '-1', '--format=%s', '--name-only')).toBe(
      `Pull greeting from the service\n\n${PATH}`,
    );
    expect(git(scene.folder, 'status', '--porcelain')).toBe('?? notes.txt');
  });

  test('pull --commit does not commit an unresolved conflict', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: two('Theirs.') });
    const head = edit(scene, { text: two('Ours.') });
    const { report, exitCode } = await pull(scene, '--commit');
    expect({ exitCode, committed: report.committed }).toEqual({ exitCode: 4, committed: undefined });
    expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
    expect(textIn(scene)).toContain(conflict('Ours.', 'Theirs.'));
  });

  test('pull --branch creates a branch only if there is something to pull', async () => {
    const scene = await makeSynced({});
    expect((await pull(scene, '--branch', 'pulled')).exitCode).toBe(0);
    expect(git(scene.folder, 'branch', '--list', 'pulled')).toBe('');
    changeOutside(scene, { content: two('2.') });
    const { report } = await pull(scene, '--branch', 'pulled');
    expect(report.committed).toMatchObject({ branch: 'pulled' });
    expect(git(scene.folder, 'rev-parse', 'main')).toBe(git(scene.folder, 'rev-parse', 'pulled~1'));
  });

  test('pull --branch commits to the same branch when it is run again after a conflict', async () => {
    const scene = await makeSynced({ text: two('First.') });
    changeOutside(scene, { content: two('Theirs.') });
    edit(scene, { text: two('Ours.') });
    const { report, stderr } = await pull(scene, '--branch', 'pulled');
    expect(report).toMatchObject({ prompts: [{ status: 'failed' }] });
    expect(report).not.toHaveProperty('committed');
    expect(stderr).toContain('You are now on the branch pulled');
    git(scene.folder, 'restore', '.');
    const again = await pull(scene, '--branch', 'pulled', '--theirs');
    expect(again).toMatchObject({ exitCode: 0, report: { committed: { branch: 'pulled' } } });
    expect(textIn(scene)).toContain('Theirs.');
  });
});
