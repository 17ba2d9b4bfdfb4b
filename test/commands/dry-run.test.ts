import { expect, test } from 'vitest';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const both = { staging: 'latest', production: 'latest' };

test('sync --dry-run --exit-code sends only GET requests and exits with 2 if changes are pending', async () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: { pins: both } }));
  const { environment, requests } = await startTestService(['greeting']);
  await run(folder, ['sync', '--yes'], { environment });
  requests.splice(0);
  const rows: readonly (readonly [number, PromptParts])[] = [
    [2, { pins: both, text: 'Second text.', metadata: { model: 'm' } }],
    [2, { pins: both, key: 'k', name: 'n', description: 'd' }],
    [2, { pins: { ...both, canary: 1 } }],
    [3, { pins: { staging: 9 } }],
    [3, { pins: { staging: 'version:ver_nowhere' } }],
    [0, { pins: both }],
  ];
  for (const [exitCode, next] of rows) {
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', next) });
    for (const command of exitCode === 2 ? ['plan', 'status'] : []) await run(folder, [command], { environment });
    const ran = await run(folder, ['sync', '--dry-run', '--exit-code', '--yes'], { environment });
    expect([next, ran.exitCode]).toEqual([next, exitCode]);
  }
  expect([...new Set(requests.map(({ method }) => method))]).toEqual(['GET']);
});
