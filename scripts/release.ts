/**
 * Makes everything of a release but its upload, which .github/workflows/release.yml does: checks, the packed file, its
 * checksum and the notes, in the folder `release/`. `--dry-run` needs no tag, and goes on where a release would stop.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import package_ from '../package.json' with { type: 'json' };
import { makePackage } from './package.ts';

const FOLDER = 'release';
const { version } = package_;
const dryRun = process.argv.includes('--dry-run');
const tag = dryRun ? `v${version}` : (process.env['GITHUB_REF_NAME'] ?? '');
const commit = git('rev-parse', 'HEAD');
const notes = notesOf(readFileSync('CHANGELOG.md', 'utf8'));
const pending = globSync('.changeset/*.md').filter((path) => basename(path) !== 'README.md');

const objections = Object.entries({
  [`The tag ${tag} is not v${version}, the version in package.json.`]: tag !== `v${version}`,
  [`${version} is not MAJOR.MINOR.PATCH: the major tag and npm's "latest" would move to it.`]: !/^\d+\.\d+\.\d+$/.test(
    version,
  ),
  [`A newer version is tagged: the major tag and npm's "latest" would move back.`]: newestTag() !== tag,
  ['The commit is not on main.']: !isOnMain(),
  ['Nobody owns the repository yet: npm run owner -- NAME']: package_.repository.url.includes('/OWNER/'),
  ['There are changesets that no version has: npm run version']: pending.length > 0,
  [`CHANGELOG.md says nothing below "## ${version}".`]: notes === '',
  ['The work tree differs from the commit.']: git('status', '--porcelain') !== '',
}).flatMap(([objection, holds]) => (holds ? [objection] : []));
for (const objection of objections) console.error(`stop: ${objection}`);
if (objections.length > 0) process.exitCode = 1;
if (objections.length === 0 || dryRun) make();

function make(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  const file = makePackage(FOLDER);
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  writeFileSync(`${file}.sha256`, `${sum}  ${basename(file)}\n`);
  writeFileSync(`${FOLDER}/notes.md`, `${notes}\n`);
  const major = `v${version.split('.')[0]}`;
  console.log(`\n${notes}\n\n${sum}  ${file}\n${tag} and ${major}: ${commit}`);
  const output = process.env['GITHUB_OUTPUT'];
  if (output !== undefined && !dryRun) appendFileSync(output, `commit=${commit}\nmajor=${major}\n`);
}

/** What stands below the version's heading, to the next one's. */
function notesOf(changelog: string): string {
  const sections = changelog.split(/^## /m);
  return (
    sections
      .find((section) => section.startsWith(`${version}\n`))
      ?.slice(version.length)
      .trim() ?? ''
  );
}

/** By version, of those that are there and the one that is to come. */
function newestTag(): string {
  const tags = git('tag', '--list', 'v*.*.*').split('\n').filter(Boolean);
  return [...tags, tag].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? tag;
}

/** A clone that was made for a tag has only the remote's main. */
function isOnMain(): boolean {
  const refs = git(
    'for-each-ref',
    '--format=%(refname)',
    '--contains',
    commit,
    'refs/heads/main',
    'refs/remotes/origin/main',
  );
  return refs !== '';
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim();
}
