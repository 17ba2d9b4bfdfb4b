import { bundle, type Bundle } from './bundle.ts';

/**
 * The chunks of the command line. Each chunk has the matching modules and everything that they always import. Fewer
 * files start faster: every additional file takes a third of a millisecond.
 */
const GROUPS = [
  { name: 'start', modules: ['src/cli/main.ts', 'src/cli/node-process.ts'], priority: 3 },
  { name: 'running', modules: ['src/cli/run-command.ts'], priority: 2 },
  { name: 'reading', modules: ['src/commands/validate.ts'], priority: 0 },
] as const;

/** Matches the JSON Schemas. The package contains them anyway, so that a copy in the bundle would add 10 kB. */
const SCHEMA_FILES = /\/schemas\/[\w-]+\.schema\.json$/;

/**
 * Bundles the command line for a quick start. Each command loads only the code that it needs.
 *
 * The format is CommonJS. If an ES module imports a built-in module of Node, Node calls all getters of that module,
 * including those of standard input and `fetch`. Node also loads ES modules in several turns of the event loop. As an
 * ES module, `--help` took 1.7 times as long as an empty Node process. As CommonJS, it takes 1.4 times as long.
 */
export async function bundleCli(): Promise<Bundle> {
  const bundled = await bundle('src/cli.ts', [SCHEMA_FILES], {
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: {
      groups: GROUPS.map(({ name, modules, priority }) => ({
        name,
        priority,
        test: (id) => modules.some((module) => isModule(id, module)),
      })),
    },
    // Node reads every byte on every start. promptsync never prints a stack trace, so nobody needs the original names.
    minify: true,
  });
  checkGroups(bundled);
  return bundled;
}

/** @param id the id of a module in the bundle, which is its absolute path */
function isModule(id: string, module: string): boolean {
  return id.endsWith(`/${module}`);
}

/** Throws if a module of a group is not in its chunk, for example because the module was renamed. */
function checkGroups({ chunks }: Bundle): void {
  for (const { name, modules } of GROUPS) {
    const ids = chunks.find((chunk) => chunk.name === name)?.moduleIds ?? [];
    const missing = modules.filter((module) => !ids.some((id) => isModule(id, module)));
    if (missing.length > 0) throw new Error(`The chunk ${name} does not contain ${missing.join(', ')}.`);
  }
}
