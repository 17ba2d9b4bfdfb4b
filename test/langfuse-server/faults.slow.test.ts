import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLangfuseServer, type LangfuseServer } from './server.ts';
import { openWorkspace, type Trouble } from './workspace.ts';

let server: LangfuseServer;
beforeAll(async () => void (server = await openLangfuseServer()));
afterAll(() => server.close());

/** Both kinds of trouble, on both sides of each write of a run with `writes` writes. */
function troubles(writes: number): readonly Trouble[] {
  return Array.from({ length: writes }, (_, index) => index + 1).flatMap((write) =>
    (['the connection breaks', 'promptsync is killed'] as const).flatMap((what) =>
      (['before the server has seen', 'after the server has done'] as const).map((when) => ({ write, what, when })),
    ),
  );
}

describe('an interrupted sync with a Langfuse server', () => {
  test.each(troubles(1))(
    'the next sync leaves exactly one version of a new prompt if $what $when write $write',
    async (trouble) => {
      const id = server.newName();
      const workspace = await openWorkspace(server);
      workspace.commit({ id, text: 'One.', pins: { staging: 'latest', production: 'latest' } });
      await workspace.syncInTrouble(trouble);
      await expectConverged(workspace.run);
      expect((await server.versions(id)).map(({ text, labels }) => [text, labels.toSorted()])).toEqual([
        ['One.', ['latest', 'production', 'staging']],
      ]);
    },
  );

  // The run creates a version for staging (write 1) and then moves production to an existing version (write 2).
  test.each(troubles(2))(
    'the next sync completes an edit and a promotion without a duplicate version if $what $when write $write',
    async (trouble) => {
      const id = server.newName();
      const workspace = await openWorkspace(server);
      workspace.commit({ id, text: 'One.', pins: { staging: 'latest' } });
      expect((await workspace.run('sync', '--yes')).exitCode).toBe(0);
      workspace.commit({ id, text: 'Two.', pins: { staging: 'latest', production: 1 } });
      await workspace.syncInTrouble(trouble);
      await expectConverged(workspace.run);
      expect((await server.versions(id)).map(({ text, labels }) => [text, labels.toSorted()])).toEqual([
        ['One.', ['production']],
        ['Two.', ['latest', 'staging']],
      ]);
    },
  );
});

/** Syncs once more, and expects that nothing is left to do afterwards. */
async function expectConverged(run: (...words: readonly string[]) => Promise<{ readonly exitCode: number }>) {
  const exitCodes = [await run('sync', '--yes'), await run('plan', '--exit-code')].map(({ exitCode }) => exitCode);
  expect(exitCodes).toEqual([0, 0]);
}
