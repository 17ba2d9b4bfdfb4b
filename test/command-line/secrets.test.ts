import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { parseReport } from '../support/report.ts';
import { run } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';

/** `run` itself expects that neither output holds the key. */
test.each([
  ['text', ['plan']],
  ['json', ['plan', '--format', 'json']],
  ['an apply', ['sync', '--yes', '--verbose']],
  ['a file', ['plan', '-o', 'out.txt']],
])('a key that was pasted into a prompt is hidden in %s', async (_, words) => {
  const service = await startTestService(['leak']);
  const folder = makeWorkspace(workspaceFiles({ leak: { name: `It is ${KEY}`, text: `Use ${KEY} to call.` } }));
  const { stdout, exitCode } = await run(folder, words, service);
  const report = words.includes('-o') ? readFileSync(join(folder, 'out.txt'), 'utf8') : stdout;
  expect(exitCode).toBe(0);
  expect(report).toContain('[redacted]');
  expect(report).not.toContain(KEY);
});

test('a short key is not looked for: it may be a word of the report', async () => {
  const { environment } = await startTestService([]);
  const folder = makeWorkspace(workspaceFiles({ a: {} }));
  const { stdout } = await run(folder, ['plan'], { environment: { ...environment, PROMPTSYNC_API_KEY: 'plan' } });
  expect(stdout).not.toContain('[redacted]');
});

test.each(['-o', '--output'])('%s takes the JSON report of a usage error as well', async (flag) => {
  const folder = makeWorkspace({});
  const { stdout, exitCode } = await run(folder, ['plan', '--foo', '--format', 'json', flag, 'z.json']);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
  const { problems } = parseReport(readFileSync(join(folder, 'z.json'), 'utf8'));
  expect(problems.map(({ code }) => code)).toEqual(['usage/invalid']);
});
