import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown, type OutputChunk, type OutputOptions, type Plugin } from 'rolldown';

export type Bundle = {
  readonly chunks: readonly OutputChunk[];
  /** The licenses of the bundled packages. They require that every copy of the bundle includes them. */
  readonly licenses: string;
};

/**
 * Bundles a source file with everything that it imports except the external modules. Writes no files.
 * @param external the names of packages, or patterns for the paths of modules
 */
export async function bundle(
  input: string,
  external: readonly (string | RegExp)[],
  options: OutputOptions,
): Promise<Bundle> {
  const build = await rolldown({
    input,
    platform: 'node',
    external: [...external],
    plugins: [replacePackages],
    // Omits undici's second HTTP parser, as Node's own bundle does. The parser is experimental and has 0.2 MB.
    transform: { define: { 'typeof esbuildDetection': '"boolean"' } },
    checks: {
      // Allows the `eval` of gray-matter's engine for `---js`. workspace/front-matter.ts replaces this engine in every call.
      eval: false,
      // Allows lazy imports that do not split the library. The library exports the four-call provider, so it always loads
      // that provider. Only the command line loads providers when it needs them.
      ineffectiveDynamicImport: false,
    },
    // Omits the unused modules of these packages, which would add 0.6 MB to the action's bundle, including a second
    // copy of undici. Loading a module of these packages has no side effects.
    treeshake: { moduleSideEffects: [{ test: /node_modules\/(@actions|tunnel|undici)\//, sideEffects: false }] },
  });
  const { output } = await build.generate({ format: 'esm', ...options });
  await build.close();
  const chunks = output.filter((part) => part.type === 'chunk');
  const modules = chunks.flatMap((chunk) => chunk.moduleIds);
  const folders = new Set(modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  return { chunks, licenses: readLicenses(folders) };
}

/** The ES modules of the package `yaml`. */
const YAML_MODULES = join(import.meta.dirname, '../node_modules/yaml/browser/index.js');

/** Small modules that replace packages, by the name of the package. Only modules that match `importer` get them. */
const REPLACEMENTS: Readonly<Record<string, { readonly importer: RegExp; readonly code: string }>> = {
  // The package is gray-matter's YAML engine, which workspace/front-matter.ts replaces in every call. It would add 0.2 MB.
  'js-yaml': {
    importer: /node_modules\/gray-matter\//,
    code: 'export function safeLoad() {} export function safeDump() {}',
  },
  // The package listens to every signal, even to those that Node ignores by default, and ends the process at the first
  // signal. promptsync handles signals itself, and releases its lock when the process ends.
  'signal-exit': {
    importer: /node_modules\/proper-lockfile\//,
    code: `module.exports = (release) => void process.on('exit', release);`,
  },
  // The package patches Node to retry calls when too many files are open. The lock makes only five calls to the file
  // system.
  'graceful-fs': {
    importer: /node_modules\/proper-lockfile\//,
    code: `module.exports = { ...require('node:fs') };`,
  },
  // The package gives Node CommonJS modules, where each call of an imported function goes through a getter. Its ES
  // modules have the same code, and validating prompt files with them takes 13 % less CPU time. The bare loops of the
  // benchmark get them, too.
  yaml: { importer: /\/(?:src|bench)\//, code: `export * from ${JSON.stringify(YAML_MODULES)};` },
  // commander uses this module to start subcommands that are separate programs. promptsync has no such subcommands, and
  // loading the module would add 14 % to the CPU time of `--help`.
  'node:child_process': { importer: /node_modules\/commander\//, code: 'export default {};' },
};

/** The prefix of the module ids of `REPLACEMENTS`. */
const REPLACEMENT_PREFIX = '\0instead:';

const replacePackages: Plugin = {
  name: 'instead',
  resolveId: (id, importer = '') => {
    const isReplaced = REPLACEMENTS[id]?.importer.test(importer) === true;
    return isReplaced ? { id: `${REPLACEMENT_PREFIX}${id}`, moduleSideEffects: true } : null;
  },
  load: (id) => {
    if (!id.startsWith(REPLACEMENT_PREFIX)) return null;
    return REPLACEMENTS[id.slice(REPLACEMENT_PREFIX.length)]?.code ?? null;
  },
};

function readLicenses(folders: ReadonlySet<string>): string {
  return [...folders]
    .map((folder) => ({ name: folder.split('node_modules/').at(-1) ?? folder, text: readLicense(folder) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, text }) => `${name}\n\n${text}\n`)
    .join(`${'-'.repeat(80)}\n`);
}

function readLicense(folder: string): string {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim();
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) throw new Error(`The bundled package in ${folder} has no license.`);
  const { license } = JSON.parse(readFileSync(manifest, 'utf8')) as { license?: string };
  return `${license ?? 'unknown'} (the package contains no license text)`;
}
