/**
 * `npm run owner -- acme` says whose the repository is: package.json's `repository` holds it. Wherever else a tracked file
 * names its owner, the name is replaced, and what is generated is made anew. Tests and scripts name nobody.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import package_ from '../package.json' with { type: 'json' };

const [owner = ''] = process.argv.slice(2);
if (!/^[A-Za-z0-9](?:-?[A-Za-z0-9])*$/.test(owner)) throw new Error('usage: npm run owner -- NAME');
const [before = ''] = /[^/]+\/promptsync(?=\.git$)/.exec(package_.repository.url) ?? [];

const words = ['grep', '--files-with-matches', '-z', '-F', '-e', before, '--', '.', ':!test', ':!scripts', ':!dist'];
const paths = execFileSync('git', words, { encoding: 'utf8' }).split('\0').filter(Boolean);
for (const path of paths) {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(new RegExp(`(?<![\\w-])${before}\\b`, 'g'), `${owner}/promptsync`));
  console.log(`${path}: ${owner}`);
}
execFileSync(process.execPath, ['scripts/generate.ts'], { stdio: 'inherit' });
