import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import {
  findIdentityConflict,
  findImportObstacle,
  indexByIdentity,
} from '../../../src/commands/import/find-import-conflict.ts';
import { resolveImportFolder } from '../../../src/commands/import/import.ts';
import { readPromptIds } from '../../../src/commands/import/read-prompt-ids.ts';
import { parseConfig } from '../../../src/workspace/load-config.ts';
import { makeFolder, makeRepository, makeWorkspace, writeFiles } from '../../support/folder.ts';
import { CONFIG, promptText, workspaceFiles } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { makeSystem } from '../../support/system.ts';
import { changeOutside, type OutsideChange } from '../pull/pulling.ts';

const ENVIRONMENTS = `${CONFIG}environments:
  staging: {}
  canary: {}
  production: { promote_from: staging, allow_latest: false }
`;

type ManualVersion = Pick<OutsideChange, 'metadata'> & { readonly text: string; readonly in?: readonly string[] };

/** Creates versions in the service without promptsync and activates them in their environments. */
function makeVersions(service: TestService, id: string, ...versions: readonly ManualVersion[]): void {
  for (const { text, in: environments = [], ...rest } of versions) {
    changeOutside({ service }, { id, content: text, environments, ...rest });
  }
}

async function makeStage(ids: readonly string[], config = ENVIRONMENTS) {
  return { folder: makeWorkspace({ 'promptsync.yaml': config }), service: await startTestService(ids) };
}

const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);

