import { join } from 'node:path';
import { rolldown } from 'rolldown';

const SCRIPTS = { replay: 'replay.ts', parse: 'parse.ts', hash: 'hash.ts', serial: '../peers/serial.ts' };

export type FloorName = keyof typeof SCRIPTS;

/**
 * The bare loops as bundles, in a folder: the command line is one, and a loop that has to load its types and the files
 * of its libraries one by one would be no floor.
 */
export async function buildFloors(folder: string): Promise<(name: FloorName) => string> {
  const input = Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, script]) => [name, join(import.meta.dirname, script)]),
  );
  const build = await rolldown({ input, platform: 'node', logLevel: 'silent' });
  await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', minify: true });
  await build.close();
  return (name) => join(folder, `${name}.mjs`);
}
