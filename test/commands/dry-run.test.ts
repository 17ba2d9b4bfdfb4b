import { describe, expect, test } from 'vitest';
import { commitAll, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const both = { staging: 'latest', production: 'latest' };

describe('a dry run', () => {
  test.each<[string, number, PromptParts]>([
    ['a new text', 2, { pins: both, text: 'Second text.' }],
    ['new metadata', 2, { pins: both, metadata: { model: 'm' } }],
    ['another name, key and description', 2, { pins: both, key: 'k', name: 'n', description: 'd' }],
    ['a further environment', 2, { pins: { ...both, canary: 'latest' } }],
    ['a pinned number', 2, { pins: { ...both, canary: 1 } }],
    ['a number that is not there', 3, { pins: { staging: 9 } }],
    ['an id that was never read', 2, { pins: { staging: 'version:ver_nowhere' } }],
    ['a git ref', 0, { pins: { staging: 'git:HEAD' } }],
    ['a text that no environment follows', 2, { pins: {}, text: 'Second text.' }],
    ['nothing pending', 0, { pins: both }],
  ])('sends nothing but GET: %s (exit %i)', async (_, exitCode, next) => {
    const make = next.pins?.['staging'] === 'git:HEAD' ? makeRepository : makeWorkspace;
    const folder = make(workspaceFiles({ greeting: { pins: both } }));
    const { environment, requests } = await startTestService(['greeting']);
    await run(folder, ['sync', '--yes'], { environment });
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', next) });
    requests.splice(0);
    await run(folder, ['plan'], { environment });
    await run(folder, ['status'], { environment });
    expect(await run(folder, ['sync', '--dry-run', '--exit-code', '--yes'], { environment })).toMatchObject({
      exitCode,
    });
    expect([...new Set(requests.map(({ method }) => method))]).toEqual(['GET']);
  });

  test('says on standard error that a sync would refuse a file which is not committed', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: {} }));
    const { environment } = await startTestService(['greeting']);
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'Edited.' }) });
    const { exitCode, stderr, report } = await runJson(folder, ['plan', '--exit-code'], { environment });
    expect(exitCode).toBe(2);
    expect(report.problems).toMatchObject([
      { code: 'git/uncommitted', severity: 'warning', path: 'prompts/greeting.md' },
    ]);
    expect(stderr).toContain('prompts/greeting.md: warning: The prompt file differs from the last commit');
    expect(await run(folder, ['plan', '--allow-dirty'], { environment })).toMatchObject({ stderr: '' });
    commitAll(folder, 'Edit');
    expect(await run(folder, ['plan'], { environment })).toMatchObject({ stderr: '' });
  });

  test('reports the same changes and the same digest each time', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { pins: both }, refund: {} }));
    const { environment } = await startTestService(['greeting', 'refund']);
    const first = await runJson(folder, ['plan'], { environment });
    const second = await runJson(folder, ['sync', '--dry-run'], { environment });
    expect(second.stdout).toBe(first.stdout);
    const applied = await runJson(folder, ['sync', '--yes'], { environment });
    expect(applied.report.plan_digest).toBe(first.report.plan_digest);
  });
});