describe('import', () => {
  test('import writes the active prompt text to a file and adds a pin for each environment', async () => {
    const { folder, service } = await makeStage(['greeting']);
    service.store.updatePrompt('prm_greeting', { key: 'support/greeting', name: 'Hi', description: 'First message.' });
    makeVersions(
      service,
      'greeting',
      { text: 'One.', in: ['production'] },
      { text: 'Two\u202e.\r\nLines.\n', metadata: { model: 'gpt-5' }, in: ['staging', 'canary'] },
      { text: 'Three.' },
    );
    const idIn = (environment: string) => service.store.readPrompt('prm_greeting', environment)?.active_version?.id;
    const [one, two] = [idIn('production'), idIn('canary')];
    const { exitCode, stdout, stderr } = await run(folder, ['import', 'prm_greeting'], service);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`  + canary: version:${two} (v2)\n`);
    expect(stderr).toContain(
      'prompts/support/greeting.md:14:4: warning: The file contains the invisible character \\u{202e}',
    );
    expect(read(folder, 'prompts/support/greeting.md')).toBe(`---
id: prm_greeting
key: support/greeting
name: Hi
description: First message.
pins:
  staging: latest
  canary: version:${two}  # 2
  production: version:${one}  # 1
metadata:
  model: gpt-5
---

Two\u202e.
Lines.
`);
    expect(service.takeWrites()).toEqual([]);
  });

  test('import of more than three prompts prints one line for each file, and writes no version records', async () => {
    const ids = ['a', 'b', 'c', 'managed'];
    const { folder, service } = await makeStage(ids);
    const other = makeWorkspace(workspaceFiles({ managed: { metadata: { model: 'm' } } }));
    await run(other, ['sync', '--yes'], service);
    makeVersions(service, 'a', { text: 'One.', in: ['staging', 'production'] });
    makeVersions(service, 'b', { text: 'One.', in: ['production'] }, { text: 'Two.', in: ['canary'] });
    makeVersions(service, 'c', { text: 'One.', in: ['canary'] });
    const { stdout } = await run(folder, ['import', ...ids.map((id) => `prm_${id}`)], service);
    expect(stdout).toBe(`+  prompts/a.md        staging: latest, production: v1
+  prompts/b.md        canary: latest, production: v1
+  prompts/c.md        canary: latest
+  prompts/managed.md  staging: latest

4 files written.
Next: commit the files, then run promptsync plan.
`);
    expect(read(folder, 'prompts/managed.md')).toContain('metadata:\n  model: m\n---\n');
  });

  test('import writes the other files if some prompts have a file, cannot be imported, or collide with each other', async () => {
    const keys = { a: 'x y', b: 'x-y' };
    const { folder, service } = await makeStage(['mine', 'idle', 'empty', 'known', 'a', 'b']);
    for (const [id, key] of Object.entries(keys)) service.store.updatePrompt(`prm_${id}`, { key });
    for (const id of ['mine', 'known', 'a', 'b'])
      makeVersions(service, id, { text: `Text of ${id}.`, in: ['staging'] });
    makeVersions(service, 'empty', { text: ' ', in: ['staging'] });
    const source = promptText('mine', { key: 'known', text: 'Mine.' });
    writeFiles(folder, { 'prompts/own.md': source });
    const names = ['mine', 'gone', 'idle', 'empty', 'known', 'a', 'b', 'a'];
    const { report, exitCode } = await runJson(folder, ['import', ...names.map((name) => `prm_${name}`)], service);
    expect(exitCode).toBe(4);
    expect(report.prompts.map(({ path, status, problems }) => [path, status, ...codes(problems)])).toEqual([
      ['prompts/own.md', 'unchanged'],
      ['', 'failed', 'service/prompt-not-found'],
      ['prompts/idle.md', 'blocked', 'import/nothing-active'],
      ['prompts/empty.md', 'blocked', 'import/not-writable'],
      ['prompts/known.md', 'blocked', 'import/known'],
      ['prompts/x-y.md', 'applied'],
      ['prompts/x-y.md', 'blocked', 'import/path-taken'],
    ]);
    expect(read(folder, 'prompts/own.md')).toBe(source);
    expect(read(folder, 'prompts/x-y.md')).toContain('Text of a.');
    expect(service.requests.filter(({ path }) => path.includes('prm_mine'))).toEqual([]);
    service.requests.length = 0;
    expect(await run(folder, ['import', 'prm_mine'], service)).toMatchObject({ exitCode: 0 });
    expect(service.requests).toEqual([]);
  });

  test('import refuses a prompt key with control characters and does not print those characters', async () => {
    const { folder, service } = await makeStage(['a']);
    service.store.updatePrompt('prm_a', { key: '../\u001b[2J\n::x' });
    makeVersions(service, 'a', { text: 'x', in: ['staging'] });
    const { exitCode, stdout } = await run(folder, ['import', 'prm_a'], service);
    expect(exitCode).toBe(3);
    expect(stdout).toContain('`key` is invalid: it contains control characters');
    expect(stdout).not.toContain('\u001b');
    expect(readdirSync(folder)).toEqual(['promptsync.yaml']);
  });

  test('import writes the file to a folder outside the workspace if a pattern points there, and fails if a file is in the way', async () => {
    const root = makeRepository({ 'team/promptsync.yaml': 'prompts: ["../shared/**/*.md"]\n' });
    const folder = join(root, 'team');
    const service = await startTestService(['greeting', 'refund']);
    makeVersions(service, 'greeting', { text: 'One.', in: ['live', 'staging'] });
    const ungiven = await runJson(folder, ['import', 'prm_greeting'], service);
    expect([ungiven.exitCode, ...codes(ungiven.report.problems)]).toEqual([1, 'import/environment-needed']);
    const { report } = await runJson(folder, ['import', 'prm_greeting', '--environment', 'live'], service);
    expect(report.prompts).toMatchObject([{ path: '../shared/greeting.md', status: 'applied' }]);
    expect(read(root, 'shared/greeting.md')).toContain('pins:\n  live: latest\n---\n');
    const blocked = makeWorkspace({ 'promptsync.yaml': CONFIG, prompts: 'no folder' });
    const ran = await runJson(blocked, ['import', 'prm_greeting', '--environment', 'live'], service);
    expect(ran.exitCode).toBe(1);
    expect(ran.report.prompts).toMatchObject([{ status: 'failed', problems: [{ code: 'edit/unwritable' }] }]);
  });

  test('import rejects invalid flags and a workspace with invalid prompt files before it sends a request', async () => {
    const { folder, service } = await makeStage(['greeting']);
    for (const [flag, value, code] of [
      ['--environment', 'promptsync', 'prompt/tool-environment'],
      ['--dir', '..', 'import/outside'],
    ] as const) {
      const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting', flag, value], service);
      expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: [code] });
    }
    writeFiles(folder, { 'prompts/a.md': 'x' });
    const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting'], service);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: ['prompt/no-front-matter'] });
    expect(service.requests).toEqual([]);
  });
});

