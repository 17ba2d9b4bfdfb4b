import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { commitAll, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';

const tag = (name: string, label = 'staging') => `@@@langfusePrompt:name=${name}|label=${label}@@@`;

/** Makes a committed workspace in which each text is the file of the Langfuse prompt with that name. */
async function makeScene(texts: Readonly<Record<string, string>>) {
  const langfuse = await startLangfuse();
  const folder = makeFolder();
  initRepository(folder);
  const commit = (changed: Readonly<Record<string, string>>): void => {
    const files = Object.entries(changed).map(([name, text]) => [
      `prompts/${name}.md`,
      `---\nid: ${name}\npins: { staging: latest }\n---\n\n${text}\n`,
    ]);
    writeFiles(folder, {
      'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n`,
      ...Object.fromEntries(files),
    });
    commitAll(folder, 'Change the prompts');
  };
  commit(texts);
  return { langfuse, store: langfuse.store, folder, commit };
}

const statusesOf = ({ report }: Awaited<ReturnType<typeof runJson>>) =>
  report.prompts.map(({ key, status }) => `${key} ${status}`);

describe('sync of composed prompts', () => {
  test('sync creates the parts of a composed prompt first, even if their files come later', async () => {
    const { langfuse, folder } = await makeScene({ a: `See ${tag('z')}.`, z: 'Part.' });
    const ran = await runJson(folder, ['sync', '--yes'], langfuse);
    expect([ran.exitCode, statusesOf(ran)]).toEqual([0, ['a applied', 'z applied']]);
    expect(langfuse.takeWrites()).toEqual(['POST z [staging]', 'POST a [staging]']);
  });

  test("sync creates a part before the composed prompt even if the part's name contains an at sign", async () => {
    const { langfuse, folder } = await makeScene({ a: `See ${tag('team@eu')} @@@ ${tag('z')}.`, z: 'Part.' });
    writeFiles(folder, { 'prompts/z2.md': '---\nid: team@eu\npins: { staging: latest }\n---\n\nPart.\n' });
    commitAll(folder, 'Add a part');
    expect((await runJson(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    expect(langfuse.takeWrites()).toEqual(['POST z [staging]', 'POST team@eu [staging]', 'POST a [staging]']);
  });

  test('sync creates parts of parts first with only one request at a time', async () => {
    const { langfuse, folder } = await makeScene({ a: tag('b'), b: tag('c'), c: 'Part.' });
    writeFiles(folder, { 'promptsync.yaml': `${CONFIG}concurrency: 1\nservice: { provider: langfuse }\n` });
    commitAll(folder, 'One request at a time');
    expect((await runJson(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    expect(langfuse.takeWrites()).toEqual(['POST c [staging]', 'POST b [staging]', 'POST a [staging]']);
  });

  test('sync attempts both prompts of a cycle in the order of their paths', async () => {
    const { langfuse, folder } = await makeScene({ a: tag('b'), b: tag('a') });
    const ran = await runJson(folder, ['sync', '--yes'], langfuse);
    expect([ran.exitCode, statusesOf(ran)]).toEqual([4, ['a failed', 'b failed']]);
    expect(langfuse.takeWrites()).toEqual(['POST a [staging]', 'POST b [staging]']);
  });

  test('sync attempts a prompt after the cycle that it includes', async () => {
    const { langfuse, folder, store } = await makeScene({ a: tag('b'), b: tag('c'), c: tag('b') });
    store.addVersion('c', { text: 'No tag yet.', labels: ['staging'] });
    await runJson(folder, ['sync', '--yes'], langfuse);
    expect(langfuse.takeWrites()).toEqual(['POST b [staging]', 'POST c [staging]', 'POST a [staging]']);
  });

  test('sync names a missing part even if its name is long', async () => {
    const name = `long/${'x'.repeat(300)}`;
    const { langfuse, folder } = await makeScene({ a: `See ${tag(name)}.` });
    const { report } = await runJson(folder, ['sync', '--yes'], langfuse);
    expect(report.prompts[0]?.problems.at(-1)).toMatchObject({ code: 'langfuse/missing-part' });
  });

  test('sync writes a composed prompt even if one of its parts fails', async () => {
    const { langfuse, folder, store } = await makeScene({ a: `See ${tag('z')}.`, z: 'New part.' });
    store.addVersion('z', { text: 'Old part.', labels: ['staging'] });
    langfuse.fail({ method: 'GET', path: /prompts\/z/ }, { status: 403 }, 20);
    expect(statusesOf(await runJson(folder, ['sync', '--yes'], langfuse))).toEqual(['a applied', 'z failed']);
  });

  test('sync names the file of a missing part if the user did not select it', async () => {
    const { langfuse, folder } = await makeScene({ a: `See ${tag('z')}.`, z: 'Part.' });
    const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--only', 'a'], langfuse);
    expect(exitCode).toBe(4);
    expect(report.prompts[0]?.problems.at(-1)).toMatchObject({
      code: 'langfuse/missing-part',
      message: expect.stringContaining('"z" (label staging)'),
      hint: expect.stringContaining('prompts/z.md'),
    });
  });

  test('sync reports a missing part that has no file', async () => {
    const { langfuse, folder } = await makeScene({ a: `See ${tag('elsewhere')}.` });
    const { report } = await runJson(folder, ['sync', '--yes'], langfuse);
    expect(report.prompts[0]?.problems.at(-1)).toMatchObject({ code: 'langfuse/missing-part' });
  });
});

describe('the plan of a part', () => {
  test('plan lists the composed prompts that include a changed part, directly or through other parts', async () => {
    const { langfuse, folder, commit } = await makeScene({
      a: `See ${tag('b')}.`,
      b: `See ${tag('z')}.`,
      other: 'See @@@langfusePrompt:name=z|version=1@@@.',
      z: 'Part.',
    });
    langfuse.store.addVersion('z', { text: 'Part.' });
    expect((await runJson(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    commit({ z: 'Changed part.' });
    const { report } = await runJson(folder, ['plan', '--only', 'z'], langfuse);
    expect(report.prompts).toMatchObject([{ key: 'z', affected: [{ key: 'a' }, { key: 'b' }] }]);
    const { stdout } = await run(folder, ['plan'], langfuse);
    expect(stdout).toContain('this also changes 2 composed prompts: a, b.');
  });

  test("if the plan creates a version of a part, plan lists the composed prompts that include the part's newest version", async () => {
    const { langfuse, folder, commit } = await makeScene({ a: `See ${tag('z', 'latest')}.`, z: 'Part.' });
    expect((await runJson(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    commit({ z: 'Changed part.' });
    const { report } = await runJson(folder, ['plan'], langfuse);
    expect(report.prompts).toMatchObject([{ key: 'a' }, { key: 'z', affected: [{ key: 'a' }] }]);
    expect((await runJson(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    langfuse.store.moveLabel('z', 1, 'staging');
    const restored = await runJson(folder, ['plan'], langfuse);
    expect(restored.report.prompts.flatMap(({ affected = [] }) => affected)).toEqual([]);
  });

  test('plan lists no composed prompts if the labels of their parts do not move', async () => {
    const { langfuse, folder, commit } = await makeScene({ a: `See ${tag('z')}.`, z: 'Part.' });
    expect((await runJson(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    commit({ a: `Changed. See ${tag('z')}.` });
    const { report } = await runJson(folder, ['plan'], langfuse);
    expect(report.prompts.flatMap(({ affected = [] }) => affected)).toEqual([]);
  });
});
