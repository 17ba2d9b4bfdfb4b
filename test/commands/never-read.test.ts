import { expect, test } from 'vitest';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

test('A version that was never read is said to be so before an apply, which reads it, and not after it', async () => {
  const service = await startTestService(['a']);
  const folder = makeWorkspace(workspaceFiles({ a: { text: 'One', pins: { staging: 'latest' } } }));
  await run(folder, ['sync', '--yes'], service);
  writeFiles(folder, workspaceFiles({ a: { text: 'Two', pins: { staging: 'latest' } } }));
  await run(folder, ['sync', '--yes'], service);
  // Outside of git nothing but the service has the first text, and no environment serves it any more.
  writeFiles(folder, workspaceFiles({ a: { text: 'Two', pins: { staging: 1 } } }));
  const planned = await run(folder, ['plan'], service);
  expect(planned.stdout).toContain('staging: the text to come was never read; a sync looks at it first');
  const { stdout, exitCode } = await run(folder, ['sync', '--yes'], service);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('→ staging: v2 → v1') });
  expect(stdout).not.toContain('never read');
});
