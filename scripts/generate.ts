/** Writes the generated files, or with --check says which of them are stale and exits with 1. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { format } from 'prettier';
import { z } from 'zod';
import { WrittenConfigShape } from '../src/config/shape.ts';
import { FrontMatterShape } from '../src/prompts/shape.ts';
import { ReportShape } from '../src/schemas/report.ts';
import { bundleAction } from './bundle-action.ts';
import { pageModule } from './page-module.ts';
import { withGeneratedParts } from './readme-parts.ts';
import { workflowModule } from './workflow-module.ts';

const check = process.argv.includes('--check');
const page = await pageModule();
// The action's bundle holds the page.
if (!check) writeFileSync('src/templates/page.ts', page);
const action = await bundleAction();
const read = (path: string): string => readFileSync(path, 'utf8');
const workflows = Object.fromEntries(
  ['review', 'apply', 'drift']
    .map((name) => `prompts.example/.github/workflows/promptsync-${name}.yml`)
    .map((path) => [path, read(path)]),
);

const generated = {
  'schemas/promptsync.schema.json': await schema(WrittenConfigShape, 'promptsync.yaml'),
  'schemas/front-matter.schema.json': await schema(FrontMatterShape, 'The front matter of a prompt file'),
  'schemas/report.schema.json': await schema(ReportShape, 'The JSON report of promptsync'),
  'src/templates/page.ts': page,
  'src/templates/workflows.ts': await workflowModule(workflows),
  'dist/action/index.cjs': action.code,
  'dist/action/third-party-licenses.txt': action.licenses,
  'README.md': await withGeneratedParts(read('README.md'), { actionYaml: read('action.yml'), workflows }),
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

function schema(shape: z.ZodType, title: string): Promise<string> {
  const json = JSON.stringify({ title, ...z.toJSONSchema(shape, { io: 'input' }) });
  return format(json, { parser: 'json', printWidth: 120 });
}
