/**
 * Prepares a release: checks the repository, and writes the package, its checksum and the release notes to `release/`.
 * The workflow .github/workflows/release.yml uploads them. With `--dry-run`, the script needs no tag and continues even
 * if a check fails.
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
const notes = findReleaseNotes(readFileSync('CHANGELOG.md', 'utf8'));
const pending = globSync('.changeset/*.md').filter((path) => basename(path) !== 'README.md');

const objections = findObjections();
for (const objection of objections) console.error(`stop: ${objection}`);
if (objections.length > 0) process.exitCode = 1;
if (objections.length === 0 || dryRun) writeRelease();

/** Returns the reasons that forbid a release of this commit. */
function findObjections(): readonly string[] {
  const checks: readonly (readonly [isObjection: boolean, objection: string])[] = [
    [tag !== `v${version}`, `The tag ${tag} is not v${version}, the version in package.json.`],
    [
      !/^\d+\.\d+\.\d+$/.test(version),
      `${version} is not MAJOR.MINOR.PATCH: the major tag and npm's "latest" would move to it.`,
    ],
    [findNewestTag() !== tag, `A newer version is tagged: the major tag and npm's "latest" would move back.`],
    [!isOnMain(), 'The commit is not on main.'],
    [package_.repository.url.includes('/OWNER/'), 'The repository has no owner. Run: npm run owner -- NAME'],
    [pending.length > 0, 'There are unreleased changesets. Run: npm run version'],
    [notes === '', `CHANGELOG.md has no text below "## ${version}".`],
    [git('status', '--porcelain') !== '', 'The work tree differs from the commit.'],
  ];
  return checks.filter(([isObjection]) => isObjection).map(([, objection]) => objection);
}

function writeRelease(): void {
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

/** Returns the section of the changelog for this version, without its heading. Empty if there is no such section. */
function findReleaseNotes(changelog: string): string {
  const sections = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version}\n`)) ?? '';
  return section.slice(version.length).trim();
}

/** Returns the tag with the highest version: an existing tag, or the tag of this release. */
function findNewestTag(): string {
  const tags = git('tag', '--list', 'v*.*.*').split('\n').filter(Boolean);
  return [...tags, tag].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? tag;
}

/** Whether the commit is on main. A clone that was made for a tag has no local main, only that of the remote. */
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

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
