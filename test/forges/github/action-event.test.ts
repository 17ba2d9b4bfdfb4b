import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseMode, parseEvent, type ActionEvent } from '../../../src/forges/github/action-event.ts';
import { endOfCall, pullEvent, pushEvent, scheduleEvent } from './support.ts';

const MAIN = 'refs/heads/main';
const LIVE = 'refs/heads/live';
const HEAD = 'a'.repeat(40);
const BASE = 'b'.repeat(40);
const SHA_256 = 'c'.repeat(64);
const DEPENDABOT = 'dependabot[bot]';

/** Returns the payload of a pull request event with some fields of the pull request replaced. */
function pullWith(changes: object, around: object = {}): object {
  const pull = { number: 7, head: { sha: HEAD }, base: { sha: BASE, ref: 'main' }, ...changes };
  return { ...pullEvent(7, HEAD, BASE), pull_request: pull, ...around };
}

describe('parseEvent for pull requests', () => {
  const own = { full_name: 'acme/prompts' };
  const head = { sha: HEAD, repo: own };
  const otherBase = { sha: BASE, ref: 'main', repo: { full_name: 'b/b' } };
  const pullFrom = (user: string, sender: string) =>
    pullWith({ head, user: { login: user } }, { sender: { login: sender } });

  test.each<[string, boolean, object]>([
    ['of the same repository', false, pullEvent(7, HEAD, BASE)],
    ['from a fork', true, pullEvent(7, HEAD, BASE, { repository: 'ada/prompts' })],
    ['from a deleted fork', true, pullEvent(7, HEAD, BASE, { repository: null })],
    ['whose head has no repository', true, pullWith({})],
    ['that Dependabot opened and somebody else pushed', true, pullFrom(DEPENDABOT, 'ada')],
    ['that somebody else opened and Dependabot pushed', true, pullFrom('ada', DEPENDABOT)],
    ['whose author deleted their account', false, pullWith({ head, user: null })],
    ['whose head and base repositories differ', true, pullWith({ head, base: otherBase })],
  ])('For a pull request %s, parseEvent sets isForeign to %s', (_, isForeign, payload) => {
    const { pull, before, defaultBranch, name, ref } = parseEvent('pull_request', 'refs/pull/7/merge', payload);
    expect(pull).toEqual({ number: 7, head: HEAD, base: BASE, into: 'main', isForeign, state: 'open' });
    expect({ name, ref, defaultBranch, before }).toEqual({
      ...{ name: 'pull_request', ref: 'refs/pull/7/merge', defaultBranch: 'main', before: null },
    });
  });

  test.each<[state: string, action: string, object]>([
    ['open', 'synchronize', { state: 'open' }],
    ['merged', 'labeled', { state: 'closed', merged: true }],
    ['closed', 'closed', {}],
  ])(
    'parseEvent returns the state %j for the action %j of a pull request with the fields %j',
    (state, action, fields) => {
      expect(parseEvent('pull_request', MAIN, pullWith(fields, { action })).pull?.state).toBe(state);
    },
  );
});

const home = { repository: { full_name: 'acme/prompts', default_branch: 'main' } };
const queue = (base: string, head = base) => ({ merge_group: { base_sha: base, head_sha: head } });
test.each<[string, object, Partial<ActionEvent>]>([
  ['parseEvent reads the previous commit of a push', pushEvent(HEAD, BASE), { before: BASE }],
  ['parseEvent reads no previous commit for a first push', pushEvent(SHA_256, '0'.repeat(64)), { before: null }],
  ['parseEvent reads the commits of a merge queue', { ...queue(BASE, HEAD), ...home }, { before: BASE, queued: HEAD }],
  ['parseEvent reads commit ids with SHA-256', { ...queue(SHA_256), ...home }, { before: SHA_256, queued: SHA_256 }],
  ['parseEvent reads the default branch of a schedule event', scheduleEvent(), { defaultBranch: 'main' }],
  ['parseEvent reads an empty payload', {}, { defaultBranch: null }],
])('%s', (_, payload, expected) => {
  expect(parseEvent('any', 'refs/heads/main', payload)).toEqual({
    ...{ name: 'any', ref: 'refs/heads/main', pull: null, defaultBranch: 'main', before: null, queued: null },
    ...expected,
  });
});