describe('the path of an imported file', () => {
  function configure(text: string, folder = makeFolder()) {
    const file = join(folder, 'promptsync.yaml');
    return parseConfig(text, { file, shownPath: file, root: folder, environment: {} }).config!;
  }

  test.each<[string, string, string | undefined, string]>([
    ['import skips negated patterns when it chooses a folder', 'prompts: ["!x/*", "a/b/**/*.md"]', undefined, 'a/b'],
    ['import writes new files to the folder of --dir', 'prompts: ["**/*.md"]', './x/y/', 'x/y'],
    ['import writes beside the configuration if the pattern has no folder', 'prompts: ["*.md"]', undefined, ''],
  ])('%s', (_, text, dir, folder) => {
    expect(resolveImportFolder(configure(`${text}\n`), dir)).toMatchObject({ isSuccess: true, value: folder });
  });

  const NESTED = 'prompts/support/a.md';
  const hint = expect.stringContaining('`a\\[b\\]/**/*.md`');
  const makeFolderThere = (folder: string): void => writeFiles(folder, { [`${NESTED}/x.txt`]: 'x' });
  const link = (folder: string): void => {
    mkdirSync(join(folder, 'prompts'));
    symlinkSync(join(folder, 'later'), join(folder, 'prompts/support'));
  };

  test.each<[string, (folder: string) => void, string, object | null]>([
    ['import accepts a free path that a pattern matches', () => {}, NESTED, null],
    ['import refuses a path that no pattern matches', () => {}, 'a[b]/a.md', { code: 'import/not-matched', hint }],
    ['import refuses a symbolic link to a missing folder', link, NESTED, { code: 'import/symbolic-link' }],
    ['import refuses the path of a folder', makeFolderThere, NESTED, { code: 'import/path-taken' }],
  ])('%s', async (_, prepare, path, expected) => {
    const folder = makeFolder();
    prepare(folder);
    const obstacle = await findImportObstacle(path, { config: configure(CONFIG, folder), folder: 'a[b]' });
    if (expected === null) expect(obstacle).toBeNull();
    else expect(obstacle).toMatchObject(expected);
  });

  const KNOWN_ID = /^The id "[^"]*" is already used by `mine\.md`\. .*promptsync pull 'it’s; o'\\''k'/;
  const KNOWN_KEY = /^The key "[^"]*" is already used by `mine\.md`\. Give one of the two prompts a different key/;

  test.each<[string, object, RegExp | null]>([
    ['import accepts a prompt whose id, key and path are free', {}, null],
    ['import refuses an id that differs from a known one only in its Unicode form', { id: 'cafe\u0301' }, KNOWN_ID],
    ['import refuses a key that another file already uses', { key: "it’s; o'k" }, KNOWN_KEY],
    ['import refuses a path that differs from that of another file only in case', { path: 'MINE.md' }, /mine\.md/],
  ])('%s', (_, parts, expected) => {
    const taken = indexByIdentity([{ id: 'caf\u00e9', key: "it’s; o'k", path: 'mine.md' }]);
    const problem = findIdentityConflict({ id: 'a', key: 'a', path: 'a.md', ...parts }, taken);
    if (expected === null) expect(problem).toBeNull();
    else expect(`${problem?.message} ${problem?.hint}`).toMatch(expected);
  });
});

describe('the ids of an import', () => {
  const readIds = (ids: readonly string[], input: string | Uint8Array, from?: string, folder = '/nowhere') =>
    readPromptIds({ ids, from, input: () => Readable.from([Buffer.from(input)]) }, makeSystem(folder));

  test('import reads prompt ids from arguments, standard input and files, skipping blank lines and comments', async () => {
    // Only an argument with a comma probably holds several ids.
    const folder = makeWorkspace({ 'ids.txt': '\ufeff# ours\r\nprm_c\r\n\r\n  prm,d  \r\nprm_a' });
    const read = await readIds(['prm_a', '-'], 'prm_b\n#prm_x\n\nprm_a', 'ids.txt', folder);
    expect(read.isSuccess && read.value.toSorted()).toEqual(['prm,d', 'prm_a', 'prm_b', 'prm_c']);
  });

  test.each<[string, readonly string[], string | Uint8Array, string | undefined, string]>([
    ['import refuses a list with only comments', ['-'], '# none\n', undefined, 'No prompt ids were specified'],
    ['import refuses a missing file', [], '', 'none.txt', 'ids from `none.txt` (there is no such file, ENOENT).'],
    ['import refuses a list over 1 MiB', ['-'], 'prm_a\n'.repeat(200_000), undefined, 'the list is larger than 1'],
    ['import refuses a list that is not valid UTF-8', ['-'], Uint8Array.of(0xff), undefined, 'utf-8'],
    ['import refuses ids that are separated by commas', ['a,b'], '', undefined, 'Separate ids with spaces'],
  ])('%s', async (_, ids, input, from, reason) => {
    expect(await readIds(ids, input, from)).toMatchObject({
      isSuccess: false,
      problems: [{ code: 'usage/invalid', message: expect.stringContaining(reason) }],
    });
  });

  test('import stops without a request if a signal arrives while it waits for ids', async () => {
    const { folder, service } = await makeStage([]);
    let interrupt = () => {};
    const onSignal = (signal: () => void): void => void (interrupt = signal);
    const input = new Readable({ read: () => interrupt() });
    expect(await run(folder, ['import', '-'], { ...service, input, onSignal })).toMatchObject({ exitCode: 130 });
    expect([service.requests, existsSync(join(folder, 'prompts'))]).toEqual([[], false]);
  });
});
