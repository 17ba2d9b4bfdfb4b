import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sync, type SyncOptions } from '../../src/commands/sync.ts';
import type { PromptPlan } from '../../src/domain/plan.ts';
import type { Context } from '../../src/github/context.ts';
import { parseEvent } from '../../src/github/event.ts';
import { reviewGate, supersededBy } from '../../src/github/gates.ts';
import { markerOf } from '../../src/github/sticky.ts';
import type { Problem } from '../../src/problem.ts';
import { partsOf, planMark } from '../../src/review/reviewed-plan.ts';
import { startAt } from '../git/support.ts';
import { content, file } from '../planning/support.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { startGitHub, type GitHubDouble, type Person } from '../support/github-api.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { makeWorld } from '../support/world.ts';
import { ADA, connectTo, inputsOf, pushEvent } from './support.ts';

const MAIN = 'refs/heads/main';
const OPTIONS: SyncOptions = {
  ...{ only: [], dryRun: false, yes: true, exitCode: false, allowDirty: false },
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

function contextOf(github: GitHubDouble | null, ref: string, commit: string): Context {
  return {
    ...{ inputs: inputsOf(), event: parseEvent('push', ref, pushEvent(commit)) },
    ...{ world: makeWorld('/'), git: startAt('/'), configuration: { config: null, problems: [] } },
    github: github === null ? null : connectTo(github),
  };
}

/** Syncs at the first commit, and resolves to what it is refused for. */
async function refusals(
  { clone, github, first, service }: Scene,
  ref: string,
  token: boolean,
): Promise<readonly string[]> {
  const world = makeWorld(clone, service.environment);
  const context = { ...contextOf(token ? github : null, ref, first), world, git: startAt(clone) };
  let found: readonly Problem[] = [];
  await sync({ ...OPTIONS, refusals: async (walked) => (found = await supersededBy(context, walked)) }, world);
  return found.map(({ code }) => code);
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

const known =
  (commit: 'first' | 'second') =>
  (scene: Scene): void => {
    gone(scene);
    scene.github.setBranch('main', scene[commit]);
  };
const TAG = 'refs/tags/v1';

test.each<[string, (scene: Scene) => void | Promise<void>, { ref?: string; token?: boolean }, string]>([
  ['the branch is at it', back, {}, ''],
  ['the branch is further', () => {}, {}, 'guard/superseded'],
  ['the service has what was made of a later commit', applied, {}, 'guard/superseded'],
  ['it is a tag’s', ({ origin, first }) => void git(origin, 'tag', 'v1', first), { ref: TAG }, ''],
  ['there is no such branch', () => {}, { ref: 'refs/heads/nope' }, 'guard/unknown-newest'],
  ['it is not known of which branch', () => {}, { ref: '' }, 'guard/unknown-newest'],
  ['the remote is gone, and nobody else to ask', gone, { token: false }, 'guard/unknown-newest'],
  ['the remote is gone, and GitHub knows no such branch', gone, {}, 'guard/unknown-newest'],
  ['the remote is gone, and GitHub has the branch at it', known('first'), {}, ''],
  ['the remote is gone, and GitHub has the branch further', known('second'), {}, 'guard/superseded'],
  ['the remote is gone, and it is a tag’s', gone, { ref: TAG }, 'guard/unknown-newest'],
])('an old commit, where %s', async (_, prepare, { ref = MAIN, token = true }, expected) => {
  const scene = await makeScene();
  await prepare(scene);
  scene.service.takeWrites();
  expect(await refusals(scene, ref, token)).toEqual(expected === '' ? [] : [expected]);
  expect(scene.service.takeWrites().length > 0).toBe(expected === '');
});

describe('the review of a plan', () => {
  const [NEWEST, EARLIER] = ['c'.repeat(40), 'b'.repeat(40)];
  const NO_PLAN = '#7 has no comment of promptsync with a whole plan';
  const change = { kind: 'create-version', content: content('Text'), provenance: {} } as const;
  const rest = { observed: null, status: 'pending', drift: [], problems: [], finds: [] } as const;
  const planOf = (ids: string): { readonly prompts: readonly PromptPlan[] } => ({
    prompts: [...ids].map((id) => ({ ...rest, file: { ...file(), id }, changes: [change] })),
  });
  /** The comment in which these prompts' changes were shown. */
  const shows = (ids: string, inputs = inputsOf()): string =>
    `${markerOf(inputs)}\n${planMark(`sha256:${'0a'.repeat(32)}`, partsOf(planOf(ids)))}\nThe plan`;
  const merge = (github: GitHubDouble, body: string, user?: Person, number = 7, mergeCommit = NEWEST): void => {
    github.addPull({ number, head: 'd'.repeat(40), base: 'main', merged: true, mergeCommit });
    github.addComment(number, user === undefined ? { body } : { body, user });
  };
  const refused = { status: 403, body: { message: 'Resource not accessible' } };

  async function gate(prepare: (github: GitHubDouble) => void, ids: string, token = true): Promise<string> {
    const github = await startGitHub();
    prepare(github);
    const repository = { head: NEWEST, mergesBefore: async () => [NEWEST, EARLIER] };
    const context = contextOf(token ? github : null, MAIN, NEWEST);
    const found = await reviewGate(context, { plan: planOf(ids), repository });
    return found.map(({ code, message }) => `${code}: ${message}`).join('\n');
  }

  const fails = (github: GitHubDouble): void => github.fail({ path: /\/pulls/ }, refused);
  const mergesTwo = (github: GitHubDouble): void => {
    merge(github, shows('a'));
    merge(github, shows('b'), undefined, 6, EARLIER);
  };
  const other = shows('a', inputsOf({ config: 'other.yaml' }));

  test.each<[string, (github: GitHubDouble) => void, string, string]>([
    ['is in the comment of the newest merge', (github) => merge(github, shows('a')), 'a', ''],
    ['may be in those of two merges', mergesTwo, 'ab', ''],
    ['is not there without a pull request', () => {}, 'a', 'no merged pull request brought it'],
    ['is not what a stranger has written', (github) => merge(github, shows('a'), ADA), 'a', NO_PLAN],
    ['is not that of another configuration', (github) => merge(github, other), 'a', NO_PLAN],
    ['is unknown where GitHub refuses', fails, 'a', 'GitHub could not be asked: Resource not accessible'],
  ])('%s', async (_, prepare, ids, expected) => {
    const problems = await gate(prepare, ids);
    expect(problems).toContain(expected);
    expect(problems.startsWith('guard/not-reviewed: ')).toBe(expected !== '');
  });

  test('is unknown without a token', async () => {
    expect(await gate((github) => merge(github, shows('a')), 'a', false)).toContain('there is no `github-token`');
  });
});
