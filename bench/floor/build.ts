import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle.ts';

/**
 * The source files of the bare loops. The loops of `floor/` show the least time that the same work can take. `serial`
 * is a peer.
 */
const SCRIPTS = { replay: 'replay.ts', parse: 'parse.ts', hash: 'hash.ts', serial: '../peers/serial.ts' };

export type FloorName = keyof typeof SCRIPTS;

/**
 * Bundles a bare loop into one file in a folder and returns its path. The options are those of the command line.
 * Without bundling, the loop would spend time on stripping types and loading libraries file by file, so it would be no
 * lower bound.
 */
export async function buildFloor(name: FloorName, folder: string): Promise<string> {
  const script = join(import.meta.dirname, SCRIPTS[name]);
  const { chunks } = await bundle(script, [], { format: 'cjs', entryFileNames: `${name}.cjs`, minify: true });
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code);
  return join(folder, `${name}.cjs`);
}
