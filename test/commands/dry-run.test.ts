import { describe, expect, test } from 'vitest';
import { commitAll, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const both = { staging: 'latest', production: 'latest' };

describe('a dry run', () => {
  test('sync --dry-run --exit-code sends only GET requests and exits with 2 if changes are pending', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { pins: both } }));
    const { environment, requests } = await startTestService(['greeting']);
    await run(folder, ['sync', '--yes'], { environment });
    requests.splice(0);
    const rows: readonly (readonly [number, PromptParts])[] = [
      [2, { pins: both, text: 'Second text.' }],
      [2, { pins: both, metadata: { model: 'm' } }],
      [2, { pins: both, key: 'k', name: 'n', description: 'd' }],
      [2, { pins: { ...both, canary: 'latest' } }],
      [2, { pins: { ...both, canary: 1 } }],
      [3, { pins: { staging: 9 } }],
      [3, { pins: { staging: 'version:ver_nowhere' } }],
      [0, { pins: { staging: 'git:HEAD' } }],
      [2, { pins: {}, text: 'Second text.' }],
      [0, { pins: both }],
    ];
    for (const [exitCode, next] of rows) {
      writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', next) });
      await run(folder, ['plan'], { environment });
      await run(folder, ['status'], { environment });
      const ran = await run(folder, ['sync', '--dry-run', '--exit-code', '--yes'], { environment });
      expect([next, ran.exitCode]).toEqual([next, exitCode]);
    }
    expect([...new Set(requests.map(({ method }) => method))]).toEqual(['GET']);
  });

  test('plan warns on standard error that sync would refuse an uncommitted prompt file', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const { environment } = await startTestService(['greeting']);
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'Edited.' }) });
    const { exitCode, stderr, report } = await runJson(folder, ['plan', '--exit-code'], { environment });
    expect(exitCode).toBe(2);
    expect(report.problems).toMatchObject([
      { code: 'git/uncommitted', severity: 'warning', path: 'prompts/greeting.md' },
    ]);
    expect(stderr).toContain('prompts/greeting.md: warning: The prompt file has uncommitted changes');
    expect(await run(folder, ['plan', '--allow-dirty'], { environment })).toMatchObject({ stderr: '' });
    commitAll(folder, 'Edit');
    expect(await run(folder, ['plan'], { environment })).toMatchObject({ stderr: '' });
  });

  test('plan, sync --dry-run and sync report the same plan digest', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { pins: both }, refund: {} }));
    const { environment } = await startTestService(['greeting', 'refund']);
    const first = await runJson(folder, ['plan'], { environment });
    const second = await runJson(folder, ['sync', '--dry-run'], { environment });
    expect(second.stdout).toBe(first.stdout);
    const applied = await runJson(folder, ['sync', '--yes'], { environment });
    expect(applied.report.plan_digest).toBe(first.report.plan_digest);
  });
});

test('plan notes that promptsync has not read a pinned version yet, and sync then activates that version', async () => {
  const service = await startTestService(['a']);
  const folder = makeWorkspace(workspaceFiles({ a: { text: 'One', pins: { staging: 'latest' } } }));
  await run(folder, ['sync', '--yes'], service);
  writeFiles(folder, workspaceFiles({ a: { text: 'Two', pins: { staging: 'latest' } } }));
  await run(folder, ['sync', '--yes'], service);
  // Outside git only the service has the first text, and no environment serves it now.
  writeFiles(folder, workspaceFiles({ a: { text: 'Two', pins: { staging: 1 } } }));
  const planned = await run(folder, ['plan'], service);
  expect(planned.stdout).toContain('staging: promptsync has not read the new text yet, but will do so before it syncs');
  const { stdout, exitCode } = await run(folder, ['sync', '--yes'], service);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('→ staging: v2 → v1') });
  expect(stdout).not.toContain('never read');
});
