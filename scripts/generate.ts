/** Writes the generated files, or with --check says which of them are stale and exits with 1. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { z } from 'zod';
import { WrittenConfigShape } from '../src/config/shape.ts';
import { FrontMatterShape } from '../src/prompts/shape.ts';
import { ReportShape } from '../src/schemas/report.ts';

const check = process.argv.includes('--check');

const generated = {
  'schemas/promptsync.schema.json': schema(WrittenConfigShape, 'promptsync.yaml'),
  'schemas/front-matter.schema.json': schema(FrontMatterShape, 'The front matter of a prompt file'),
  'schemas/report.schema.json': schema(ReportShape, 'The JSON report of promptsync'),
};

for (const [path, text] of Object.entries(generated)) {
  const wanted = await format(text, { parser: 'json', printWidth: 120 });
  const fresh = existsSync(path) && readFileSync(path, 'utf8') === wanted;
  if (fresh) continue;
  if (check) {
    process.exitCode = 1;
    console.error(`${path} is stale: run \`npm run generate\``);
  } else {
    writeFileSync(path, wanted);
    console.log(`wrote ${path}`);
  }
}

function schema(shape: z.ZodType, title: string): string {
  return JSON.stringify({ title, ...z.toJSONSchema(shape, { io: 'input' }) });
}
