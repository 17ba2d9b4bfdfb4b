import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown, type OutputChunk, type OutputOptions, type Plugin } from 'rolldown';

export type Bundle = {
  readonly chunks: readonly OutputChunk[];
  /** The licences of what is bundled, which ask to be handed on with it. */
  readonly licenses: string;
};

/** Bundles a source file with everything that it needs but the external packages. Nothing is written. */
export async function bundle(input: string, external: readonly string[], options: OutputOptions): Promise<Bundle> {
  const build = await rolldown({
    input,
    platform: 'node',
    external: [...external],
    plugins: [instead],
    // Leaves out undici's second HTTP parser, as Node's own bundle does. It is an experiment and has 0.2 MB.
    transform: { define: { 'typeof esbuildDetection': '"boolean"' } },
    // Allows the `eval` of gray-matter's engine for `---js`. files/front-matter.ts replaces this engine in every call.
    checks: { eval: false },
    // Leaves out the unused modules of these packages, among them a second undici: 0.6 MB of the action's bundle. Their
    // modules have no effect when they are loaded.
    treeshake: { moduleSideEffects: [{ test: /node_modules\/(@actions|tunnel|undici)\//, sideEffects: false }] },
  });
  const { output } = await build.generate({ format: 'esm', ...options });
  await build.close();
  const chunks = output.filter((part) => part.type === 'chunk');
  const modules = chunks.flatMap((chunk) => chunk.moduleIds);
  const folders = new Set(modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  return { chunks, licenses: licensesOf(folders) };
}

/** Small modules that stand in for packages, by the name of the package and by the importers that get them. */
const INSTEAD: Readonly<Record<string, { readonly importer: RegExp; readonly code: string }>> = {
  // gray-matter's YAML engine, which files/front-matter.ts replaces in every call. It would add 0.2 MB.
  'js-yaml': {
    importer: /node_modules\/gray-matter\//,
    code: 'export function safeLoad() {} export function safeDump() {}',
  },
  // The package listens to every signal, even to those that Node ignores by default, and ends the process at the first
  // one. promptsync handles signals itself, and releases its lock when the process ends.
  'signal-exit': {
    importer: /node_modules\/proper-lockfile\//,
    code: `module.exports = (release) => void process.on('exit', release);`,
  },
  // The package replaces functions of Node to retry calls when too many files are open. The lock makes only five calls.
  'graceful-fs': {
    importer: /node_modules\/proper-lockfile\//,
    code: `module.exports = { ...require('node:fs') };`,
  },
  // commander starts subcommands with it that are programs of their own, which promptsync has not. Loading it would
  // add 14 % to the CPU time of `--help`.
  'node:child_process': { importer: /node_modules\/commander\//, code: 'export default {};' },
};

const PREFIX = '\0instead:';

const instead: Plugin = {
  name: 'instead',
  resolveId: (id, importer = '') =>
    INSTEAD[id]?.importer.test(importer) === true ? { id: `${PREFIX}${id}`, moduleSideEffects: true } : null,
  load: (id) => (id.startsWith(PREFIX) ? (INSTEAD[id.slice(PREFIX.length)]?.code ?? null) : null),
};

function licensesOf(folders: ReadonlySet<string>): string {
  return [...folders]
    .map((folder) => ({ name: folder.split('node_modules/').at(-1) ?? folder, text: licenseIn(folder) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, text }) => `${name}\n\n${text}\n`)
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
