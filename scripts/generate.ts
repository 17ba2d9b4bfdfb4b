/** Writes the generated files, or with --check says which of them are stale and exits with 1. */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundleAction } from './bundle-action.ts';
import { pageModule } from './page-module.ts';
import { actionParts } from './pages/action-parts.ts';
import { commandParts } from './pages/command-parts.ts';
import { withParts } from './pages/parts.ts';
import { problemParts } from './pages/problem-parts.ts';
import { roomParts } from './pages/room-parts.ts';
import { shapeParts } from './pages/shape-parts.ts';
import { schemaTexts } from './schemas.ts';
import { workflowModule } from './workflow-module.ts';

const check = process.argv.includes('--check');
const page = await pageModule();
// The action's bundle holds the page.
if (!check) writeFileSync('src/report/html/bundle.ts', page);
const action = await bundleAction();
const read = (path: string): string => readFileSync(path, 'utf8');
const workflows = Object.fromEntries(
  [
    ...['review', 'apply', 'drift', 'propose'].map((name) => `.github/workflows/promptsync-${name}.yml`),
    '.gitlab/promptsync.gitlab-ci.yml',
  ].map((path) => [path, read(`prompts.example/${path}`)]),
);

const generated = {
  ...(await schemaTexts()),
  'src/report/html/bundle.ts': page,
  'src/commands/workflows.ts': await workflowModule(workflows),
  'dist/action/index.cjs': action.code,
  'dist/action/third-party-licenses.txt': action.licenses,
  ...(await pages()),
};

for (const [path, wanted] of Object.entries(generated)) {
  const fresh = existsSync(path) && read(path) === wanted;
  if (fresh) continue;
  if (check) {
    process.exitCode = 1;
    console.error(`${path} is stale: run \`npm run generate\``);
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted);
    console.log(`wrote ${path}`);
  }
}

/** The pages with their generated parts, by path. */
async function pages(): Promise<Readonly<Record<string, string>>> {
  const parts = {
    ...actionParts(read('action.yml'), workflows),
    ...commandParts(),
    ...shapeParts(),
    ...roomParts(),
    ...problemParts(),
  };
  const paths = ['README.md', ...globSync('docs/**/*.md')];
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await withParts(path, read(path), parts)] as const)),
  );
}
