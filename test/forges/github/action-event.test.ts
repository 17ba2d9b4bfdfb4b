import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseMode, parseEvent, type ActionEvent } from '../../../src/forges/github/action-event.ts';
import { endOfCall, pullEvent, pushEvent, scheduleEvent } from './support.ts';

const MAIN = 'refs/heads/main';
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
  test.each<[string, object, boolean]>([
    ['parseEvent sets isForeign to false for a pull request from the same repository', pullEvent(7, HEAD, BASE), false],
    [
      'parseEvent sets isForeign to true for a pull request from a fork',
      pullEvent(7, HEAD, BASE, { repository: 'ada/prompts' }),
      true,
    ],
    [
      'parseEvent sets isForeign to true for a pull request from a deleted fork',
      pullEvent(7, HEAD, BASE, { repository: null }),
      true,
    ],
    ['parseEvent sets isForeign to true if the head of a pull request has no repository', pullWith({}), true],
    [
      'parseEvent sets isForeign to true for a pull request that Dependabot opened and pushed',
      pullEvent(7, HEAD, BASE, { by: DEPENDABOT }),
      true,
    ],
    [
      'parseEvent sets isForeign to true for a Dependabot pull request even if somebody else pushed to it',
      pullFrom({ user: DEPENDABOT }),
      true,
    ],
    [
      'parseEvent sets isForeign to true if Dependabot pushed to a pull request that somebody else opened',
      pullFrom({ sender: DEPENDABOT }),
      true,
    ],
    [
      'parseEvent sets isForeign to false for a pull request whose author deleted their account',
      pullWith({ head: { sha: HEAD, repo: own }, user: null }),
      false,
    ],
    [
      'parseEvent sets isForeign to true if the head repository of a pull request differs from its base repository',
      pullWith({ head: { sha: HEAD, repo: own }, base: { sha: BASE, ref: 'main', repo: { full_name: 'b/b' } } }),
      true,
    ],
  ])('%s', (_, payload, isForeign) => {
    const { pull, before, defaultBranch, name, ref } = parseEvent('pull_request', 'refs/pull/7/merge', payload);
    expect(pull).toEqual({ number: 7, head: HEAD, base: BASE, into: 'main', isForeign, state: 'open' });
    expect({ name, ref, defaultBranch, before }).toEqual({
      ...{ name: 'pull_request', ref: 'refs/pull/7/merge', defaultBranch: 'main', before: null },
    });
  });

  test.each<[string, object, object, string]>([
    ['parseEvent returns the state "open" for an event of an open pull request', { state: 'open' }, {}, 'open'],
    [
      'parseEvent returns the state "merged" for the closed event of a merged pull request',
      { state: 'closed', merged: true },
      { action: 'closed' },
      'merged',
    ],
    [
      'parseEvent returns the state "closed" for the closed event of an unmerged pull request',
      { state: 'closed', merged: false },
      { action: 'closed' },
      'closed',
    ],
    [
      'parseEvent returns the state "merged" for an event that happens after the merge',
      { state: 'closed', merged: true },
      { action: 'labeled' },
      'merged',
    ],
    [
      'parseEvent returns the state "closed" for a closed event without other fields',
      {},
      { action: 'closed' },
      'closed',
    ],
  ])('%s', (_, fields, around, state) => {
    expect(parseEvent('pull_request', MAIN, pullWith(fields, around)).pull?.state).toBe(state);
  });

  function pullFrom({ user = 'ada', sender = 'ada' }): object {
    const head = { sha: HEAD, repo: own };
    return pullWith({ head, user: { login: user } }, { sender: { login: sender } });
  }
});

describe('parseEvent for other events', () => {
  const home = { repository: { full_name: 'acme/prompts', default_branch: 'main' } };
  test.each<[string, object, Partial<ActionEvent>]>([
    [
      'parseEvent reads the previous commit from a push event',
      pushEvent(HEAD, BASE),
      { before: BASE, defaultBranch: 'main' },
    ],
    ['parseEvent finds no previous commit for the first push of a branch', pushEvent(HEAD), { before: null }],
    [
      'parseEvent finds no previous commit for a first push with SHA-256 commit ids',
      pushEvent(SHA_256, '0'.repeat(64)),
      { before: null },
    ],
    [
      'parseEvent uses the base commit of a merge queue event as the previous commit',
      { merge_group: { base_sha: BASE, head_sha: HEAD }, ...home },
      { before: BASE, queued: HEAD },
    ],
    [
      'parseEvent accepts SHA-256 commit ids',
      { merge_group: { base_sha: SHA_256, head_sha: SHA_256 } },
      { before: SHA_256, defaultBranch: null, queued: SHA_256 },
    ],
    [
      'parseEvent finds no previous commit for a schedule event',
      scheduleEvent(),
      { before: null, defaultBranch: 'main' },
    ],
    ['parseEvent accepts an empty payload', {}, { before: null, defaultBranch: null }],
  ])('%s', (_, payload, expected) => {
    expect(parseEvent('any', 'refs/heads/main', payload)).toEqual({
      ...{ name: 'any', ref: 'refs/heads/main', pull: null, defaultBranch: 'main', before: null, queued: null },
      ...expected,
    });
  });
});

