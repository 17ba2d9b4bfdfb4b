import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { runAction } from '../support/action.ts';
import { scheduleEvent } from '../forges/github/support.ts';
import { wrapGit } from '../support/count-git.ts';
import { addHook, commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';

afterEach(() => vi.unstubAllEnvs());

const CONFIG = 'service: { api_key_env: TEAM_KEY }\n';
const FILES = { 'team/promptsync.yaml': CONFIG, 'team/prompts/greeting.md': promptText('greeting') };

/** Commits files that git takes for a repository, with a command in its configuration. */
function makeDecoy(): { readonly folder: string; readonly marker: string } {
  const folder = makeRepository(FILES);
  const marker = join(makeFolder(), 'marker');
  for (const name of ['HEAD', 'index', 'objects', 'refs']) {
    cpSync(join(folder, '.git', name), join(folder, 'team', name), { recursive: true });
  }
  const command = `sh -c 'touch ${marker}' --`;
  const settings = `[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = "${command}"\n`;
  const filter = `[filter "decoy"]\n\tclean = "${command}"\n\tsmudge = "${command}"\n`;
  writeFiles(folder, {
    'team/config': `${settings}${filter}`,
    'team/.gitattributes': '*.md filter=decoy\n',
    'team/prompts/greeting.md': promptText('greeting', { text: 'Mine.' }),
  });
  commitAll(folder, 'A decoy');
  return { folder, marker };
}

/** Makes a `git` that drops some arguments, and records the variables of its environment. */
function wrapGitWithout(without: string): { readonly path: string; readonly variables: () => string } {
  const { folder, path } = wrapGit((real) => [
    'env >> "${0%/*}/variables"',
    'words=()',
    `for word; do [[ $word == ${without} ]] && unset 'words[-1]' || words+=("$word"); done`,
    `exec ${real} "\${words[@]}"`,
  ]);
  return { path, variables: () => readFileSync(join(folder, 'variables'), 'utf8') };
}

test.each([
  ['sync and history run no command from a committed imitation of a repository', 'no-word'],
  [
    'sync and history run no command from a committed imitation of a repository, even if git lacks safe.bareRepository',
    'safe.bareRepository=*',
  ],
])('%s', async (_, dropped) => {
  const { folder, marker } = makeDecoy();
  const { environment } = await startKeyed();
  const { path, variables } = wrapGitWithout(dropped);
  vi.stubEnv('PATH', path);
  for (const line of ['history greeting', 'sync --yes']) {
    const ran = await run(folder, [...line.split(' '), '--config', 'team/promptsync.yaml'], { environment });
    expect({ ...ran, marked: existsSync(marker) }).toMatchObject({ exitCode: 0, marked: false });
  }
  expect(variables()).not.toContain(KEY);
});

test('The GitHub Action runs no command configured in a committed folder that imitates a git repository', async () => {
  const { folder, marker } = makeDecoy();
  const service = await startTestService(['greeting']);
  const { path, variables } = wrapGitWithout('no-word');
  const ran = await runAction(folder, {
    eventName: 'schedule',
    event: scheduleEvent(),
    inputs: { 'working-directory': 'team', 'base-url': service.baseUrl, 'api-key': KEY },
    environment: { PATH: path, TEAM_KEY: KEY },
  });
  expect(existsSync(marker)).toBe(false);
  // The file differs from the service, and the report names the commit of the real repository.
  expect(ran).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'drift' } });
  expect(ran.summary).toContain(git(folder, 'rev-parse', 'HEAD').slice(0, 12));
  expect(variables()).not.toContain(KEY);
});

test('promote --commit does not expose the API key to git hooks', async () => {
  const folder = makeRepository(FILES);
  const variablesPath = join(makeFolder(), 'variables');
  addHook(folder, `env > ${variablesPath}`);
  const options = await startKeyed();
  expect(await run(join(folder, 'team'), ['sync', '--yes'], options)).toMatchObject({ exitCode: 0 });
  const promote = ['promote', 'greeting', '--from', 'staging', '--to', 'production', '--commit'];
  expect(await run(join(folder, 'team'), promote, options)).toMatchObject({ exitCode: 0 });
  expect(readFileSync(variablesPath, 'utf8')).toContain('PATH=');
  expect(readFileSync(variablesPath, 'utf8')).not.toContain(KEY);
});

/** Starts a service and puts its key into the environment of this process, as in the shell of a user. */
async function startKeyed() {
  const { baseUrl } = await startTestService(['greeting']);
  vi.stubEnv('TEAM_KEY', KEY);
  vi.stubEnv('PROMPTSYNC_API_KEY', KEY);
  return { environment: { PROMPTSYNC_BASE_URL: baseUrl, TEAM_KEY: KEY } };
}
