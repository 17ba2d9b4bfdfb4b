/**
 * Removes the fields from package.json that only a clone needs, and restores them with `--undo`. npm runs this script
 * as `prepack` and `postpack`, because it publishes package.json unchanged. Without the script, the npm of a user would
 * find our `prepare` script. The field `files` stays, because npm reads it after `prepack`.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The copy of the complete package.json. */
const BACKUP = 'node_modules/.cache/promptsync/package.json';
const CLONE_ONLY_FIELDS = new Set(['allowScripts', 'scripts', 'devDependencies', 'prettier']);

if (process.argv.includes('--undo')) {
  if (existsSync(BACKUP)) renameSync(BACKUP, 'package.json');
} else {
  const text = readFileSync('package.json', 'utf8');
  mkdirSync(dirname(BACKUP), { recursive: true });
  writeFileSync(BACKUP, text);
  const lean = Object.entries(JSON.parse(text)).filter(([name]) => !CLONE_ONLY_FIELDS.has(name));
  writeFileSync('package.json', `${JSON.stringify(Object.fromEntries(lean), null, 2)}\n`);
}
