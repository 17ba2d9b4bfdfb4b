import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { parseReport, run } from '../support/run.ts';
import { KEY } from '../support/service.ts';
import { makeStage } from './stage.ts';

describe('--output', () => {
  test('takes the report, and standard output stays empty', async () => {
    const { folder, promptsync } = await makeStage();
    const { stdout, stderr, exitCode } = await promptsync('plan --format json -o out.json');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    expect(parseReport(readFileSync(join(folder, 'out.json'), 'utf8')).summary.create_version).toBe(1);
    expect(stderr).toMatch(/^Plan: 1 to create/);
  });

  test('replaces a file as a whole and leaves nothing else behind', async () => {
    const { folder, promptsync } = await makeStage();
    writeFileSync(join(folder, 'out.txt'), 'x'.repeat(100_000));
    await promptsync('plan --output out.txt');
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toMatch(/^greeting {2}prompts\/greeting\.md\n/);
    expect(readdirSync(folder).toSorted()).toEqual(['out.txt', 'prompts', 'promptsync.yaml']);
  });

  test('follows a symbolic link instead of replacing it', async () => {
    const { folder, promptsync } = await makeStage();
    writeFileSync(join(folder, 'target.txt'), '');
    symlinkSync('target.txt', join(folder, 'out.txt'));
    await promptsync('plan --output out.txt');
    expect(readFileSync(join(folder, 'target.txt'), 'utf8')).toContain('create version');
  });

  // A named pipe of its own stands for all that is no file, such as /dev/null: a mistake must not replace that one.
  test('writes into what is no regular file, and leaves it as it is', async () => {
    const { folder, promptsync } = await makeStage();
    const pipe = join(folder, 'out.pipe');
    execFileSync('mkfifo', [pipe]);
    const opened = openSync(pipe, constants.O_RDWR);
    onTestFinished(() => closeSync(opened));
    const ran = await promptsync('plan --quiet --format text --output out.pipe');
    expect(ran).toMatchObject({ stdout: '', exitCode: 0 });
    expect(statSync(pipe).isFIFO()).toBe(true);
    const bytes = Buffer.alloc(1_000);
    expect(bytes.toString('utf8', 0, readSync(opened, bytes))).toMatch(/^Plan: 1 to create/);
  });

  test('errors are on standard error too, and quiet leaves them there', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    for (const line of ['plan -o out.txt', 'plan -q -o out.txt']) {
      const { stdout, stderr, exitCode } = await run(folder, line.split(' '));
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
      expect(stderr).toContain('error: No service is configured.');
    }
  });

  test.each([
    ['-o no/such/folder/out.txt', 'there is no such folder'],
    ['-o good.json -o no/such/folder/out.txt', 'there is no such folder'],
    ['--format text -o prompts', 'it is a folder'],
    ['--format text -o ', 'it is a folder'],
    ['-o promptsync.yaml/out.txt', 'there is no such folder'],
    ['-o out.yaml', '--output out.yaml does not say in which format'],
    ['-o good.json -o /dev/stdout', '--output /dev/stdout does not say in which format'],
    ['-o good.json -o good.md --format html', '--format is for a single --output'],
  ])('that cannot be written is known before anything is done: %j', async (outputs, reason) => {
    const { folder, service, promptsync } = await makeStage();
    const { stdout, exitCode } = await promptsync(`sync --yes ${outputs}`);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(reason);
    expect(service.requests).toEqual([]);
    expect(readdirSync(folder)).not.toContain('good.json');
  });

  test.skipIf(process.getuid?.() === 0)('in a folder that may not be written to is known before as well', async () => {
    const { folder, service, promptsync } = await makeStage();
    mkdirSync(join(folder, 'locked'), { mode: 0o555 });
    const { stdout, exitCode } = await promptsync('sync --yes -o locked/out.json');
    expect({ exitCode, requests: service.requests }).toEqual({ exitCode: 1, requests: [] });
    expect(stdout).toContain('EACCES');
  });

  test.each([
    ['out.txt', /^greeting {2}prompts/],
    ['out.json', /^\{\n/],
    ['out.md', /^### promptsync plan/],
    ['out.html', /^<!doctype html>/],
    ['plan.junit.xml', /^<\?xml /],
    ['--format=html summary', /^<!doctype html>/],
    ['--format=markdown out.json', /^### promptsync plan/],
  ])('has the format that its name says, and any name with a format that is given: %s', async (output, begins) => {
    const { folder, promptsync } = await makeStage();
    const [file = '', ...format] = output.split(' ').toReversed();
    await promptsync(['plan', ...format, '-o', file].join(' '));
    expect(readFileSync(join(folder, file), 'utf8')).toMatch(begins);
  });

  test('several come from one observation', async () => {
    const { folder, service, promptsync } = await makeStage();
    const calls = async (outputs: string) => {
      expect(await promptsync(`plan ${outputs}`)).toMatchObject({ stdout: '', exitCode: 0 });
      return service.requests.splice(0).map(({ method, path }) => `${method} ${path}`);
    };
    const one = await calls('-o one.json');
    expect(one).not.toEqual([]);
    expect(await calls('-o a.json -o a.md -o a.html -o a.xml')).toEqual(one);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['a.html', 'a.json', 'a.md', 'a.xml']));
  });

  test('that turns out not to be writable puts the report on standard output: what was done must be told', async () => {
    const { folder, service, promptsync } = await makeStage();
    const outputs = `--output ${join(folder, 'out', 'out.json')} -o ${join(folder, 'out', 'out.md')} -o good.md`;
    mkdirSync(join(folder, 'out'));
    const front = await startFront({
      target: service.baseUrl,
      answer: () => {
        rmSync(join(folder, 'out'), { recursive: true, force: true });
        return null;
      },
    });
    const environment = { PROMPTSYNC_BASE_URL: front.baseUrl };
    const ran = await promptsync(`sync --yes ${outputs}`, { environment });
    expect(ran.exitCode).toBe(1);
    expect(parseReport(ran.stdout).summary.applied).toBe(1);
    expect(ran.stderr.match(/The report cannot be written/g)).toHaveLength(2);
    expect(readFileSync(join(folder, 'good.md'), 'utf8')).toContain('Applied: 1 created');
  });
});

