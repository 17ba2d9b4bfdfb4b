import { expect, test } from 'vitest';
import { commitAll, type Files, initRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const EDITS = 25;
const IDS = ['never', 'once', 'always'];

/** One story for the three of them, and no git where it plays no part: 25 edits take their time. */
test('pin 1 after 25 edits: found where it was pinned once or all along, else blocked; git:<ref> always works', async () => {
  const folder = makeWorkspace(files((id) => parts(id, 0)));
  const service = await startTestService(IDS);
  const sync = () => runJson(folder, ['sync', '--yes'], service);
  const production = (id: string) => service.store.readPrompt(`prm_${id}`, 'production')?.active_version ?? null;
  for (let edit = 0; edit <= EDITS; edit += 1) {
    writeFiles(
      folder,
      files((id) => parts(id, edit)),
    );
    expect(await sync()).toMatchObject({ exitCode: 0 });
  }

  const pinned = (pin: string | number) =>
    files((id) => ({ ...parts(id, EDITS), pins: { staging: 'latest', production: pin } }));
  writeFiles(folder, pinned(1));
  const { exitCode, report } = await sync();
  expect(exitCode).toBe(3);
  expect(report.prompts).toMatchObject([
    { key: 'always', status: 'unchanged' },
    { key: 'never', status: 'blocked', problems: [{ code: 'pin/unknown-number' }] },
    { key: 'once', status: 'applied' },
  ]);
  expect(report.prompts[1]!.problems[0]!.hint).toContain('git:<ref>');
  expect(IDS.map((id) => production(id)?.version_number ?? null)).toEqual([null, 1, 1]);

  writeFiles(
    folder,
    files((id) => parts(id, 0)),
  );
  initRepository(folder);
  commitAll(folder, 'First texts');
  writeFiles(folder, pinned('git:HEAD~1'));
  commitAll(folder, 'Last texts');
  expect(await sync()).toMatchObject({ exitCode: 0 });
  expect(IDS.map((id) => production(id)?.content)).toEqual(['never 0', 'once 0', 'always 0']);
  expect(await runJson(folder, ['plan'], service)).toMatchObject({ report: { summary: { unchanged: 3 } } });
});

function files(partsOf: (id: string) => PromptParts): Files {
  return workspaceFiles(Object.fromEntries(IDS.map((id) => [id, partsOf(id)])));
}

/** `once` has version 1 pinned for a while, and then the next one. */
function parts(id: string, edit: number): PromptParts {
  const number = id === 'never' || edit < 2 ? null : id === 'always' || edit < 4 ? 1 : 2;
  return { text: `${id} ${edit}`, pins: { staging: 'latest', ...(number !== null && { production: number }) } };
}
