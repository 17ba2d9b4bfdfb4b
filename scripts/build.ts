/**
 * Writes dist/ except the action: the command line as a bundle that starts quickly, and the public API with its types.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import package_ from '../package.json' with { type: 'json' };
import { bundleCli } from './bundle-cli.ts';
import { bundle, type Bundle } from './bundle.ts';

for (const name of ['cli.cjs', 'index.js', 'chunks', 'types', 'third-party-licenses.txt']) {
  rmSync(join('dist', name), { recursive: true, force: true });
}

const cli = await bundleCli();
write(cli);
const dependencies = Object.keys(package_.dependencies);
const library = await bundle('src/index.ts', dependencies, { chunkFileNames: 'chunks/[name]-[hash].js' });
checkDependencies(library);
write(library);
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
writeFileSync('dist/third-party-licenses.txt', cli.licenses);
chmodSync('dist/cli.cjs', 0o755);

/**
 * Throws if the list of dependencies differs from the packages that the library imports. The library does not bundle
 * packages, so that its users have one copy of each. The bundled command line needs no dependencies.
 */
function checkDependencies({ chunks, licenses }: Bundle): void {
  if (licenses !== '') throw new Error(`The library bundles packages that belong in "dependencies":\n${licenses}`);
  const imported = new Set(chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]));
  const unused = dependencies.filter((name) => !imported.has(name));
  if (unused.length > 0)
    throw new Error(`The library does not import ${unused.join(', ')}. Remove the packages from "dependencies".`);
}

function write({ chunks }: Bundle): void {
  for (const { fileName, code } of chunks) {
    mkdirSync(dirname(join('dist', fileName)), { recursive: true });
    writeFileSync(join('dist', fileName), code);
  }
}
