/** How long the command line takes to start, as ratios to `node -e 0` in the same run. Run with `npm run bench`. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compare } from './rounds.ts';
import { makeWorkspace } from './workspace.ts';

const cli = join(import.meta.dirname, '../dist/cli.cjs');
const workspace = makeWorkspace(10);

await compare('start-up of the command line', 21, {
  'node -e 0': () => run('-e', '0'),
  'promptsync --help': () => run(cli, '--help'),
  'promptsync validate (10 files)': () => run(cli, 'validate', '--config', join(workspace, 'promptsync.yaml')),
});
rmSync(workspace, { recursive: true });

function run(...words: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words);
  if (status !== 0) throw new Error(`${words.join(' ')} exited with ${status}: ${stderr.toString()}`);
  return performance.now() - started;
}
