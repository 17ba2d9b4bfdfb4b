import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cloneOf, commitAll, git, makeRepository, makeWorkspace } from '../../support/folder.ts';
import { handOn, startFrontFor } from '../../support/front.ts';
import { promptText, workspaceFiles } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';
import { startTestService } from '../../support/service.ts';
import {
  change,
  changeOutside,
  edit,
  makeSynced,
  only,
  PATH,
  pull,
  source,
  sync,
  TEXT,
  textIn,
  writeSource,
  type Scene,
} from './pulling.ts';

const theirs = change(TEXT, { 'One.': 'Theirs.' });
const ours = change(TEXT, { 'Three.': 'Ours.' });
const merged = change(theirs, { 'Three.': 'Ours.' });

/** Makes a scene of a prompt that was never synced. */
async function makeUnsynced(folder: string): Promise<Scene> {
  return { folder, service: await startTestService(['greeting']) };
}

/** Starts a proxy that edits the answers to GET requests. */
function through({ service }: Scene, editAnswer: (body: string) => string) {
  return startFrontFor(service, async (request) => {
    const { status, body } = await handOn(request, service.baseUrl);
    return { status, body: request.method === 'GET' ? editAnswer(body) : body };
  });
}

describe('pull in different places', () => {
  test('pull finds the merge base of a renamed file if the workspace is a subfolder of the repository', async () => {
    const files = Object.entries(workspaceFiles({ greeting: { text: TEXT } }));
    const root = makeRepository(Object.fromEntries(files.map(([path, text]) => [`team/${path}`, text])));
    const scene = await makeUnsynced(join(root, 'team'));
    await sync(scene);
    changeOutside(scene, { content: theirs });
    edit(scene, { text: ours });
    const renamed = 'prompts/renamed.md';
    renameSync(join(scene.folder, PATH), join(scene.folder, renamed));
    commitAll(scene.folder, 'Rename');
    expect((await pull(scene, '--commit')).exitCode).toBe(0);
    expect(textIn(scene, renamed)).toBe(merged);
  });

  test('pull in a shallow clone merges both sides if a version in the service has the text of the only commit', async () => {
    const scene = await makeSynced();
    changeOutside(scene, { content: theirs });
    const shallow = { ...scene, folder: cloneOf(scene.folder) };
    rmSync(join(scene.folder, '.git'), { recursive: true });
    writeSource(shallow, promptText('greeting', { text: ours }));
    const ran = await pull(shallow);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('pulls every difference because this clone is shallow');
    expect(textIn(shallow)).toBe(merged);
  });

  test('pull outside a git repository writes both sides of a conflict to the file of an unsynced prompt', async () => {
    const scene = await makeUnsynced(makeWorkspace(workspaceFiles({ greeting: { text: ours } })));
    changeOutside(scene, { content: theirs });
    const before = source(scene);
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({ status: 'failed', problems: [{ code: 'pull/conflict' }] });
    for (const line of ['Theirs.', 'Ours.', 'One.', 'Three.']) expect(textIn(scene).split('\n')).toContain(line);
    writeSource(scene, before);
    expect((await pull(scene, '--theirs')).exitCode).toBe(0);
    expect(textIn(scene)).toBe(theirs);
  });
});

describe('pull after other changes', () => {
  test('pull merges both sides even if the service returns the text of the merge base without version metadata', async () => {
    const scene = await makeSynced();
    const stamp = /"metadata_":\{"promptsync".*\}(?=,"created_at")/g;
    const options = await through(scene, (body) => body.replaceAll(stamp, '"metadata_":null'));
    // The service serves what an earlier commit wanted, which is not an outside edit.
    edit(scene, { text: ours });
    expect(only(await runJson(scene.folder, ['pull'], options))).toMatchObject({ status: 'unchanged' });
    changeOutside(scene, { content: theirs });
    expect((await runJson(scene.folder, ['pull'], options)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(merged);
  });

  test('pull preserves an edit that the user makes while pull waits for the service', async () => {
    const scene = await makeSynced();
    changeOutside(scene, { content: theirs });
    const mine = promptText('greeting', { text: ours });
    const meanwhile = await through(scene, (body) => {
      writeSource(scene, mine);
      return body;
    });
    const ran = await runJson(scene.folder, ['pull'], meanwhile);
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({ status: 'failed', problems: [{ code: 'edit/changed-meanwhile' }] });
    expect(source(scene)).toBe(mine);
  });

  test('pull never loses a line that was added in the file or in the service', async () => {
    const scene = await makeSynced();
    const head = git(scene.folder, 'rev-parse', 'HEAD');
    const lines = (own: string) =>
      fc.array(fc.constantFrom('One.', 'Two.', 'Three.', '', `${own} 1`, `${own} 2`), { minLength: 1, maxLength: 8 });
    const text = (own: string) =>
      lines(own)
        .map((all) => all.join('\n'))
        .filter((one) => one.trim() !== '');
    await fc.assert(
      fc.asyncProperty(text('ours'), text('theirs'), async (mine, other) => {
        git(scene.folder, 'checkout', '--quiet', head, '--', PATH);
        writeSource(scene, promptText('greeting', { text: mine }));
        changeOutside(scene, { content: other });
        const ran = await pull(scene);
        const written = new Set(source(scene).split('\n'));
        const all = [...mine.split('\n'), ...other.split('\n')];
        expect(all.filter((line) => /^(ours|theirs) /.test(line) && !written.has(line))).toEqual([]);
        const problems = only(ran).problems.map(({ code, message }) => `${code} ${message}`);
        // If each side deletes the lines that the other side keeps, no text is left. Then the file stays unchanged.
        const nothingLeft = problems.length === 1 && /^edit\/not-kept .* has no text/.test(problems.join());
        if (nothingLeft) expect(textIn(scene)).toBe(mine);
        else expect([ran.exitCode, problems.length]).toEqual(source(scene).includes('<<<<<<<') ? [4, 1] : [0, 0]);
      }),
      { numRuns: 20 },
    );
  });
});
