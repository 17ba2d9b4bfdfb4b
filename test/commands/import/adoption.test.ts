import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { makeAdoption, textOf, type ServedTexts } from './importing.ts';

const PATH = 'prompts/greeting.md';
const TWO_STAGES = `${CONFIG}environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;
const ONE = 'One.\n\nBody.\n\nEnd of one.';
const TWO = 'Two.\n\nBody.\n\nEnd of two.';
const SERVED: ServedTexts = { greeting: { production: ONE, staging: TWO } };

type Adoption = Awaited<ReturnType<typeof makeAdoption>>;

/** Imports all prompts with `import --commit`, and then syncs them. */
async function adopt(served = SERVED): Promise<Adoption> {
  const scene = await makeAdoption(served, TWO_STAGES);
  expect((await scene.importAll('--commit')).exitCode).toBe(0);
  await sync(scene);
  return scene;
}

async function sync({ run }: Adoption): Promise<void> {
  expect(await run(['sync', '--yes'])).toMatchObject({ exitCode: 0 });
}

describe('a prompt adopted with import --commit', () => {
  test('The first sync after import --commit creates only a baseline', async () => {
    const scene = await makeAdoption(SERVED, TWO_STAGES);
    await scene.importAll('--commit');
    const { report } = await scene.json('plan');
    expect(report.prompts[0]?.changes).toMatchObject([{ kind: 'create-version', baseline: true }]);
    await sync(scene);
    expect((await scene.run(['plan', '--exit-code'])).exitCode).toBe(0);
  });

  test('The first rollback after import --commit and its plan show the texts of both versions', async () => {
    const scene = await adopt();
    const { folder, json } = scene;
    expect((await json('promote', 'greeting', '--to', 'production', '--commit')).exitCode).toBe(0);
    await sync(scene);
    const { report } = await json('rollback', 'greeting', '--environment', 'production', '--commit');
    expect(report.prompts[0]?.edits).toMatchObject([
      { kind: 'set-pin', environment: 'production', after: '1', serves: { before_text: TWO, after_text: ONE } },
    ]);
    const plan = await json('plan');
    expect(plan.report.prompts[0]?.changes).toMatchObject([
      { kind: 'set-active', environment: 'production', before_text: TWO, after_text: ONE },
    ]);
    await sync(scene);
    expect(git(folder, 'status', '--short')).toBe('');
    expect((await scene.run(['plan', '--exit-code'])).exitCode).toBe(0);
  });

  test("After import --commit, a pin can refer to the commit that holds another environment's text", async () => {
    const scene = await adopt();
    const commit = git(scene.folder, 'rev-parse', 'HEAD~1');
    const source = scene.read(PATH).replace(/production: .*/, `production: git:${commit}`);
    writeFiles(scene.folder, { [PATH]: source });
    commitAll(scene.folder, 'Pin the commit');
    expect((await scene.json('plan', '--exit-code')).report.prompts[0]?.status).toBe('unchanged');
  });

  test('history labels the versions from before the first sync as "before adoption", and marks the baseline', async () => {
    const scene = await adopt();
    scene.change('greeting', 'staging', 'Somebody’s.');
    const { report } = await scene.json('history', 'greeting');
    const versions = report.prompts[0]?.history?.versions ?? [];
    expect(versions.map(({ version_number: number, made_by: by, baseline }) => [number, by, baseline])).toEqual([
      [4, 'outside', undefined],
      [3, 'git', true],
      [2, 'before-adoption', undefined],
      [1, 'before-adoption', undefined],
    ]);
    const { stdout } = await scene.run(['history', 'greeting']);
    expect(stdout).toMatch(/^v4 +[-\d]{10} [:\d]{5} +created outside git$/m);
    expect(stdout).toMatch(/^v3 baseline .* Import 1 prompt$/m);
    expect(stdout).toMatch(/^v1 .* before adoption$/m);
    const lineage = await scene.run(['history', 'greeting', '--environment', 'production']);
    expect(lineage.stdout).toMatch(/^made .* before adoption$/m);
  });
});

describe('a pull between import --commit and the first sync', () => {
  const EDIT = TWO.replace('Body.', 'Body of somebody.');

  test('After import --commit, pull writes an edit that somebody made in the service to the prompt file', async () => {
    const scene = await makeAdoption(SERVED, TWO_STAGES);
    await scene.importAll('--commit');
    scene.change('greeting', 'staging', EDIT);
    const { exitCode, report } = await scene.json('pull');
    expect({ exitCode, problems: report.prompts[0]?.problems }).toEqual({ exitCode: 0, problems: [] });
    expect(textOf(scene.read(PATH))).toBe(EDIT);
  });

  test.each([
    [
      'After import --commit, pull writes a hot fix in staging to the file even if both environments served the same version',
      'staging',
    ],
    [
      'After import --commit, pull writes a hot fix in production to the file even if both environments served the same version',
      'production',
    ],
  ])('%s', async (_, environment) => {
    const scene = await makeAdoption({ greeting: { production: TWO, staging: TWO } }, TWO_STAGES);
    await scene.importAll('--commit');
    scene.change('greeting', environment, EDIT);
    const { exitCode, report } = await scene.json('pull');
    expect({ exitCode, problems: report.prompts[0]?.problems }).toEqual({ exitCode: 0, problems: [] });
    expect(textOf(scene.read(PATH))).toBe(EDIT);
  });

  test('pull recognizes the commits of import --commit even if a hook added a ticket number to their messages', async () => {
    const scene = await makeAdoption(SERVED, TWO_STAGES);
    writeFiles(scene.folder, { '.git/hooks/commit-msg': '#!/bin/sh\nsed -i.bak "1s/^/ABC-1: /" "$1"\n' });
    chmodSync(join(scene.folder, '.git/hooks/commit-msg'), 0o755);
    await scene.importAll('--commit');
    expect(scene.subjects()[0]).toBe('ABC-1: Import prompts as production serves them');
    scene.change('greeting', 'staging', EDIT);
    expect((await scene.json('pull')).exitCode).toBe(0);
    expect(textOf(scene.read(PATH))).toBe(EDIT);
  });

  test.each([
    [
      'Before the first sync, pull merges an edit made in production and uses the text from import --commit as the merge base',
      false,
    ],
    [
      'After the first sync, pull merges an edit made in production and uses the text from import --commit as the merge base',
      true,
    ],
  ])('%s', async (_, isSynced) => {
    const scene = await makeAdoption({ greeting: { production: ONE, staging: TWO } }, TWO_STAGES);
    await scene.importAll('--commit');
    if (isSynced) await sync(scene);
    scene.change('greeting', 'production', ONE.replace('Body.', 'Body of somebody.'));
    const { exitCode, report } = await scene.json('pull');
    expect({ exitCode, problems: report.prompts[0]?.problems }).toEqual({ exitCode: 0, problems: [] });
    expect(textOf(scene.read(PATH))).toBe(EDIT);
    expect(scene.read(PATH)).toContain(`production: version:${scene.idIn('greeting', 'production')}`);
  });

  test('If the text of the file changed after import --commit, pull reports a conflict with an edit made in the service', async () => {
    const scene = await makeAdoption(SERVED, TWO_STAGES);
    await scene.importAll('--commit');
    writeFiles(scene.folder, { [PATH]: scene.read(PATH).replace('End of two.', 'End.') });
    commitAll(scene.folder, 'Import prompts as I like them');
    scene.change('greeting', 'staging', EDIT);
    const { exitCode, report } = await scene.json('pull');
    expect({ exitCode, codes: report.prompts[0]?.problems.map(({ code }) => code) }).toEqual({
      exitCode: 4,
      codes: ['pull/conflict'],
    });
    const lines = scene.read(PATH).split('\n');
    for (const line of ['End.', 'End of two.', 'Body.', 'Body of somebody.']) expect(lines).toContain(line);
  });

  test('After import --commit, pull changes nothing if nobody has changed the prompt in the service', async () => {
    const scene = await makeAdoption(SERVED, TWO_STAGES);
    await scene.importAll('--commit');
    const { exitCode, report } = await scene.json('pull');
    expect({ exitCode, status: report.prompts[0]?.status }).toEqual({ exitCode: 0, status: 'unchanged' });
  });
});
