import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { rolldown } from 'rolldown';

const PATH = 'src/report/html/bundle.ts';

/** The module that holds script and style of a page of --format html, with what its content security policy names them by. */
export async function pageModule(): Promise<string> {
  const script = await bundleScript();
  const style = minify(readFileSync('src/report/html/style.css', 'utf8'));
  const module =
    '/** Script and style of a page, of which `npm run generate` makes this module out of src/report/html. */\n' +
    `export const PAGE = { script: ${JSON.stringify(script)}, scriptHash: '${hashOf(script)}', ` +
    `style: ${JSON.stringify(style)}, styleHash: '${hashOf(style)}' } as const;\n`;
  return format(module, { ...(await resolveConfig(PATH)), parser: 'typescript' });
}

async function bundleScript(): Promise<string> {
  const build = await rolldown({
    input: 'src/report/html/script.ts',
    platform: 'browser',
    tsconfig: 'src/report/html/tsconfig.script.json',
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code.trim();
}

/** Comments and indentation; there is no string in the style that holds either. */
function minify(css: string): string {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/ ?([{};]) ?/g, '$1')
    .trim();
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
