import { bundle } from './bundle.ts';

export type ActionBundle = { readonly code: string; readonly licenses: string };

/**
 * Bundles the action into one file, which `uses:` runs. The file is committed, because no step installs packages for an
 * action. The format is CommonJS because it starts faster: see bundle-cli.ts. The action uses no compile cache, because
 * the cache would be empty on every fresh runner.
 */
export async function bundleAction(): Promise<ActionBundle> {
  const { chunks, licenses } = await bundle('src/action.ts', [], {
    format: 'cjs',
    codeSplitting: false,
    // Removes comments and whitespace, a quarter of the file. Keeps all names, so that reviewers can read the code.
    minify: { compress: false, mangle: false, codegen: true },
  });
  const [chunk] = chunks;
  if (chunk === undefined || chunks.length !== 1)
    throw new Error(`The action has ${chunks.length} files instead of 1.`);
  return { code: chunk.code, licenses };
}
