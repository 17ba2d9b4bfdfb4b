import { bundle, type Bundle } from './bundle.ts';

/** Each of these and all that it always needs is one file: every further one takes a third of a millisecond. */
const GROUPS = [
  { name: 'start', test: /src\/(cli\/main|process)\.ts$/, priority: 3 },
  { name: 'running', test: /src\/cli\/run\.ts$/, priority: 2 },
  { name: 'reading', test: /src\/commands\/validate\.ts$/, priority: 0 },
];

/**
 * The command line for a quick start: what a command needs is loaded for it alone. CommonJS, because an ES module that
 * imports a part of Node has all of that part's getters called, standard input and `fetch` among them, and is loaded in
 * several turns: `--help` took 1.7 times as long as an empty Node instead of 1.4.
 */
export function bundleCli(): Promise<Bundle> {
  return bundle('src/cli.ts', [], {
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: { groups: [...GROUPS] },
    // Every byte is read on every start. No stack is ever shown, so that no name is missed.
    minify: true,
  });
}
