import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { supersededBy } from '../../src/action/superseded.ts';
import { sync, type SyncOptions } from '../../src/commands/sync.ts';
import { connectGitHub } from '../../src/github/client.ts';
import { parseEvent } from '../../src/github/event.ts';
import type { Problem } from '../../src/problem.ts';
import { startAt } from '../git/support.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { startGitHub, type GitHubDouble } from '../support/github-api.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';
import { pushEvent } from './events.ts';
import { inputsOf } from './support.ts';

const MAIN = 'refs/heads/main';
const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: false, yes: true, exitCode: false, allowDirty: false, withTexts: false },
};

/** A clone that is at the first of two commits, while its remote's main is at the second one. */
type Scene = {
  readonly clone: string;
  readonly origin: string;
  readonly first: string;
  readonly second: string;
  readonly service: TestService;
  readonly github: GitHubDouble;
};

async function makeScene(): Promise<Scene> {
  const clone = makeRepository(workspaceFiles({ greeting: { text: 'First.' } }));
  const first = git(clone, 'rev-parse', 'HEAD');
  writeFiles(clone, { 'prompts/greeting.md': promptText('greeting', { text: 'Second.' }) });
  const second = commitAll(clone, 'Second');
  const origin = join(makeFolder(), 'origin.git');
  git(clone, 'clone', '--quiet', '--bare', clone, origin);
  git(clone, 'remote', 'add', 'origin', `file://${origin}`);
  git(clone, 'checkout', '--quiet', '--detach', first);
  return { clone, origin, first, second, service: await startTestService(['greeting']), github: await startGitHub() };
}

type Given = { readonly ref: string; readonly token: boolean };

/** What a run is refused for: nothing, or the problems' code and message, with commits by their names. */
async function refusals(scene: Scene, { ref, token }: Given): Promise<string> {
  const { clone, github, first, second, service } = scene;
  const access = { token: github.token, apiUrl: github.apiUrl, repository: 'acme/prompts', environment: {} };
  const world = makeWorld(clone, service.environment);
  const context = {
    ...{ inputs: inputsOf(), event: parseEvent('push', ref, pushEvent(first)), world, runUrl: null },
    ...{ folder: clone, configuration: { config: null, problems: [] }, git: startAt(clone) },
    github: token ? () => Promise.resolve(connectGitHub(access)) : null,
  };
  let found: readonly Problem[] = [];
  await sync({ ...OPTIONS, refusals: async (prepared) => (found = await supersededBy(context, prepared)) }, world);
  const told = found.map(({ code, message }) => `${code}: ${message}`).join('\n');
  return told.replaceAll(second, 'SECOND').replaceAll(first, 'FIRST').replaceAll(first.slice(0, 12), 'FIRST');
}

const back = ({ origin, first }: Scene): void => void git(origin, 'update-ref', MAIN, first);
const gone = ({ origin }: Scene): void => rmSync(origin, { recursive: true });

/** The second commit was applied, and then its branch was moved back. */
async function applied(scene: Scene): Promise<void> {
  const { clone, first, second, service } = scene;
  git(clone, 'checkout', '--quiet', '--detach', second);
  await sync(OPTIONS, makeWorld(clone, service.environment));
  git(clone, 'checkout', '--quiet', '--detach', first);
  back(scene);
}

test.each<[string, (scene: Scene) => void | Promise<void>, Partial<Given>, string]>([
  ['the branch is at it', back, {}, ''],
  ['the branch is further', () => {}, {}, 'guard/superseded'],
  ['the service has what was made of a later commit', applied, {}, 'guard/superseded'],
  ['it is a tag’s', ({ origin, first }) => void git(origin, 'tag', 'v1', first), { ref: 'refs/tags/v1' }, ''],
  ['there is no such branch', () => {}, { ref: 'refs/heads/nope' }, 'guard/unknown-newest'],
  ['it is not told of which branch', () => {}, { ref: '' }, 'guard/unknown-newest'],
  ['the remote is gone, and nobody else to ask', gone, { token: false }, 'guard/unknown-newest'],
  ['the remote is gone, and GitHub knows no such branch', gone, {}, 'guard/unknown-newest'],
  [
    'the remote is gone, and GitHub has the branch at it',
    (scene) => (gone(scene), scene.github.setBranch('main', scene.first)),
    ...([{}, ''] as const),
  ],
  [
    'the remote is gone, and GitHub has the branch further',
    (scene) => (gone(scene), scene.github.setBranch('main', scene.second)),
    ...([{}, 'guard/superseded'] as const),
  ],
  ['the remote is gone, and it is a tag’s', gone, { ref: 'refs/tags/v1' }, 'guard/unknown-newest'],
])('an old commit, where %s', async (_, prepare, given, expected) => {
  const scene = await makeScene();
  await prepare(scene);
  scene.service.takeWrites();
  const told = await refusals(scene, { ref: MAIN, token: true, ...given });
  expect(told.split(': ')[0]).toBe(expected);
  expect(scene.service.takeWrites().length > 0).toBe(expected === '');
});

test('the reason names both commits', async () => {
  const told = await refusals(await makeScene(), { ref: MAIN, token: true });
  expect(told).toContain('FIRST');
  expect(told).toContain(`${MAIN} is at SECOND`);
});
