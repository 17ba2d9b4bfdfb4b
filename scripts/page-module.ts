import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { rolldown } from 'rolldown';

const PATH = 'src/report/formats/html-page-assets.ts';

/**
 * Returns the code of the module with the script and the style of HTML reports. The module also has their hashes, which
 * the content security policy of a report contains.
 */
export async function makePageModule(): Promise<string> {
  const script = await bundleScript();
  const style = minifyStyle(readFileSync('src/report/formats/html-page-style.css', 'utf8'));
  const module =
    '/** The script and the style of an HTML report. `npm run generate` makes this module from html-page-script.ts and html-page-style.css. */\n' +
    `export const PAGE = { script: ${JSON.stringify(script)}, scriptHash: '${makeHash(script)}', ` +
    `style: ${JSON.stringify(style)}, styleHash: '${makeHash(style)}' } as const;\n`;
  return format(module, { ...(await resolveConfig(PATH)), parser: 'typescript' });
}

async function bundleScript(): Promise<string> {
  const build = await rolldown({
    input: 'src/report/formats/html-page-script.ts',
    platform: 'browser',
    tsconfig: 'src/report/formats/tsconfig.script.json',
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code.trim();
}

/** Removes comments and whitespace. The style has no strings that contain a comment or a line break. */
function minifyStyle(css: string): string {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/ ?([{};]) ?/g, '$1')
    .trim();
}

function makeHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
