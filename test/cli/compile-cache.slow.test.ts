import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, CLI, startNode } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { giveToOther, makeOpenFolder, OTHER_USER } from '../support/users.ts';

describe('the compile cache', () => {
  test('promptsync stores compiled code in a private cache folder', async () => {
    const home = makeFolder();
    await startPromptsync({ HOME: home });
    expect(readdirSync(join(home, '.cache/promptsync'))).toHaveLength(1);
  });

  test('promptsync run by root uses no compile cache that another user planted in a temporary folder, in XDG_CACHE_HOME or in HOME', async ({
    skip,
  }) => {
    skip(process.getuid?.() !== 0, 'Only root can make a folder of another user.');
    const temporary = plant(makeSharedFolder(), 'node-compile-cache');
    const cacheHome = plant(makeSharedFolder(), 'promptsync');
    const home = plant(makeOpenFolder(OTHER_USER), '.cache/promptsync');
    // Node writes to each cache that it uses. Otherwise this test would show nothing.
    const asked = plant(makeSharedFolder(), 'asked');
    await startPromptsync({ HOME: makeOpenFolder(), NODE_COMPILE_CACHE: asked });
    expect(readdirSync(asked)).toHaveLength(1);
    await startPromptsync({ HOME: makeOpenFolder(), TMPDIR: dirname(temporary) });
    await startPromptsync({ HOME: makeOpenFolder(), XDG_CACHE_HOME: dirname(cacheHome) });
    await startPromptsync({ HOME: dirname(dirname(home)) });
    expect([temporary, cacheHome, home].map((folder) => readdirSync(folder))).toEqual([[], [], []]);
  });
});

/** Runs promptsync with these variables. */
async function startPromptsync(variables: Readonly<Record<string, string>>): Promise<void> {
  const environment = childEnvironment({ XDG_CACHE_HOME: undefined, ...variables });
  const { ended } = startNode(CLI, ['--version'], { cwd: makeFolder(), environment });
  expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });
}

/** Makes a folder like /tmp, in which everybody may make files. */
function makeSharedFolder(): string {
  const folder = makeOpenFolder();
  chmodSync(folder, 0o1777);
  return folder;
}

/** Makes an empty folder of the other user at a path below a folder, and returns it. */
function plant(folder: string, path: string): string {
  const planted = join(folder, path);
  mkdirSync(planted, { recursive: true });
  giveToOther(join(folder, path.split('/')[0] ?? ''));
  return planted;
}
