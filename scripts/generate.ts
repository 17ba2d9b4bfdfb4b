/**
 * Writes all generated files. With `--check`, only prints the names of stale files and exits with 1 if there are any.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundleAction } from './bundle-action.ts';
import { makePageModule } from './page-module.ts';
import { makeActionParts } from './pages/action-parts.ts';
import { makeCommandParts } from './pages/command-parts.ts';
import { makeConformanceParts } from './pages/conformance-parts.ts';
import { replaceParts } from './pages/parts.ts';
import { makeProblemParts } from './pages/problem-parts.ts';
import { makeRoomParts } from './pages/room-parts.ts';
import { makeShapeParts } from './pages/shape-parts.ts';
import { makeSchemaTexts } from './schemas.ts';
import { makeWorkflowModule } from './workflow-module.ts';

const check = process.argv.includes('--check');
const page = await makePageModule();
// The page must be written before the action is bundled, because the bundle contains the page.
if (!check) writeFileSync('src/report/formats/html-page-assets.ts', page);
const action = await bundleAction();
const read = (path: string): string => readFileSync(path, 'utf8');
const workflows = Object.fromEntries(
  [
    ...['review', 'apply', 'drift', 'propose'].map((name) => `.github/workflows/promptsync-${name}.yml`),
    '.gitlab/promptsync.gitlab-ci.yml',
  ].map((path) => [path, read(`prompts.example/${path}`)]),
);

const generated = {
  ...(await makeSchemaTexts()),
  'src/report/formats/html-page-assets.ts': page,
  'src/commands/init/example-workflows.ts': await makeWorkflowModule(workflows),
  'dist/action/index.cjs': action.code,
  'dist/action/third-party-licenses.txt': action.licenses,
  ...(await makePages()),
};

for (const [path, text] of Object.entries(generated)) {
  const isFresh = existsSync(path) && read(path) === text;
  if (isFresh) continue;
  if (check) {
    process.exitCode = 1;
    console.error(`${path} is stale: run \`npm run generate\``);
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
}

/** Returns the text of all pages with new generated parts, by path. */
async function makePages(): Promise<Readonly<Record<string, string>>> {
  const parts = {
    ...makeActionParts(read('action.yml'), workflows),
    ...makeCommandParts(),
    ...makeShapeParts(),
    ...makeRoomParts(),
    ...makeProblemParts(),
    ...makeConformanceParts(),
  };
  const paths = ['README.md', ...globSync('docs/**/*.md')];
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await replaceParts(path, read(path), parts)] as const)),
  );
}
