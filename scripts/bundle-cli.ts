import { bundle, type Bundle } from './bundle.ts';

/**
 * The chunks of the command line. Each chunk has the matching modules and everything that they always import. Fewer
 * files start faster: every additional file takes a third of a millisecond.
 */
const GROUPS = [
  { name: 'start', test: /src\/cli\/(main|process-host)\.ts$/, priority: 3 },
  { name: 'running', test: /src\/cli\/run-command\.ts$/, priority: 2 },
  { name: 'reading', test: /src\/commands\/validate\.ts$/, priority: 0 },
];

/** Matches the JSON Schemas. The package contains them anyway, so that a copy in the bundle would add 10 kB. */
const SCHEMA_FILES = /\/schemas\/[\w-]+\.schema\.json$/;

/**
 * Bundles the command line for a quick start. Each command loads only the code that it needs.
 *
 * The format is CommonJS. If an ES module imports a built-in module of Node, Node calls all getters of that module,
 * including those of standard input and `fetch`. Node also loads ES modules in several turns of the event loop. As an
 * ES module, `--help` took 1.7 times as long as an empty Node process. As CommonJS, it takes 1.4 times as long.
 */
export function bundleCli(): Promise<Bundle> {
  return bundle('src/cli.ts', [SCHEMA_FILES], {
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: { groups: [...GROUPS] },
    // Node reads every byte on every start. promptsync never prints a stack trace, so nobody needs the original names.
    minify: true,
  });
}
