import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { makeFolder, makeRepository, makeWorkspace, writeFiles } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const ENVIRONMENTS = `${CONFIG}environments:
  staging: {}
  canary: {}
  production: { promote_from: staging, allow_latest: false }
`;

type ManualVersion = { readonly text: string; readonly metadata?: object; readonly in?: readonly string[] };

/** Creates versions in the service without promptsync and activates them in their environments. */
function makeVersions({ store }: TestService, prompt: string, ...versions: readonly ManualVersion[]): void {
  for (const { text, metadata, in: environments = [] } of versions) {
    const draft = { content: text, ...(metadata === undefined ? {} : { metadata: { ...metadata } }) };
    const version = store.createVersion(`prm_${prompt}`, draft);
    for (const environment of environments) {
      store.setActive(`prm_${prompt}`, { environment, versionId: version?.id ?? '' });
    }
  }
}

async function makeStage(ids: readonly string[], config = ENVIRONMENTS) {
  return { folder: makeWorkspace({ 'promptsync.yaml': config }), service: await startTestService(ids) };
}

/** Makes a workspace, and a service with one prompt that staging serves. */
async function makeServed(config = ENVIRONMENTS) {
  const stage = await makeStage(['greeting'], config);
  makeVersions(stage.service, 'greeting', { text: 'One.', in: ['staging'] });
  return stage;
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
      { text: 'Two.\r\nLines.\n', metadata: { model: 'gpt-5' }, in: ['staging', 'canary'] },
      { text: 'Three.' },
    );
    const { exitCode, report } = await runJson(folder, ['import', 'prm_greeting'], service);
    expect(exitCode).toBe(0);
    const idIn = (environment: string) => service.store.readPrompt('prm_greeting', environment)?.active_version?.id;
    const [one, two] = [idIn('production'), idIn('canary')];
    expect(report).toMatchObject({
      mode: 'import',
      service: service.baseUrl,
      summary: { prompts: 1, applied: 1 },
      problems: [],
      prompts: [
        {
          ...{ path: 'prompts/support/greeting.md', id: 'prm_greeting', key: 'support/greeting', status: 'applied' },
          edits: [
            { kind: 'create-file' },
            { kind: 'set-pin', environment: 'staging', before: null, after: 'latest' },
            { kind: 'set-pin', environment: 'canary', before: null, after: `version:${two}` },
            { kind: 'set-pin', environment: 'production', before: null, after: `version:${one}` },
          ],
        },
      ],
    });
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

