/** Makes dist/ but for the action: the command line as one bundle for a quick start, the public API with its types. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import package_ from '../package.json' with { type: 'json' };
import { bundleCli } from './bundle-cli.ts';
import { bundle, type Bundle } from './bundle.ts';

for (const made of ['cli.cjs', 'index.js', 'chunks', 'types', 'third-party-licenses.txt']) {
  rmSync(join('dist', made), { recursive: true, force: true });
}

const cli = await bundleCli();
write(cli);
// Whoever builds on the API has the dependencies installed, and wants one copy of each.
write(await bundle('src/index.ts', Object.keys(package_.dependencies), { chunkFileNames: 'chunks/[name]-[hash].js' }));
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
writeFileSync('dist/third-party-licenses.txt', cli.licenses);
chmodSync('dist/cli.cjs', 0o755);

function write({ chunks }: Bundle): void {
  for (const { fileName, code } of chunks) {
    mkdirSync(dirname(join('dist', fileName)), { recursive: true });
    writeFileSync(join('dist', fileName), code);
  }
}
