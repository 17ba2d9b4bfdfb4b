import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { parseReport, run } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';
import { makeStage } from './stage.ts';

/** `run` itself expects that neither output holds the key. */
test.each(['plan', 'plan --format json', 'sync --yes --verbose', 'plan --format markdown', 'plan --format html'])(
  'a key that was pasted into a prompt is hidden in %s, and in a file',
  async (line) => {
    const { folder, promptsync } = await makeStage({ leak: { name: `It is ${KEY}`, text: `Use ${KEY} to call.` } });
    expect(await promptsync(line)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('[redacted]') });
    await promptsync(`${line} -o out.txt`);
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).not.toContain(KEY);
  },
);

const CLOSE = 'Call it with a-key-of-the-service & nothing else, please.';

test.each(['text', 'markdown', 'html'])(
  'a key of which only a part changes is not shown in two: %s',
  async (format) => {
    const key = 'a-key-of-the-service';
    const service = await startTestService(['leak'], key);
    const folder = makeWorkspace(workspaceFiles({ leak: { text: CLOSE } }));
    await run(folder, ['sync', '--yes'], service);
    writeFiles(folder, workspaceFiles({ leak: { text: CLOSE.replace('service', 'server') } }));
    const environment = { ...service.environment, FORCE_COLOR: '1' };
    const { stdout } = await run(folder, ['plan', '--format', format], { environment });
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

test.each(['-o', '--output'])('%s takes the JSON report of a usage error as well', async (flag) => {
  const folder = makeWorkspace({});
  const { stdout, exitCode } = await run(folder, ['plan', '--foo', '--format', 'json', flag, 'z.json']);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
  const { problems } = parseReport(readFileSync(join(folder, 'z.json'), 'utf8'));
  expect(problems.map(({ code }) => code)).toEqual(['usage/invalid']);
});