Two.
Lines.
`);
    expect(service.takeWrites()).toEqual([]);
  });

  test('import of more than three prompts prints one line for each file', async () => {
    const ids = ['a', 'b', 'c', 'd'];
    const { folder, service } = await makeStage(ids);
    for (const id of ids) makeVersions(service, id, { text: 'One.', in: ['staging', 'production'] });
    const words = ['import', ...ids.map((id) => `prm_${id}`)];
    const { stdout } = await run(folder, [...words, '--dry-run'], service);
    const lines = ids.map((id) => `+  prompts/${id}.md  staging: latest, production: v1\n`);
    expect(stdout).toBe(`${lines.join('')}\n4 files to write.\n`);
    const three = await run(folder, [...words.slice(0, 4), '--dry-run'], service);
    expect(three.stdout).toMatch(
      /^a {2}prompts\/a\.md\n {2}\+ new file\n.*\n {2}\+ production: version:ver_\S+ \(v1\)\n/,
    );
  });

  test.each<[string, readonly ManualVersion[], readonly string[]]>([
    [
      'the first sync after importing a prompt with metadata creates only a baseline version',
      [{ text: 'One.', metadata: { a: [1, null] }, in: ['staging', 'production'] }],
      [],
    ],
    [
      'the first sync after importing a prompt with different versions in its environments creates only a baseline version',
      [
        { text: 'One.', in: ['production'] },
        { text: 'Two.', metadata: { a: 1 }, in: ['canary'] },
        { text: 'Two.', in: ['staging'] },
        { text: 'Newest.', metadata: { a: 2 } },
      ],
      [],
    ],
    [
      'the first sync after importing a prompt from only one environment creates only a baseline version',
      [
        { text: 'One.', metadata: { a: 1 }, in: ['staging', 'production'] },
        { text: 'Two.', in: ['canary'] },
      ],
      ['--environment', 'canary'],
    ],
    [
      'the first sync after importing a prompt with CRLF line endings creates only a baseline version',
      [{ text: '\r\nOne.\r\n\n', in: ['canary'] }],
      [],
    ],
  ])('%s', async (_, versions, flags) => {
    const { folder, service } = await makeStage(['greeting']);
    makeVersions(service, 'greeting', ...versions);
    expect(await run(folder, ['import', 'prm_greeting', ...flags], service)).toMatchObject({ exitCode: 0 });
    const { report } = await runJson(folder, ['plan'], service);
    expect(report.prompts[0]?.changes).toMatchObject([{ kind: 'create-version', baseline: true }]);
    expect(await run(folder, ['sync', '--yes', '--allow-dirty'], service)).toMatchObject({ exitCode: 0 });
    const moved = service.takeWrites().filter((write) => !/ promptsync(-look)?$/.test(write));
    expect(moved).toEqual(['POST prm_greeting versions']);
    expect(await run(folder, ['plan', '--exit-code'], service)).toMatchObject({ exitCode: 0 });
  });

  test('import omits the promptsync version record from the metadata in the file', async () => {
    const { folder, service } = await makeStage(['greeting'], CONFIG);
    const other = makeWorkspace(workspaceFiles({ greeting: { metadata: { model: 'm' } } }));
    await run(other, ['sync', '--yes'], service);
    await run(folder, ['import', 'prm_greeting', '--environment', 'staging'], service);
    expect(read(folder, 'prompts/greeting.md')).toContain('metadata:\n  model: m\n---\n');
    expect(await run(folder, ['plan', '--exit-code'], service)).toMatchObject({ exitCode: 0 });
  });

  test('import requires --environment if the configuration lists no environments, and pins only the given one', async () => {
    const { folder, service } = await makeStage(['greeting'], CONFIG);
    makeVersions(service, 'greeting', { text: 'One.', in: ['live', 'staging'] });
    const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting'], service);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: ['import/environment-needed'] });
    await run(folder, ['import', 'prm_greeting', '--environment', 'live'], service);
    expect(read(folder, 'prompts/greeting.md')).toContain('pins:\n  live: latest\n---\n');
  });

  test('import --dry-run shows the new file, warns about hidden characters and writes nothing', async () => {
    const { folder, service } = await makeStage(['greeting']);
    makeVersions(service, 'greeting', { text: 'One\u202e.', in: ['staging'] });
    const warning = 'prompts/greeting.md:9:4: warning: The file contains the invisible character \\u{202e}';
    expect(await run(folder, ['import', 'prm_greeting', '--dry-run'], service)).toEqual({
      exitCode: 0,
      stdout: 'greeting  prompts/greeting.md\n  + new file\n  + staging: latest\n\n1 file to write.\n',
      stderr: expect.stringContaining(warning),
    });
    expect(readdirSync(folder)).toEqual(['promptsync.yaml']);
  });
});

describe('the path of an imported file', () => {
  test.each<[string, string, readonly string[], string]>([
    [
      'import writes the file to the folder of the first non-negated file pattern',
      'prompts: ["!x/*", "a/b/**/*.md", "prompts/*.md"]',
      [],
      'a/b/greeting.md',
    ],
    [
      'import --dir writes the file to the given folder',
      'prompts: ["**/*.md"]',
      ['--dir', './x/y/'],
      'x/y/greeting.md',
    ],
    [
      'import writes the file next to the configuration file if the pattern contains no folder',
      'prompts: ["*.md"]',
      [],
      'greeting.md',
    ],
  ])('%s', async (_, config, flags, path) => {
    const { folder, service } = await makeServed(`${config}\n`);
    await run(folder, ['import', 'prm_greeting', '--environment', 'staging', ...flags], service);
    expect(existsSync(join(folder, path))).toBe(true);
  });

  test('import writes the file to a folder outside the workspace if a pattern points there', async () => {
    const folder = makeRepository({ 'team/promptsync.yaml': 'prompts: ["../shared/**/*.md"]\n' });
    const service = await startTestService(['greeting']);
    makeVersions(service, 'greeting', { text: 'One.', in: ['staging'] });
    const words = ['import', 'prm_greeting', '--environment', 'staging'];
    const { report } = await runJson(join(folder, 'team'), words, service);
    expect(report.prompts).toMatchObject([{ path: '../shared/greeting.md', status: 'applied' }]);
    expect(existsSync(join(folder, 'shared/greeting.md'))).toBe(true);
  });

  test('import suggests a file pattern with escaped brackets if the name of the --dir folder contains brackets', async () => {
    const { folder, service } = await makeServed();
    const { report } = await runJson(folder, ['import', 'prm_greeting', '--dir', 'a[b]'], service);
    expect(report.prompts[0]?.problems).toMatchObject([
      { code: 'import/not-matched', hint: expect.stringContaining('`a\\[b\\]/**/*.md`') },
    ]);
  });

  const link = (folder: string, target: string) => {
    mkdirSync(join(folder, 'prompts'));
    symlinkSync(target, join(folder, 'prompts/support'));
    return [];
  };

  test.each<[string, (folder: string) => readonly string[], string]>([
    [
      'import refuses to write a file that no configured pattern matches',
      () => ['--dir', 'elsewhere'],
      'import/not-matched',
    ],
    [
      'import refuses to write through a symbolic link to another folder',
      (folder) => link(folder, makeFolder()),
      'prompt/symbolic-link',
    ],
    [
      'import refuses to write through a symbolic link to a missing folder',
      (folder) => link(folder, join(makeFolder(), 'later')),
      'import/symbolic-link',
    ],
    [
      'import refuses to write to a path where a folder already exists',
      (folder) => {
        writeFiles(folder, { 'prompts/support/greeting.md/x.txt': 'x' });
        return [];
      },
      'import/path-taken',
    ],
  ])('%s', async (_, prepare, code) => {
    const { folder, service } = await makeServed();
    service.store.updatePrompt('prm_greeting', { key: 'support/greeting' });
    const flags = prepare(folder);
    const before = readdirSync(folder, { recursive: true });
    const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting', ...flags], service);
    const all = [...report.problems, ...report.prompts.flatMap(({ problems }) => problems)];
    expect(codes(all)).toEqual([code]);
    expect(exitCode).toBe(report.problems.length > 0 ? 1 : 3);
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  });
});

describe('import with existing files', () => {
  test('import keeps the existing file of a prompt, and does not read that prompt from the service', async () => {
    const { folder, service } = await makeServed();
    const source = promptText('greeting', { key: 'other', text: 'Mine.' });
    writeFiles(folder, { 'prompts/mine.md': source });
    const { exitCode, stdout } = await run(folder, ['import', 'prm_greeting'], service);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      '1 already here.\nThese prompts already have files. To update the files, run promptsync pull.\n',
    );
    const { report } = await runJson(folder, ['import', 'prm_greeting'], service);
    expect(report.prompts).toMatchObject([{ path: 'prompts/mine.md', key: 'other', status: 'unchanged', edits: [] }]);
    expect(service.requests).toEqual([]);
    expect(read(folder, 'prompts/mine.md')).toBe(source);
    expect(readdirSync(join(folder, 'prompts'))).toEqual(['mine.md']);
  });

  test('import writes the files of the other prompts even if one prompt already has a file', async () => {
    const { folder, service } = await makeStage(['greeting', 'refund']);
    makeVersions(service, 'refund', { text: 'Refund.', in: ['staging'] });
    writeFiles(folder, { 'prompts/mine.md': promptText('greeting') });
    const { exitCode, stdout } = await run(folder, ['import', 'prm_greeting', 'prm_refund'], service);
    expect({ exitCode, last: stdout.split('\n').at(-3) }).toEqual({
      exitCode: 0,
      last: '1 file written, 1 already here.',
    });
    expect(service.requests.filter(({ path }) => path.includes('prm_greeting'))).toEqual([]);
  });

  test('import exits with 1 if it cannot read any of the prompts that have no file', async () => {
    const { folder, service } = await makeServed();
    writeFiles(folder, { 'prompts/mine.md': promptText('greeting') });
    expect(await run(folder, ['import', 'prm_greeting', 'prm_gone'], service)).toMatchObject({ exitCode: 1 });
  });

  test.each<[string, string, Parameters<typeof promptText>, string]>([
    [
      'import refuses an id that differs from an existing id only in its Unicode form, and quotes the key in its hint for the shell',
      'id',
      ['caf\u00e9', { key: "it’s; o'k" }],
      `promptsync pull 'it’s; o'\\''k'`,
    ],
    [
      'import refuses a prompt key that another file already uses',
      'key',
      ['other', { key: 'cafe\u0301' }],
      'Give one of the two prompts a different key, either in the service or in ',
    ],
  ])('%s', async (_, what, parts, hint) => {
    const { folder, service } = await makeStage(['cafe\u0301']);
    makeVersions(service, 'cafe\u0301', { text: 'One.', in: ['staging'] });
    writeFiles(folder, { 'prompts/mine.md': promptText(...parts) });
    const { report, exitCode } = await runJson(folder, ['import', 'prm_cafe\u0301'], service);
    expect(exitCode).toBe(3);
    const [problem] = report.prompts.flatMap(({ problems }) => problems);
    expect(problem).toMatchObject({ code: 'import/known', hint: expect.stringContaining(hint) });
    expect(problem?.message).toMatch(new RegExp(`^The ${what} "[^"]*" is already used by \`prompts/mine.md\`.$`));
    expect(readdirSync(join(folder, 'prompts'))).toEqual(['mine.md']);
  });

  test('import writes only the first of several prompts whose file paths collide', async () => {
    const { folder, service } = await makeStage(['a', 'b', 'c', 'd']);
    for (const [id, key] of Object.entries({ a: 'x y', b: 'X/', c: 'x-y', d: 'X-Y' })) {
      service.store.updatePrompt(`prm_${id}`, { key });
      makeVersions(service, id, { text: `Text of ${id}.`, in: ['staging'] });
    }
    const words = ['import', 'prm_a', 'prm_b', 'prm_c', 'prm_d', 'prm_a'];
    const { report, exitCode } = await runJson(folder, words, service);
    expect(exitCode).toBe(3);
    expect(report.prompts.map(({ status, path }) => `${status} ${path}`)).toEqual([
      'applied prompts/x-y.md',
      'applied prompts/X.md',
      'blocked prompts/x-y.md',
      'blocked prompts/X-Y.md',
    ]);
    expect(read(folder, 'prompts/x-y.md')).toContain('Text of a.');
  });
});

