import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLangfuseServer, type LangfuseServer } from './server.ts';
import { openWorkspace, type Trouble, type Workspace } from './workspace.ts';

let server: LangfuseServer;
beforeAll(async () => void (server = await openLangfuseServer()));
afterAll(() => server.close());

/**
 * Both kinds of trouble, on both sides of each write. The run creates a version for staging (write 1) and then moves
 * production to an existing version (write 2).
 */
const TROUBLES = [1, 2].flatMap((write) =>
  (['the connection breaks', 'promptsync is killed'] as const).flatMap((what) =>
    (['before the server has seen', 'after the server has done'] as const).map((when): Trouble => ({
      write,
      what,
      when,
    })),
  ),
);

/** Syncs once more, expects that nothing is left to do afterwards, and returns the texts and labels of a prompt. */
async function converge({ run }: Workspace, name: string) {
  const exitCodes = [await run('sync', '--yes'), await run('plan', '--exit-code')].map(({ exitCode }) => exitCode);
  expect(exitCodes).toEqual([0, 0]);
  return (await server.versions(name)).map(({ text, labels }) => [text, ...labels.toSorted()]);
}

test('the next sync leaves exactly one version of a new prompt if promptsync is killed after the server has created it', async () => {
  const id = server.newName();
  const workspace = await openWorkspace(server);
  workspace.commit({ id, text: 'One.', pins: { staging: 'latest', production: 'latest' } });
  await workspace.syncInTrouble({ write: 1, what: 'promptsync is killed', when: 'after the server has done' });
  expect(await converge(workspace, id)).toEqual([['One.', 'latest', 'production', 'staging']]);
});

test.each(TROUBLES)(
  'the next sync completes an edit and a promotion without a duplicate version if $what $when write $write',
  async (trouble) => {
    const id = server.newName();
    const workspace = await openWorkspace(server);
    workspace.commit({ id, text: 'One.', pins: { staging: 'latest' } });
    expect((await workspace.run('sync', '--yes')).exitCode).toBe(0);
    workspace.commit({ id, text: 'Two.', pins: { staging: 'latest', production: 1 } });
    await workspace.syncInTrouble(trouble);
    expect(await converge(workspace, id)).toEqual([
      ['One.', 'production'],
      ['Two.', 'latest', 'staging'],
    ]);
  },
);
