/**
 * Makes the files of the npm package small, and restores them with `--undo`. npm runs this script as `prepack` and
 * `postpack`, because it publishes these files unchanged:
 *
 * - package.json loses the fields that only a clone needs. Otherwise, the npm of a user would find our `prepare` script.
 *   The field `files` stays, because npm reads it after `prepack`.
 * - The JSON Schemas lose their white space, which is a quarter of their compressed size.
 */
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder with the copies of the complete files. */
const BACKUP = 'node_modules/.cache/promptsync/complete';
const CLONE_ONLY_FIELDS = new Set(['allowScripts', 'scripts', 'devDependencies', 'prettier']);
const paths = ['package.json', ...globSync('schemas/*.json')];

for (const path of paths) {
  const copy = join(BACKUP, path);
  if (process.argv.includes('--undo')) {
    if (existsSync(copy)) renameSync(copy, path);
  } else {
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(path, copy);
    writeFileSync(path, shrink(path, readFileSync(path, 'utf8')));
  }
}

function shrink(path: string, text: string): string {
  const value: object = JSON.parse(text);
  if (path !== 'package.json') return JSON.stringify(value);
  const lean = Object.entries(value).filter(([name]) => !CLONE_ONLY_FIELDS.has(name));
  return `${JSON.stringify(Object.fromEntries(lean), null, 2)}\n`;
}
