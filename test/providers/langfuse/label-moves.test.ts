import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { commitAll, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';

const NAME = 'greeting';

/**
 * Makes a Langfuse in which version 1 has both labels, and a workspace that pins both labels to version 2.
 * @param secondText the text of version 2, which Langfuse does not check
 * @param onFirstMove called right after the first request has moved the labels
 */
async function makeScene(secondText = 'Two.', onFirstMove = (_move: (version: number, label: string) => void) => {}) {
  let writes = 0;
  const langfuse = await startLangfuse({
    pause: async () => {
      writes += 1;
      if (writes === 1) setImmediate(() => onFirstMove((version, label) => store.moveLabel(NAME, version, label)));
    },
  });
  const { store } = langfuse;
  store.addVersion(NAME, { text: 'One.', labels: ['staging', 'production'] });
  store.addComposedVersion(NAME, secondText);
  const folder = makeFolder();
  initRepository(folder);
  writeFiles(folder, {
    'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n`,
    'prompts/greeting.md': `---\nid: ${NAME}\npins: { staging: 2, production: 2 }\n---\n\nOne.\n`,
  });
  commitAll(folder, 'Move both labels');
  const sync = async () => {
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], langfuse);
    const [prompt] = report.prompts;
    return {
      exitCode,
      changes: prompt?.changes.map(({ status }) => status),
      problems: prompt?.problems.map(({ code }) => code),
    };
  };
  return { langfuse, store, sync };
}

/** A composition tag that includes its own prompt, which Langfuse cannot resolve. */
const CIRCULAR = `@@@langfusePrompt:name=${NAME}|version=2@@@`;

describe('labels that move to an existing version', () => {
  test('sync moves two labels to the same version in one request', async () => {
    const { langfuse, store, sync } = await makeScene();
    expect(await sync()).toEqual({ exitCode: 0, changes: ['made', 'made'], problems: [] });
    expect(langfuse.takeWrites()).toEqual([`PATCH ${NAME} v2 [staging, production]`]);
    expect(store.serves(NAME, 'production')).toMatchObject({ version: 2 });
  });

  test('sync moves a label again in a separate request if Langfuse still returns the old version for it', async () => {
    const { langfuse, store, sync } = await makeScene('Two.', (move) => move(1, 'production'));
    expect(await sync()).toEqual({ exitCode: 0, changes: ['made', 'made'], problems: [] });
    expect(langfuse.takeWrites()).toEqual([`PATCH ${NAME} v2 [staging, production]`, `PATCH ${NAME} v2 [production]`]);
    expect(store.serves(NAME, 'production')).toMatchObject({ version: 2 });
  });
});

describe('a PATCH that Langfuse answers with 409', () => {
  test('sync reports the labels as moved if Langfuse moved them but cannot resolve the composition', async () => {
    const { store, sync } = await makeScene(CIRCULAR);
    expect(await sync()).toEqual({ exitCode: 0, changes: ['made', 'made'], problems: ['langfuse/composition-fails'] });
    expect(store.serves(NAME, 'production')).toMatchObject({ version: 2 });
  });

  test('sync reports no broken composition if only the version that previously had the labels is broken', async () => {
    const { store, sync } = await makeScene();
    const broken = store.addComposedVersion(NAME, CIRCULAR.replace('2', '3'));
    for (const label of ['staging', 'production']) store.moveLabel(NAME, broken, label);
    expect(await sync()).toEqual({ exitCode: 0, changes: ['made', 'made'], problems: [] });
    expect(store.serves(NAME, 'production')).toMatchObject({ version: 2 });
  });

  test('sync fails if Langfuse answers 409 and did not move the labels', async () => {
    const { langfuse, store, sync } = await makeScene();
    langfuse.fail({ method: 'PATCH', path: /versions/ }, { status: 409, body: { message: 'Conflict' } }, 5);
    const { exitCode, changes, problems } = await sync();
    expect([exitCode, changes]).toEqual([4, ['unknown', 'unknown']]);
    expect(problems).toContain('apply/not-active');
    expect(store.serves(NAME, 'production')).toMatchObject({ version: 1 });
  });
});
