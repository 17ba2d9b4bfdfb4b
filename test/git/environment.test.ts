import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openGit } from '../../src/git/run-git.ts';
import { wrapGit } from '../support/count-git.ts';
import { makeRepository } from '../support/folder.ts';
import { startAt } from './support.ts';

afterEach(() => void vi.unstubAllEnvs());

/** Variables with settings of the user, such as credentials, proxies and programs. */
const USER_SETTINGS = {
  EDITOR: 'vi',
  PAGER: 'less',
  PREFIX: '/usr',
  SSH_ASKPASS: 'ask',
  GIT_ALLOW_PROTOCOL: 'file',
  GIT_ASKPASS: 'ask',
  GIT_AUTHOR_NAME: 'Bob',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'credential.https://git.example.com.helper',
  GIT_CONFIG_VALUE_0: 'store',
  GIT_CONFIG_KEY_1: 'remote.origin.uploadpack',
  GIT_CONFIG_VALUE_1: 'git-upload-pack',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '0',
  GIT_CONFIG_PARAMETERS: "'color.ui'='always'",
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_EDITOR: 'vi',
  GIT_EXTERNAL_DIFF: 'false',
  GIT_PAGER: 'less',
  GIT_SEQUENCE_EDITOR: 'vi',
  GIT_SSH: 'ssh',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  GIT_SSL_NO_VERIFY: '1',
  GIT_TEMPLATE_DIR: '/nowhere',
  GIT_TERMINAL_PROMPT: '1',
} as const;

/** Variables that are no settings in git's own list, and those that change what git prints. */
const OMITTED_VARIABLES = [
  ...execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => !['', 'GIT_CONFIG_COUNT', 'GIT_CONFIG_PARAMETERS'].includes(name)),
  'GIT_NAMESPACE',
  'GIT_LITERAL_PATHSPECS',
  'GIT_TRACE',
  'GIT_TRACE2_EVENT',
  'GIT_CURL_VERBOSE',
  'PROMPTSYNC_API_KEY',
  'INPUT_API-KEY',
  'TEAM_KEY',
];

/** Runs git and returns the environment variables that it received. */
async function readGitEnvironment(): Promise<ReadonlyMap<string, string>> {
  const { folder, path } = wrapGit((real) => ['env -0 > "${0%/*}/environment"', `exec ${real} "$@"`]);
  vi.stubEnv('PATH', path);
  await openGit({ ...startAt(makeRepository({ 'a.md': 'a' })), keyVariables: ['TEAM_KEY'] }).run('rev-parse', 'HEAD');
  const entries = readFileSync(join(folder, 'environment'), 'utf8').split('\0');
  return new Map(entries.map((entry) => [entry.split('=')[0] ?? '', entry.slice(entry.indexOf('=') + 1)]));
}

test("git inherits the user's settings, and can prompt for a password if the user allows prompts", async () => {
  for (const [name, value] of Object.entries(USER_SETTINGS)) vi.stubEnv(name, value);
  expect(Object.fromEntries(await readGitEnvironment())).toMatchObject(USER_SETTINGS);
});

test('git does not prompt for a password by default', async () => {
  expect((await readGitEnvironment()).get('GIT_TERMINAL_PROMPT')).toBe('0');
});

test("git does not inherit keys or variables that choose a repository or change git's output", async () => {
  for (const name of OMITTED_VARIABLES) vi.stubEnv(name, '1');
  const inherited = await readGitEnvironment();
  expect(OMITTED_VARIABLES.filter((name) => inherited.has(name))).toEqual([]);
});
