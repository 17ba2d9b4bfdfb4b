import { bundle } from './bundle.ts';

export type ActionBundle = { readonly code: string; readonly licenses: string };

/**
 * The action in one file, as `uses:` runs it: it is committed, because nobody installs anything for it. CommonJS for the
 * reason that bundle-cli.ts gives; a compile cache would be empty on every fresh runner.
 */
export async function bundleAction(): Promise<ActionBundle> {
  const { chunks, licenses } = await bundle('src/action.ts', [], {
    format: 'cjs',
    codeSplitting: false,
    // Without comments and blanks, which are a quarter of it, and with every name: whoever reviews it can read it.
    minify: { compress: false, mangle: false, codegen: true },
  });
  const [chunk] = chunks;
  if (chunk === undefined || chunks.length !== 1) throw new Error(`the action has ${chunks.length} files instead of 1`);
  return { code: chunk.code, licenses };
}
