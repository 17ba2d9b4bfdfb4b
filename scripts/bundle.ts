import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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
    // yaml's build for Node asks process.env at every token whether it is to print it.
    resolve: {
      alias: {
        yaml$: createRequire(import.meta.filename)
          .resolve('yaml')
          .replace('/dist/', '/browser/'),
      },
    },
    // undici has a second parser of HTTP, an experiment that Node's own bundle leaves out by this name: 0.2 MB.
    transform: { define: { 'typeof esbuildDetection': '"boolean"' } },
    // gray-matter's own engine for `---js`, which prompts/front-matter.ts replaces on every call.
    checks: { eval: false },
    // Loading them does nothing; what is unused of them, a second undici among it, is left out.
    treeshake: { moduleSideEffects: [{ test: /node_modules\/(@actions|tunnel|undici)\//, sideEffects: false }] },
  });
  const { output } = await build.generate({ format: 'esm', ...options });
  await build.close();
  const chunks = output.filter((part) => part.type === 'chunk');
  const modules = chunks.flatMap((chunk) => chunk.moduleIds);
  const folders = new Set(modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  return { chunks, licenses: licensesOf(folders) };
}

/**
 * What is bundled instead of a package, because loading all of it takes long and most of it is never called. By what it is
 * imported as, and by whom.
 */
const INSTEAD: Readonly<Record<string, { readonly importer: RegExp; readonly code: string }>> = {
  // gray-matter's YAML engine, which prompts/front-matter.ts replaces on every call.
  'js-yaml': {
    importer: /node_modules\/gray-matter\//,
    code: 'export function safeLoad() {} export function safeDump() {}',
  },
  // It would listen to every signal, also to some that Node ignores otherwise, and the first one of these would end the
  // process. promptsync handles signals itself, and releases its lock when it ends.
  'signal-exit': {
    importer: /node_modules\/proper-lockfile\//,
    code: `module.exports = (release) => void process.on('exit', release);`,
  },
  // It retries calls when too many files are open, and replaces functions of Node's for that: 20 kB for five calls.
  'graceful-fs': {
    importer: /node_modules\/proper-lockfile\//,
    code: `module.exports = { ...require('node:fs') };`,
  },
  // What commander starts those subcommands with that are programs of their own.
  'node:child_process': { importer: /node_modules\/commander\//, code: 'export default {};' },
  // undici's index.js has web sockets, caches and mocks as well. It is what gives dispatchers their methods: `connect` is
  // for the way through a proxy. The action alone has `fetch`.
  undici: {
    importer: /src\//,
    code: `
      import connect from 'undici/lib/api/api-connect.js';
      import request from 'undici/lib/api/api-request.js';
      import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
      Object.assign(Dispatcher.prototype, { connect, request });
      export { default as Agent } from 'undici/lib/dispatcher/agent.js';
      export { fetch } from 'undici/lib/web/fetch/index.js';
      export { default as Pool } from 'undici/lib/dispatcher/pool.js';
      export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';`,
  },
};

const PREFIX = '\0instead:';

const instead: Plugin = {
  name: 'instead',
  resolveId(id, importer = '') {
    if (INSTEAD[id]?.importer.test(importer) === true) return { id: `${PREFIX}${id}`, moduleSideEffects: true };
    // A module that is nowhere has no folder to begin from.
    return importer.startsWith(PREFIX) ? this.resolve(id, import.meta.filename) : null;
  },
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
