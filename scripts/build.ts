/** Makes dist/ but for the action: the command line as one bundle for a quick start, the public API with its types. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import package_ from '../package.json' with { type: 'json' };
import { bundle, type Bundle } from './bundle.ts';

/** Each of these and all that it always needs is one file: every further one takes a third of a millisecond. */
const GROUPS = [
  { name: 'start', test: /src\/(command-line\/main|process-host)\.ts$/, priority: 3 },
  { name: 'running', test: /src\/command-line\/(running|works)\.ts$/, priority: 2 },
  { name: 'telling', test: /src\/command-line\/emit\.ts$/, priority: 1 },
  { name: 'reading', test: /src\/commands\/validate\.ts$/, priority: 0 },
];

for (const made of ['cli.cjs', 'index.js', 'chunks', 'types', 'third-party-licenses.txt']) {
  rmSync(join('dist', made), { recursive: true, force: true });
}

// CommonJS: an ES module that imports a part of Node has all of that part's getters called, standard input and `fetch`
// among them, and is loaded in several turns. It is the difference between 1.7 and 1.4 times an empty Node for `--help`.
const cli = await bundle('src/cli.ts', [], {
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
  codeSplitting: { groups: [...GROUPS] },
  // Half of the bytes are comments, read on every start for nothing. Names stay: a stack tells where something went wrong.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
});
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
