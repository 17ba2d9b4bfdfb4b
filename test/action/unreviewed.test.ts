import { expect, test } from 'vitest';
import { markerOf } from '../../src/action/marker.ts';
import { planMark } from '../../src/action/plan-mark.ts';
import { unreviewed } from '../../src/action/unreviewed.ts';
import type { PromptPlan } from '../../src/domain/plan.ts';
import { connectGitHub } from '../../src/github/client.ts';
import { parseEvent } from '../../src/github/event.ts';
import { content, file } from '../planning/support.ts';
import { startAt } from '../git/support.ts';
import { startGitHub, type GitHubDouble, type Person } from '../support/github-api.ts';
import { makeWorld } from '../support/world.ts';
import { pushEvent } from './events.ts';
import { inputsOf } from './support.ts';
import { partsOf } from '../../src/action/plan-mark.ts';

const [NEWEST, EARLIER] = ['c'.repeat(40), 'b'.repeat(40)];
const DIGEST = `sha256:${'0a'.repeat(32)}`;
const ADA: Person = { login: 'ada', type: 'User' };
const inputs = inputsOf();
const NO_PLAN = '#7 has no comment of promptsync with a whole plan';
const OTHER = '#7 has shown another plan; of 1 changing prompts no comment has shown what is to be done';

function planOf(...ids: readonly string[]): { readonly prompts: readonly PromptPlan[] } {
  const change = { kind: 'create-version', content: content('Text'), provenance: {} } as const;
  const prompts = ids.map((id) => ({ ...file(), id }));
  const rest = { observed: null, status: 'pending', drift: [], problems: [], finds: [] } as const;
  return { prompts: prompts.map((one) => ({ file: one, changes: [change], ...rest })) };
}

/** The comment in which these prompts' changes were shown. */
const shows = (...ids: readonly string[]): string =>
  `${markerOf(inputs)}\n${planMark(DIGEST, partsOf(planOf(...ids)))}\nThe plan`;

function merge(
  github: GitHubDouble,
  body?: string,
  { number = 7, mergeCommit = NEWEST, user = undefined as Person | undefined } = {},
) {
  github.addPull({ number, head: 'd'.repeat(40), base: 'main', merged: true, mergeCommit });
  if (body !== undefined) github.addComment(number, user === undefined ? { body } : { body, user });
}

async function tell(prepare: (github: GitHubDouble) => void, ids: readonly string[], token = true): Promise<string> {
  const github = await startGitHub();
  prepare(github);
  const access = { token: github.token, apiUrl: github.apiUrl, repository: 'acme/prompts', environment: {} };
  const context = {
    ...{ inputs, event: parseEvent('push', 'refs/heads/main', pushEvent(NEWEST)), world: makeWorld('/'), folder: '/' },
    ...{ github: token ? () => Promise.resolve(connectGitHub(access)) : null, runUrl: null, git: startAt('/') },
    configuration: { config: null, problems: [] },
  };
  const repository = { head: NEWEST, mergesBefore: async () => [NEWEST, EARLIER] };
  const found = await unreviewed(context, { plan: planOf(...ids), repository });
  return found.map(({ code, message }) => `${code}: ${message}`).join('\n');
}

test.each<[string, (github: GitHubDouble) => void, readonly string[], string]>([
  ['that its pull request has shown', (github) => merge(github, shows('a')), ['a'], ''],
  [
    'also as GitHub gives it back, with CRLF',
    (github) => merge(github, shows('a').replaceAll('\n', '\r\n')),
    ['a'],
    '',
  ],
  ['of which some is done since', (github) => merge(github, shows('a', 'b')), ['b'], ''],
  ['with nothing to do', () => {}, [], ''],
  [
    'that two merges in a row have shown together',
    (github) => {
      merge(github, shows('a'));
      merge(github, shows('b'), { number: 6, mergeCommit: EARLIER });
    },
    ['a', 'b'],
    '',
  ],
  ['of which one prompt was not shown', (github) => merge(github, shows('a')), ['a', 'b'], OTHER],
  ['that no pull request brought', () => {}, ['a'], 'no merged pull request brought it'],
  ['without a comment', (github) => merge(github), ['a'], NO_PLAN],
  ['that a stranger has shown', (github) => merge(github, shows('a'), { user: ADA }), ['a'], NO_PLAN],
  ['shown further down', (github) => merge(github, shows('a').replace('\n', '\n\n')), ['a'], NO_PLAN],
  ['that was not whole', (github) => merge(github, `${markerOf(inputs)}\nThe plan`), ['a'], NO_PLAN],
  ['whose digest was changed', (github) => merge(github, shows('a').replace('0a0a', '0b0b')), ['a'], NO_PLAN],
  [
    'of another configuration',
    (github) => merge(github, shows('a').replace(markerOf(inputs), markerOf(inputsOf({ config: 'other.yaml' })))),
    ['a'],
    NO_PLAN,
  ],
  [
    'where GitHub refuses',
    (github) => github.fail({ path: /\/pulls/ }, { status: 403, body: { message: 'Resource not accessible' } }),
    ['a'],
    'GitHub could not be asked: Resource not accessible',
  ],
  [
    'where GitHub answers nonsense',
    (github) => github.fail({ path: /\/pulls/ }, { status: 200, body: [{ number: 'seven' }] }),
    ['a'],
    'GitHub could not be asked: ',
  ],
])('a plan %s', async (_, prepare, ids, expected) => {
  const told = await tell(prepare, ids);
  expect(told).toContain(expected);
  expect(told.startsWith('guard/not-reviewed: ')).toBe(expected !== '');
});

test('a plan that nobody can look up, without a token', async () => {
  expect(await tell((github) => merge(github, shows('a')), ['a'], false)).toContain('there is no `github-token`');
});
