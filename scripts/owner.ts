/**
 * Sets the owner of the repository on GitHub: `npm run owner -- acme`. Reads the current owner from `repository` in
 * package.json and replaces it in all tracked files except tests, scripts and dist. Then writes the generated files.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import package_ from '../package.json' with { type: 'json' };

const [owner = ''] = process.argv.slice(2);
if (!/^[A-Za-z0-9](?:-?[A-Za-z0-9])*$/.test(owner)) throw new Error('Usage: npm run owner -- NAME');
const [currentName = ''] = /[^/]+\/promptsync(?=\.git$)/.exec(package_.repository.url) ?? [];

const args = [
  'grep',
  '--files-with-matches',
  '-z',
  '-F',
  '-e',
  currentName,
  '--',
  '.',
  ':!test',
  ':!scripts',
  ':!dist',
];
const paths = execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(Boolean);
for (const path of paths) {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(new RegExp(`(?<![\\w-])${currentName}\\b`, 'g'), `${owner}/promptsync`));
  console.log(`${path}: ${owner}`);
}
execFileSync(process.execPath, ['scripts/generate.ts'], { stdio: 'inherit' });
