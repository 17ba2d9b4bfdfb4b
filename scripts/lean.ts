/**
 * npm's `prepack` and `postpack`: npm packs package.json as it is. What only a clone needs is taken out of it, so that
 * nobody's npm finds a `prepare` of ours, and put back with --undo. `files` stays: npm reads it after this.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const KEPT = 'node_modules/.cache/promptsync/package.json';
const CLONE_ONLY = new Set(['allowScripts', 'scripts', 'devDependencies', 'prettier']);

if (process.argv.includes('--undo')) {
  if (existsSync(KEPT)) renameSync(KEPT, 'package.json');
} else {
  const text = readFileSync('package.json', 'utf8');
  mkdirSync(dirname(KEPT), { recursive: true });
  writeFileSync(KEPT, text);
  const lean = Object.entries(JSON.parse(text)).filter(([name]) => !CLONE_ONLY.has(name));
  writeFileSync('package.json', `${JSON.stringify(Object.fromEntries(lean), null, 2)}\n`);
}