describe('parseEvent for invalid payloads', () => {
  test.each<[string, unknown]>([
    ['parseEvent rejects an array as the payload', []],
    ['parseEvent rejects a number instead of a pull request object', { pull_request: 7 }],
    ['parseEvent rejects a pull request number that is not positive', pullWith({ number: 0 })],
    ['parseEvent rejects a branch name as the head commit', pullWith({ head: { sha: 'main' } })],
    ['parseEvent rejects a command-line option as the head commit', pullWith({ head: { sha: '--all' } })],
    ['parseEvent rejects a head commit id that is one digit too short', pullWith({ head: { sha: 'a'.repeat(39) } })],
    [
      'parseEvent rejects a head commit id that is longer than SHA-1 and shorter than SHA-256',
      pullWith({ head: { sha: 'a'.repeat(50) } }),
    ],
    ['parseEvent rejects a head commit id followed by a second line', pullWith({ head: { sha: `${HEAD}\n--all` } })],
    ['parseEvent rejects a head commit id followed by a line feed', pullWith({ head: { sha: `${HEAD}\n` } })],
    ['parseEvent rejects an empty base commit id', pullWith({ base: { sha: '', ref: 'main' } })],
    [
      'parseEvent rejects a command-line option as the base commit of a merge queue',
      { merge_group: { base_sha: '--all', head_sha: HEAD } },
    ],
  ])('%s', (_, payload) => {
    const end = endOfCall(() => JSON.stringify(parseEvent('pull_request', 'refs/heads/main', payload)));
    expect(end).toMatch(/^action\/invalid-event: /);
  });
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
  const eventOf = (name: string, ref = MAIN): ActionEvent => {
    return parseEvent(name, ref, name.startsWith('pull_request') ? pull : home);
  };

  test.each<[event: string, auto: string, plan: string, sync: string, drift: string, ref?: string]>([
    ['pull_request', 'plan', 'plan', 'refused', 'drift', 'refs/pull/7/merge'],
    ['pull_request_target', 'plan', 'plan', 'refused', 'drift'],
    ['merge_group', 'plan', 'plan', 'sync', 'drift', 'refs/heads/gh-readonly-queue/main/pr-7'],
    ['push', 'sync', 'plan', 'sync', 'drift'],
    ['push', 'plan', 'plan', 'sync', 'drift', 'refs/heads/other'],
    ['push', 'plan', 'plan', 'sync', 'drift', 'refs/heads/main-2'],
    ['push', 'plan', 'plan', 'sync', 'drift', 'refs/heads/feature/refs/heads/main'],
    ['push', 'plan', 'plan', 'sync', 'drift', 'refs/tags/main'],
    ['push', 'plan', 'plan', 'sync', 'drift', 'main'],
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
      const chosen = modes.map((mode) => shorten(endOfCall(() => chooseMode(mode, eventOf(name, ref), 'main'))));
      expect(chosen).toEqual([auto, plan, sync, drift]);
    },
  );

  test.each([
    ['refs/heads/live', 'sync'],
    [MAIN, 'plan'],
  ])('For a push to %s, chooseMode selects the mode %s if the configured branch is named live', (ref, expected) => {
    expect(chooseMode('auto', eventOf('push', ref), 'live')).toBe(expected);
  });

  test.each<[string, string, string, string]>([
    ['schedule', MAIN, 'main', 'pull'],
    ['workflow_dispatch', 'refs/heads/live', 'live', 'pull'],
    ['workflow_dispatch', MAIN, 'live', 'action/invalid-input'],
    ['workflow_dispatch', 'refs/heads/other', 'main', 'action/invalid-input'],
    ['workflow_dispatch', 'refs/tags/main', 'main', 'action/invalid-input'],
    ['pull_request', 'refs/pull/7/merge', 'main', 'guard/not-merged'],
    ['pull_request_target', MAIN, 'main', 'guard/not-merged'],
  ])(
    'For the event %s on the ref %s with the configured branch %j, the mode pull results in %s',
    (name, ref, branch, expected) => {
      const [result = ''] = endOfCall(() => chooseMode('pull', eventOf(name, ref), branch)).split(': ');
      expect(result).toBe(expected);
    },
  );

  test('chooseMode selects the mode plan for a push whose payload does not name the default branch', () => {
    expect(chooseMode('auto', parseEvent('push', MAIN, {}), null)).toBe('plan');
  });
});