describe('what goes where', () => {
  test.each(['text', 'json'])('warnings go to standard error with %s, and not with quiet', async (format) => {
    const { promptsync } = await makeStage({ greeting: { text: 'hid\u200bden' } });
    const warning = 'prompts/greeting.md:8:4: warning: The file contains the invisible character \\u{200b}.';
    const loud = await promptsync(`validate --format ${format}`);
    expect(loud).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(warning) });
    expect((await promptsync(`validate --quiet --format ${format}`)).stderr).toBe('');
  });

  test('--verbose tells of each call, and never the key', async () => {
    const { service, promptsync } = await makeStage();
    const calls = (await promptsync('sync --yes --verbose')).stderr.trimEnd().split('\n');
    expect(calls).toHaveLength(service.requests.length);
    expect(calls[0]).toMatch(/^GET \/v1\/integration\/prompts\/prm_greeting\?environment=staging 200 \d+ ms$/);
    expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(3);
    expect((await promptsync('status --verbose')).stderr).toMatch(/^GET /);
    const environment = { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:1' };
    expect((await promptsync('plan --verbose', { environment })).stderr).toMatch(/ no answer \d+ ms\n/);
  });
});

/** `run` itself expects that neither output holds the key. */
test.each(['plan', 'plan --format json', 'sync --yes --verbose', 'plan --format markdown', 'plan --format html'])(
  'a key that was pasted into a prompt is hidden in %s',
  async (line) => {
    const { promptsync } = await makeStage({ leak: { name: `It is ${KEY}`, text: `Use ${KEY} to call.` } });
    expect(await promptsync(line)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('[redacted]') });
  },
);

test('a key that was pasted into a prompt, or its key, is hidden in every file', async () => {
  const { folder, promptsync } = await makeStage({ leak: { key: KEY, name: `It is ${KEY}`, text: `Use ${KEY}.` } });
  const files = ['a.txt', 'a.json', 'a.md', 'a.html', 'a.xml'];
  await promptsync(`sync --yes --max-changes 0 ${files.map((file) => `-o ${file}`).join(' ')}`);
  for (const file of files) {
    expect(readFileSync(join(folder, file), 'utf8')).toContain('[redacted]');
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain(KEY);
  }
});

const CLOSE = 'Call it with a-key-of-the-service & nothing else, please.';

test.each(['text', 'markdown', 'html'])(
  'a key of which only a part changes is not shown in two: %s',
  async (format) => {
    const key = 'a-key-of-the-service';
    const { folder, promptsync } = await makeStage({ leak: { text: CLOSE } }, key);
    await promptsync('sync --yes');
    writeFiles(folder, workspaceFiles({ leak: { text: CLOSE.replace('service', 'server') } }));
    const { stdout } = await promptsync(`plan --format ${format}`, { environment: { FORCE_COLOR: '1' } });
    const shown = stdout.replaceAll(/\u001b\[[0-9;]*m|<[^>]*>/g, '');
    expect(shown).toContain('Call it with [redacted]');
    expect(shown).not.toContain(key);
  },
);

test('a short key is not looked for: it may be a word of the report', async () => {
  const { promptsync } = await makeStage();
  const { stdout } = await promptsync('plan', { environment: { PROMPTSYNC_API_KEY: 'plan' } });
  expect(stdout).not.toContain('[redacted]');
});

test.each([
  ['html', /^<!doctype html>[^]*expected a commit/i],
  ['markdown', /^### promptsync plan[^]*expected a commit/i],
])('a usage error is told in %s as well', async (format, told) => {
  const words = ['plan', '--base', '', '--format', 'text', '--format', format];
  const { stdout, exitCode } = await run(makeWorkspace({}), words);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringMatching(told) });
});

test.each([
  ['--format json -o z', { z: /^\{[^]*usage\/invalid/ }],
  ['-oz.json --output=z.xml', { 'z.json': /^\{[^]*usage\/invalid/, 'z.xml': /^<\?xml [^]*usage\/invalid/ }],
  ['--output z.md -o z.txt', { 'z.md': /^### [^]*usage\/invalid/, 'z.txt': /^error: / }],
])('outputs take the report of a usage error as well: %s', async (outputs, files) => {
  const folder = makeWorkspace({});
  const { stdout, exitCode } = await run(folder, ['plan', '--foo', ...outputs.split(' ')]);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
  for (const [file, told] of Object.entries(files)) expect(readFileSync(join(folder, file), 'utf8')).toMatch(told);
});

test('where its outputs cannot be written, a usage error goes to standard output', async () => {
  const ran = await run(makeWorkspace({}), ['plan', '--foo', '--format', 'json', '-o', 'no/such/z.json']);
  expect(parseReport(ran.stdout).problems.map(({ code }) => code)).toEqual(['usage/invalid']);
});