describe('prompts that cannot be imported', () => {
  test('import continues with the other prompts if one prompt cannot be imported', async () => {
    const { folder, service } = await makeStage(['greeting', 'empty', 'idle']);
    makeVersions(service, 'greeting', { text: 'One.', in: ['staging'] });
    makeVersions(service, 'empty', { text: ' ', in: ['staging'] });
    makeVersions(service, 'idle', { text: 'One.', in: ['elsewhere'] });
    const words = ['import', 'prm_gone', 'prm_idle', 'prm_empty', 'prm_greeting'];
    const { report, exitCode } = await runJson(folder, words, service);
    expect(exitCode).toBe(4);
    expect(report.prompts.map(({ status, problems }) => [status, ...codes(problems)])).toEqual([
      ['failed', 'service/prompt-not-found'],
      ['blocked', 'import/nothing-active'],
      ['blocked', 'import/not-writable'],
      ['applied'],
    ]);
    const text = await run(folder, ['import', 'prm_gone', 'prm_idle'], service);
    expect(text.stdout).toContain('prm_gone  failed\n');
    expect(text.stdout).toContain('No version is active in "staging", "canary", or "production"');
  });

  test('import rejects prompt text with a doubled carriage return instead of silently altering it', async () => {
    const { folder, service } = await makeStage(['greeting']);
    makeVersions(service, 'greeting', { text: 'a\r\nb\r\r\nc', in: ['staging'] });
    const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting'], service);
    expect(exitCode).toBe(3);
    const message = expect.stringContaining('Line 2 of its text ends with a lone carriage return');
    expect(report.prompts[0]?.problems).toMatchObject([{ code: 'import/not-writable', message }]);
    expect(readdirSync(folder)).toEqual(['promptsync.yaml']);
  });

  test('import explains what to do if the prompt has no active version in the requested environments', async () => {
    const { folder, service } = await makeStage(['idle']);
    makeVersions(service, 'idle', { text: 'One.', in: ['elsewhere'] });
    for (const [flags, hint] of [
      [[], 'To choose an environment for `promptsync import`, add it to `environments:`'],
      [['--environment', 'canary'], 'import from another environment'],
    ] as const) {
      const { report, exitCode } = await runJson(folder, ['import', 'prm_idle', ...flags], service);
      expect(exitCode).toBe(3);
      const problem = { code: 'import/nothing-active', hint: expect.stringContaining(hint) };
      expect(report.prompts[0]?.problems).toMatchObject([problem]);
    }
    expect(await run(folder, ['import', 'prm_gone', '..'], service)).toMatchObject({ exitCode: 1 });
  });

  test('import refuses a prompt key with control characters and does not print those characters', async () => {
    const { folder } = await makeStage([]);
    const prompt = { id: 'prm_a', project_id: 'p', key: '../\u001b[2J\n::x', name: 'n\u0007' };
    const version = { id: 'v', prompt_id: 'prm_a', version_number: 1, content: 'x' };
    const body = JSON.stringify({ ...prompt, active_version: version });
    const front = await startFront({ answer: () => ({ status: 200, body }) });
    const environment = { PROMPTSYNC_BASE_URL: front.baseUrl, PROMPTSYNC_API_KEY: 'sk-another-key' };
    const { exitCode, stdout } = await run(folder, ['import', 'prm_a'], { environment });
    expect(exitCode).toBe(3);
    expect(stdout).toContain('`key` is invalid: it contains control characters');
    expect(stdout).not.toMatch(/[\u0007\u001b]/);
    expect(readdirSync(folder)).toEqual(['promptsync.yaml']);
  });

  test('import fails if a file exists at the path of the prompts folder', async () => {
    const { folder, service } = await makeStage(['greeting']);
    writeFiles(folder, { prompts: 'no folder' });
    makeVersions(service, 'greeting', { text: 'One.', in: ['staging'] });
    const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting'], service);
    expect(exitCode).toBe(1);
    expect(report.prompts).toMatchObject([{ status: 'failed', problems: [{ code: 'edit/unwritable' }] }]);
  });
});

