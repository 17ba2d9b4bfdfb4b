import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleCli } from '../../scripts/bundle-cli.ts';

/**
 * Before the first test: a folder that all tests of this run share, with the command line as one bundle, for children
 * start three times as fast from it as from the sources, and with a home of its own. Nothing of the user's own
 * configuration of git is read, nor what a hook of git's hands on to the run; the product reads the home as well.
 */
export async function setup(): Promise<() => void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-tests-')));
  for (const name of Object.keys(process.env)) {
    if (/^(GIT_|XDG_CONFIG_HOME$)/.test(name)) delete process.env[name];
  }
  Object.assign(process.env, {
    HOME: join(folder, 'home'),
    GIT_CONFIG_NOSYSTEM: '1',
    TESTS_FOLDER: folder,
    // Node reads keys otherwise on a dumb one.
    TERM: 'xterm-256color',
  });
  write('home/.gitconfig', GIT_CONFIGURATION);
  const { chunks } = await bundleCli();
  for (const { fileName, code } of chunks) write(join('bundle', fileName), code);
  write('chunks.json', JSON.stringify(chunks.map(({ code: _, ...chunk }) => chunk)));
  return () => rmSync(folder, { recursive: true, force: true });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Somebody who may commit. No samples of hooks are copied, no housekeeping is started, and no disk is waited for. */
const GIT_CONFIGURATION = `
[user]
  name = Ada
  email = ada@example.com
[init]
  defaultBranch = main
  templateDir =
[core]
  fsync = none
[maintenance]
  auto = false
[gc]
  auto = 0
`;
