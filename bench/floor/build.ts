import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle.ts';

const SCRIPTS = { replay: 'replay.ts', parse: 'parse.ts', hash: 'hash.ts', serial: '../peers/serial.ts' };

export type FloorName = keyof typeof SCRIPTS;

/**
 * A bare loop as one file in a folder, bundled as the command line is: a loop that has to strip its types and to load its
 * libraries file by file would be no floor.
 */
export async function buildFloor(name: FloorName, folder: string): Promise<string> {
  const script = join(import.meta.dirname, SCRIPTS[name]);
  const { chunks } = await bundle(script, [], { format: 'cjs', entryFileNames: `${name}.cjs`, minify: true });
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code);
  return join(folder, `${name}.cjs`);
}