test('import pins the active version by id if the environment does not allow latest, so the next plan activates nothing', async () => {
  const { folder, service } = await makeStage(
    ['greeting'],
    `${CONFIG}environments: { live: { allow_latest: false } }\n`,
  );
  makeVersions(service, 'greeting', { text: 'One.', in: ['live'] });
  await run(folder, ['import', 'prm_greeting'], service);
  expect(read(folder, 'prompts/greeting.md')).toMatch(/pins:\n {2}live: version:\S+ {2}# 1\n---\n\nOne\.\n/);
  const { report } = await runJson(folder, ['plan'], service);
  expect(report.summary).toMatchObject({ baselines: 1, set_active: 0, blocked: 0 });
});

test('import writes no file after an interrupt', async () => {
  const { folder, service } = await makeServed();
  const { exitCode, stdout } = await run(folder, ['import', 'prm_greeting'], {
    ...service,
    onSignal: (signal) => signal(),
  });
  expect(exitCode).toBe(130);
  expect(stdout).toContain('Interrupted');
  expect(readdirSync(folder)).toEqual(['promptsync.yaml']);
});

describe('the ids of an import', () => {
  test('import reads prompt ids from arguments, standard input and files, skipping blank lines and comments', async () => {
    const { folder, service } = await makeStage([]);
    writeFiles(folder, { 'ids.txt': '\ufeff# ours\r\nprm_c\r\n\r\n  prm_d  \r\nprm_a' });
    const input = 'prm_b\n#prm_x\n\nprm_a';
    const { report } = await runJson(folder, ['import', 'prm_a', '-', '--from', 'ids.txt'], { ...service, input });
    expect(report.prompts.map(({ id }) => id).toSorted()).toEqual(['prm_a', 'prm_b', 'prm_c', 'prm_d']);
  });

  test.each<[string, readonly string[], string | Readable, string]>([
    ['import sends no requests if no prompt id is given', [], '', 'No prompt ids were specified'],
    [
      'import sends no requests if the id list contains only comments',
      ['-'],
      '# none\n',
      'No prompt ids were specified',
    ],
    [
      'import sends no requests if the id file does not exist',
      ['--from', 'none.txt'],
      '',
      'ids from `none.txt` (there is no such file, ENOENT).',
    ],
    [
      'import sends no requests if the id list is larger than 1 MiB',
      ['-'],
      'prm_a\n'.repeat(200_000),
      'from standard input (the list is larger than 1 MiB',
    ],
    [
      'import sends no requests if the id list is not valid UTF-8',
      ['-'],
      Readable.from([Buffer.from([0xff])]),
      'utf-8',
    ],
  ])('%s', async (_, words, input, reason) => {
    const { folder, service } = await makeStage([]);
    const { report, exitCode } = await runJson(folder, ['import', ...words], { ...service, input });
    expect(exitCode).toBe(1);
    expect(report.problems).toMatchObject([{ code: 'usage/invalid', message: expect.stringContaining(reason) }]);
    expect(service.requests).toEqual([]);
  });

  test('a signal interrupts an import that is waiting for ids on standard input', async () => {
    const { folder, service } = await makeStage([]);
    let interrupt = () => {};
    const onSignal = (signal: () => void): void => void (interrupt = signal);
    const input = new Readable({ read: () => interrupt() });
    expect(await run(folder, ['import', '-'], { ...service, input, onSignal })).toMatchObject({ exitCode: 130 });
  });

  test('import prints only the number of prompts that already have a file', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const folder = makeWorkspace({
      ...workspaceFiles(Object.fromEntries(names.map((name) => [name, {}]))),
      'promptsync.yaml': ENVIRONMENTS,
    });
    const service = await startTestService(names);
    const { stdout, exitCode } = await run(folder, ['import', ...names.map((name) => `prm_${name}`)], service);
    expect(exitCode).toBe(0);
    expect(stdout.split('\n')[0]).toBe('40 already here.');
  });

  test('import prints one line for each prompt that is missing in the service, and prints the hint only once', async () => {
    const { folder, service } = await makeStage([]);
    const ids = Array.from({ length: 40 }, (_, index) => `prm_p${index}`);
    const { stdout, exitCode } = await run(folder, ['import', ...ids], service);
    expect(exitCode).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    for (const id of ids) expect(lines.filter((line) => line.includes(` "${id}" `))).toHaveLength(1);
    expect(lines).toHaveLength(44);
  });
});

