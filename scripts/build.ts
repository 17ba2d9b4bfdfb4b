/** Makes dist/: the command line as one bundle for a quick start, the public API with its types. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import package_ from '../package.json' with { type: 'json' };

rmSync('dist', { recursive: true, force: true });

const bundled = await bundle('src/cli.ts', []);
// Whoever builds on the API has the dependencies installed, and wants one copy of each.
await bundle('src/index.ts', Object.keys(package_.dependencies));
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
writeFileSync('dist/third-party-licenses.txt', licensesOf(bundled));
chmodSync('dist/cli.js', 0o755);

/** Writes one bundle and returns the folders of the packages that went into it. */
async function bundle(input: string, external: readonly string[]): Promise<ReadonlySet<string>> {
  const build = await rolldown({
    input,
    platform: 'node',
    external: [...external],
    // gray-matter's own engine for `---js`, which prompts/front-matter.ts replaces on every call.
    checks: { eval: false },
  });
  const { output } = await build.write({ dir: 'dist', format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' });
  await build.close();
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
  return new Set(modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
}

/** The licences of what is bundled ask to be handed on with it. */
function licensesOf(folders: ReadonlySet<string>): string {
  return [...folders]
    .toSorted()
    .map((folder) => `${folder.split('node_modules/').at(-1)}\n\n${licenseIn(folder)}\n`)
    .join(`${'-'.repeat(80)}\n`);
}

function licenseIn(folder: string): string {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim();
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) throw new Error(`${folder} is bundled and says nothing of its licence`);
  const { license } = JSON.parse(readFileSync(manifest, 'utf8')) as { license?: string };
  return `${license ?? 'unknown'} (the package holds no licence text)`;
}
