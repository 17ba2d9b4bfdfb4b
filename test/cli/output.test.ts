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
import { makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { parseReport, run } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

async function makeStage(): Promise<{ folder: string; service: TestService }> {
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  return { folder, service: await startTestService(['greeting']) };
}

describe('--output', () => {
  test('takes the report, and standard output stays empty', async () => {
    const { folder, service } = await makeStage();
    const { stdout, stderr, exitCode } = await run(folder, ['plan', '--format', 'json', '-o', 'out.json'], service);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    expect(parseReport(readFileSync(join(folder, 'out.json'), 'utf8')).summary.create_version).toBe(1);
    expect(stderr).toMatch(/^Plan: 1 to create/);
  });

  test('replaces a file as a whole and leaves nothing else behind', async () => {
    const { folder, service } = await makeStage();
    writeFileSync(join(folder, 'out.txt'), 'x'.repeat(100_000));
    await run(folder, ['plan', '--output', 'out.txt'], service);
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toMatch(/^greeting {2}prompts\/greeting\.md\n/);
    expect(readdirSync(folder).toSorted()).toEqual(['out.txt', 'prompts', 'promptsync.yaml']);
  });

  test('follows a symbolic link instead of replacing it', async () => {
    const { folder, service } = await makeStage();
    writeFileSync(join(folder, 'target.txt'), '');
    symlinkSync('target.txt', join(folder, 'out.txt'));
    await run(folder, ['plan', '--output', 'out.txt'], service);
    expect(readFileSync(join(folder, 'target.txt'), 'utf8')).toContain('create version');
  });

  // A named pipe of its own stands for all that is no file, such as /dev/null: a mistake must not replace that one.
  test('writes into what is no regular file, and leaves it as it is', async () => {
    const { folder, service } = await makeStage();
    const pipe = join(folder, 'out.pipe');
    execFileSync('mkfifo', [pipe]);
    const opened = openSync(pipe, constants.O_RDWR);
    onTestFinished(() => closeSync(opened));
    const ran = await run(folder, ['plan', '--quiet', '--output', 'out.pipe'], service);
    expect(ran).toMatchObject({ stdout: '', exitCode: 0 });
    expect(statSync(pipe).isFIFO()).toBe(true);
    const bytes = Buffer.alloc(1_000);
    expect(bytes.toString('utf8', 0, readSync(opened, bytes))).toMatch(/^Plan: 1 to create/);
  });

  test('errors are on standard error too, and quiet leaves them there', async () => {
    const { folder } = await makeStage();
    for (const words of [
      ['plan', '-o', 'out.txt'],
      ['plan', '-q', '-o', 'out.txt'],
    ]) {
      const { stdout, stderr, exitCode } = await run(folder, words);
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
      expect(stderr).toContain('error: No service is configured.');
    }
  });

  test.each([
    ['no/such/folder/out.txt', 'there is no such folder'],
    ['prompts', 'it is a folder'],
    ['', 'it is a folder'],
    ['promptsync.yaml/out.txt', 'there is no such folder'],
  ])('that cannot be written is known before anything is done: %j', async (output, reason) => {
    const { folder, service } = await makeStage();
    const { stdout, exitCode } = await run(folder, ['sync', '--yes', '--output', output], service);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`(${reason})`);
    expect(service.requests).toEqual([]);
  });

  test('that turns out not to be writable puts the report on standard output: what was done must be told', async () => {
    const { folder, service } = await makeStage();
    const output = join(folder, 'out', 'out.json');
    mkdirSync(join(folder, 'out'));
    const front = await startFront({
      target: service.baseUrl,
      answer: () => {
        rmSync(join(folder, 'out'), { recursive: true, force: true });
        return null;
      },
    });
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    const ran = await run(folder, ['sync', '--yes', '--format', 'json', '--output', output], { environment });
    expect(ran.exitCode).toBe(1);
    expect(parseReport(ran.stdout).summary.applied).toBe(1);
    expect(ran.stderr).toContain('The report cannot be written');
  });
});

describe('what goes where', () => {
  test('warnings go to standard error, in every format, and not with quiet', async () => {
    const files = workspaceFiles({ greeting: { text: 'hid\u200bden' } });
    const folder = makeWorkspace(files);
    const warning = 'prompts/greeting.md:8:4: warning: The file contains the invisible character \\u{200b}.';
    for (const format of ['text', 'json']) {
      const loud = await run(folder, ['validate', '--format', format]);
      expect(loud.stderr.startsWith(warning)).toBe(true);
      expect(loud.exitCode).toBe(0);
      expect((await run(folder, ['validate', '--quiet', '--format', format])).stderr).toBe('');
    }
  });

  test('--verbose tells of each call, and never the key', async () => {
    const { folder, service } = await makeStage();
    const { stderr } = await run(folder, ['sync', '--yes', '--verbose'], service);
    const calls = stderr.trimEnd().split('\n');
    expect(calls).toHaveLength(service.requests.length);
    expect(calls[0]).toMatch(/^GET \/v1\/integration\/prompts\/prm_greeting\?environment=staging 200 \d+ ms$/);
    expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(3);
  });

  test('--verbose of status, and of a service that does not answer', async () => {
    const { folder, service } = await makeStage();
    expect((await run(folder, ['status', '--verbose'], service)).stderr).toMatch(/^GET /);
    const environment = { ...service.environment, PROMPTSYNC_BASE_URL: 'http://127.0.0.1:1' };
    expect((await run(folder, ['plan', '--verbose'], { environment })).stderr).toMatch(/ no answer \d+ ms\n/);
  });
});
