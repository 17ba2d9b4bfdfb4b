import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * What each room may import: other rooms, and libraries by name. `node:` is meant where it is listed. This is the table
 * of the design; a wall is moved here first.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  'problem.ts': ['problems', 'domain'],
  problems: ['problem.ts', 'domain'],
  domain: ['problem.ts', 'node:crypto', 'node:process', 'fastest-levenshtein'],
  files: ['problem.ts', 'domain', 'node:', 'gray-matter', 'proper-lockfile', 'yaml', 'zod'],
  planning: ['problem.ts', 'domain'],
  report: ['problem.ts', 'domain', 'diff', 'fast-string-width', 'fast-wrap-ansi', 'picocolors', 'zod'],
  // Of each provider what it takes, which is known without asking it. And whether git accepts the repository.
  config: [
    ...['problem.ts', 'domain', 'files', 'ledger/rules.ts', 'langfuse/rules.ts', 'node:', 'zod'],
    ...['git/accept.ts', 'git/driver.ts'],
  ],
  git: ['problem.ts', 'domain', 'node:', 'simple-git', 'p-limit'],
  service: ['problem.ts', 'domain', 'node:', 'p-limit', 'undici', 'zod'],
  ledger: ['problem.ts', 'domain', 'service/prompt-service.ts', 'service/retry.ts', 'service/written.ts', 'zod'],
  // How requests are sent, bounded, repeated and told apart when they fail.
  langfuse: [
    ...['problem.ts', 'domain', 'service/call.ts', 'service/connection.ts', 'service/prompt-service.ts'],
    ...['service/retry.ts', 'service/written.ts', 'zod'],
  ],
  desired: ['problem.ts', 'domain', 'files', 'config', 'git', 'node:'],
  observing: ['problem.ts', 'domain', 'p-limit'],
  applying: ['problem.ts', 'domain', 'p-limit'],
  embedded: ['domain', 'service/wire.ts', 'node:', 'zod'],
  commands: [
    ...['problem.ts', 'domain', 'desired', 'observing', 'planning', 'applying', 'report', 'files', 'config', 'git'],
    ...['service/client.ts', 'service/connection.ts', 'service/prompt-service.ts', 'ledger/provider.ts'],
    ...['langfuse/client.ts', 'langfuse/provider.ts', 'embedded', 'node:'],
  ],
  cli: [
    'problem.ts',
    'domain/edits.ts',
    'domain/json.ts',
    'domain/policy.ts',
    'domain/text.ts',
    'domain/world.ts',
    'desired/workspace.ts',
    'files',
    'commands',
    'gitlab',
    'report',
    // The demo makes a repository, and edits in its service as others would.
    'git/driver.ts',
    'embedded/store.ts',
    'node:',
    'commander',
    '@clack/prompts',
    '../package.json',
    '../schemas',
  ],
  review: ['problem.ts', 'domain'],
  github: [
    ...['problem.ts', 'domain', 'review', 'commands', 'report', 'node:', 'undici', 'zod', '@octokit'],
    // The process as every command is given it: secrets are hidden, signals are heard.
    ...['cli/host.ts', 'cli/world.ts'],
    // Read before git is started, because it names the variable of the key, which git does not get.
    ...['config/config.ts', 'config/load.ts', 'desired/workspace.ts'],
    // The checkout: where the repository begins, the rest of its history, the tip of its branch, a branch of the run's own.
    ...['files/paths.ts', 'git/driver.ts', 'git/remote.ts', 'git/repository.ts', 'git/proposal.ts'],
  ],
  gitlab: [
    ...['problem.ts', 'domain', 'commands/read-report.ts', 'commands/sticky.ts', 'report', 'node:', 'zod'],
    // How requests are sent, bounded, repeated and told apart when they fail; what the service's calls mean stays there.
    ...['service/http.ts', 'service/retry.ts', 'service/errors.ts', 'service/prompt-service.ts'],
  ],
  'process.ts': ['cli/host.ts', 'node:', 'supports-hyperlinks'],
  'compile-cache.ts': ['node:'],
  'cli.ts': ['cli', 'compile-cache.ts', 'process.ts', 'node:'],
  'action.ts': ['github', 'process.ts', '@actions/core'],
  'index.ts': ['*'],
};

const source = resolve(import.meta.dirname, '../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

describe('the dependency rule', () => {
  test('every source file is in a room of the table', () => {
    expect(files.map(roomOf).filter((room) => !(room in rooms))).toEqual([]);
  });

  test.each(Object.entries(rooms))('%s imports only what its room may', (room, allowed) => {
    const forbidden = files
      .filter((file) => roomOf(file) === room)
      .flatMap((file) => importsOf(file).map((name) => ({ file, name })))
      .filter(({ name }) => roomOf(name) !== room && !isAllowed(name, allowed));
    expect(forbidden).toEqual([]);
  });

  test('the process, time and chance are arguments everywhere but in the entries', () => {
    const entries = ['cli.ts', 'action.ts', 'process.ts'];
    const impure = files.filter((file) => !entries.includes(file) && IMPURE.test(withoutComments(read(file))));
    expect(impure).toEqual([]);
  });

  test('only three files import the process: for the variables of git, for the user id and to load crypto late', () => {
    const importing = files.filter((file) => importsOf(file).includes('node:process'));
    expect(importing.toSorted()).toEqual(['domain/digest.ts', 'files/owner.ts', 'git/driver.ts']);
  });

  test('there is no barrel but the public API', () => {
    const barrels = files.filter((file) => file !== 'index.ts' && /^export (\*|\{[^}]*\}) from/m.test(read(file)));
    expect(barrels).toEqual([]);
  });
});

const IMPURE = /\bprocess\.|\bconsole\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b/;

function read(file: string): string {
  return readFileSync(join(source, file), 'utf8');
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

function importsOf(file: string): readonly string[] {
  const names = [...read(file).matchAll(/(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
  return names.map((name) => (name.startsWith('.') ? relative(source, resolve(source, dirname(file), name)) : name));
}

function roomOf(name: string): string {
  return name.split('/')[0] ?? name;
}

function isAllowed(name: string, allowed: readonly string[]): boolean {
  return allowed.some(
    (one) => one === '*' || name === one || name.startsWith(`${one}/`) || (one.endsWith(':') && name.startsWith(one)),
  );
}