test.each<[string, unknown]>([
  ['parseEvent rejects an array as the payload', []],
  ['parseEvent rejects a pull request number that is not positive', pullWith({ number: 0 })],
  ['parseEvent rejects a command-line option as the head commit', pullWith({ head: { sha: '--all' } })],
  ['parseEvent rejects a head commit id that is one digit too short', pullWith({ head: { sha: 'a'.repeat(39) } })],
  ['parseEvent rejects a head commit id between SHA-1 and SHA-256', pullWith({ head: { sha: 'a'.repeat(50) } })],
  ['parseEvent rejects a head commit id followed by a second line', pullWith({ head: { sha: `${HEAD}\n--all` } })],
  ['parseEvent rejects an empty base commit id', pullWith({ base: { sha: '', ref: 'main' } })],
  ['parseEvent rejects an option as the base commit of a merge queue', queue('--all', HEAD)],
])('%s', (_, payload) => {
  const end = endOfCall(() => JSON.stringify(parseEvent('pull_request', 'refs/heads/main', payload)));
  expect(end).toMatch(/^action\/invalid-event: /);
});

/** Payloads with arbitrary JSON in the fields that promptsync reads. */
const payloads = fc.oneof(
  fc.jsonValue(),
  fc.record({ pull_request: fc.jsonValue(), repository: fc.jsonValue(), sender: fc.jsonValue() }),
  fc.record({ before: fc.jsonValue(), merge_group: fc.record({ base_sha: fc.jsonValue(), head_sha: fc.jsonValue() }) }),
  fc.record({ number: fc.jsonValue(), head: fc.jsonValue(), base: fc.jsonValue() }).map((one) => pullWith(one)),
);

test('For any payload, parseEvent either returns an event or throws an invalid-event error', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), payloads, (name, ref, payload) => {
      expect(endOfCall(() => JSON.stringify(parseEvent(name, ref, payload)))).toMatch(/^(action\/invalid-event: |\{)/);
    }),
  );
});

describe('chooseMode', () => {
  const pull = pullEvent(7, HEAD, BASE);
  const home = scheduleEvent();
  const eventOf = (name: string, ref = LIVE): ActionEvent => {
    return parseEvent(name, ref, name.startsWith('pull_request') ? pull : home);
  };

  test.each<[event: string, auto: string, plan: string, sync: string, drift: string, ref?: string]>([
    ['pull_request', 'plan', 'plan', 'refused', 'drift', 'refs/pull/7/merge'],
    ['pull_request_target', 'plan', 'plan', 'refused', 'drift'],
    ['merge_group', 'plan', 'plan', 'sync', 'drift', 'refs/heads/gh-readonly-queue/live/pr-7'],
    ['push', 'sync', 'plan', 'sync', 'drift'],
    ['push', 'plan', 'plan', 'sync', 'drift', MAIN],
    ['push', 'plan', 'plan', 'sync', 'drift', 'refs/heads/live-2'],
    ['push', 'plan', 'plan', 'sync', 'drift', 'refs/heads/feature/refs/heads/live'],
    ['push', 'plan', 'plan', 'sync', 'drift', 'refs/tags/live'],
    ['schedule', 'drift', 'plan', 'sync', 'drift'],
    ['workflow_dispatch', 'drift', 'plan', 'sync', 'drift'],
    ['repository_dispatch', 'drift', 'plan', 'sync', 'drift'],
    ['release', 'unsupported', 'plan', 'sync', 'drift'],
    ['pull_request_review', 'unsupported', 'plan', 'refused', 'drift'],
    ['', 'unsupported', 'plan', 'sync', 'drift'],
  ])(
    'For the event %j, chooseMode maps auto to %s, plan to %s, sync to %s and drift to %s',
    (name, auto, plan, sync, drift, ref) => {
      const shorten = (end: string): string =>
        end.replace(/^guard\/not-merged: .*$/, 'refused').replace(/^action\/unsupported-event: .*$/, 'unsupported');
      const modes = ['auto', 'plan', 'sync', 'drift'] as const;
      const chosen = modes.map((mode) => shorten(endOfCall(() => chooseMode(mode, eventOf(name, ref), 'live'))));
      expect(chosen).toEqual([auto, plan, sync, drift]);
    },
  );

  test.each<[string, string, string]>([
    ['schedule', LIVE, 'pull'],
    ['workflow_dispatch', MAIN, 'action/invalid-input'],
    ['workflow_dispatch', 'refs/tags/live', 'action/invalid-input'],
    ['pull_request', 'refs/pull/7/merge', 'guard/not-merged'],
    ['pull_request_target', LIVE, 'guard/not-merged'],
  ])('For the event %s on the ref %s with the live branch live, the mode pull results in %s', (name, ref, expected) => {
    const [result = ''] = endOfCall(() => chooseMode('pull', eventOf(name, ref), 'live')).split(': ');
    expect(result).toBe(expected);
  });

  test('chooseMode selects the mode plan for a push whose payload does not name the default branch', () => {
    expect(chooseMode('auto', parseEvent('push', MAIN, {}), null)).toBe('plan');
  });
});
