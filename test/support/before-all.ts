import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { bundleCli } from '../../scripts/bundle-cli.ts';

/**
 * Prepares a folder that all tests of this run share. It contains the bundled command line, from which child processes
 * start three times as fast as from the sources. It also contains a home, so that neither git nor promptsync reads the
 * user's own configuration. Removes variables that a git hook may have passed on to the run.
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
    // Node reads keys differently on a dumb terminal.
    TERM: 'xterm-256color',
  });
  write('home/.gitconfig', GIT_CONFIGURATION);
  // The bundle reads the JSON Schemas from the package that contains it.
  cpSync(resolve(import.meta.dirname, '../../schemas'), join(folder, 'schemas'), { recursive: true });
  const { chunks } = await bundleCli();
  for (const { fileName, code } of chunks) write(join('bundle', fileName), code);
  write('chunks.json', JSON.stringify(chunks.map(({ code: _, ...chunk }) => chunk)));
  return () => rmSync(folder, { recursive: true, force: true });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Sets an identity for commits. Turns off sample hooks, maintenance and fsync, because they cost time. */
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
