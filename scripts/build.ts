/** Makes dist/: the command line as one bundle for a quick start, the public API with its types. */
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';
import package_ from '../package.json' with { type: 'json' };

rmSync('dist', { recursive: true, force: true });

await bundle('src/cli.ts', 'dist', []);
// Whoever builds on the API has the dependencies installed, and wants one copy of each.
await bundle('src/index.ts', 'dist', Object.keys(package_.dependencies));
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
chmodSync('dist/cli.js', 0o755);

async function bundle(input: string, directory: string, external: readonly string[]): Promise<void> {
  const build = await rolldown({
    input,
    platform: 'node',
    external: [...external],
    // gray-matter's own engine for `---js`, which prompts/front-matter.ts replaces on every call.
    checks: { eval: false },
  });
  await build.write({ dir: directory, format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js', minify: false });
  await build.close();
}