describe('import before the first request', () => {
  test('import rejects an invalid --environment or --dir value before it sends a request', async () => {
    const { folder, service } = await makeStage(['greeting']);
    for (const [flag, value, code] of [
      ['--environment', 'stagging', 'usage/unknown-environment'],
      ['--environment', 'promptsync', 'prompt/tool-environment'],
      ['--dir', '..', 'import/outside'],
    ] as const) {
      const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting', flag, value], service);
      expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: [code] });
    }
    expect(service.requests).toEqual([]);
  });

  test('import rejects a workspace with invalid prompt files before it sends a request', async () => {
    const { folder, service } = await makeStage(['greeting']);
    writeFiles(folder, { 'prompts/a.md': 'x', 'prompts/b.md': '---\nkey: k\n---\n' });
    const { report, exitCode } = await runJson(folder, ['import', 'prm_greeting'], service);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({
      exitCode: 1,
      codes: ['prompt/no-front-matter', 'prompt/missing-id', 'prompt/missing-field', 'prompt/empty-body'],
    });
    expect(service.requests).toEqual([]);
  });

  test.each([
    ['import', 'prm_a', '--environment', ''],
    ['import', 'prm_a', '--only', 'x'],
  ])('promptsync rejects the invalid command line %s %s %s %j', async (...words) => {
    const { folder } = await makeStage([]);
    const { exitCode, stderr } = await run(folder, words);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: /);
  });
});
