import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseMode, parseEvent, type Event } from '../../src/github/event.ts';
import { endOfCall, pullEvent, pushEvent, scheduleEvent } from './support.ts';

const MAIN = 'refs/heads/main';
const HEAD = 'a'.repeat(40);
const BASE = 'b'.repeat(40);
const SHA_256 = 'c'.repeat(64);
const DEPENDABOT = 'dependabot[bot]';

/** An event's pull request, with other values in its place. */
function pullWith(changes: object, around: object = {}): object {
  const pull = { number: 7, head: { sha: HEAD }, base: { sha: BASE, ref: 'main' }, ...changes };
  return { ...pullEvent(7, HEAD, BASE), pull_request: pull, ...around };
}

describe('a pull request', () => {
  const own = { full_name: 'acme/prompts' };
  test.each<[string, object, boolean]>([
    ['of the repository itself is not foreign', pullEvent(7, HEAD, BASE), false],
    ['from a fork is', pullEvent(7, HEAD, BASE, { repository: 'ada/prompts' }), true],
    ['from a fork that was deleted is', pullEvent(7, HEAD, BASE, { repository: null }), true],
    ['whose head says nothing of its repository is', pullWith({}), true],
    ['by Dependabot is', pullEvent(7, HEAD, BASE, { by: DEPENDABOT }), true],
    ['by Dependabot, pushed to by somebody else, is', pullFrom({ user: DEPENDABOT }), true],
    ['that Dependabot has pushed to is', pullFrom({ sender: DEPENDABOT }), true],
    ['of an account that was deleted is not', pullWith({ head: { sha: HEAD, repo: own }, user: null }), false],
    [
      'goes by the base’s repository before the event’s',
      pullWith({ head: { sha: HEAD, repo: own }, base: { sha: BASE, ref: 'main', repo: { full_name: 'b/b' } } }),
      true,
    ],
  ])('%s', (_, payload, isForeign) => {
    const { pull, before, defaultBranch, name, ref } = parseEvent('pull_request', 'refs/pull/7/merge', payload);
    expect(pull).toEqual({ number: 7, head: HEAD, base: BASE, into: 'main', isForeign });
    expect({ name, ref, defaultBranch, before }).toEqual({
      ...{ name: 'pull_request', ref: 'refs/pull/7/merge', defaultBranch: 'main', before: null },
    });
  });

  function pullFrom({ user = 'ada', sender = 'ada' }): object {
    const head = { sha: HEAD, repo: own };
    return pullWith({ head, user: { login: user } }, { sender: { login: sender } });
  }
});

describe('any other event', () => {
  const home = { repository: { full_name: 'acme/prompts', default_branch: 'main' } };
  test.each<[string, object, Partial<Event>]>([
    ['a push compares with the commit before it', pushEvent(HEAD, BASE), { before: BASE, defaultBranch: 'main' }],
    ['the first push of a branch compares with none', pushEvent(HEAD), { before: null }],
    ['nor does the first one with longer ids', pushEvent(SHA_256, '0'.repeat(64)), { before: null }],
    [
      'a merge queue compares with its base',
      { merge_group: { base_sha: BASE, head_sha: HEAD }, ...home },
      { before: BASE, queued: HEAD },
    ],
    [
      'ids may be SHA-256',
      { merge_group: { base_sha: SHA_256, head_sha: SHA_256 } },
      { before: SHA_256, defaultBranch: null, queued: SHA_256 },
    ],
    ['a schedule compares with nothing', scheduleEvent(), { before: null, defaultBranch: 'main' }],
    ['the payload may be empty', {}, { before: null, defaultBranch: null }],
  ])('%s', (_, payload, expected) => {
    expect(parseEvent('any', 'refs/heads/main', payload)).toEqual({
      ...{ name: 'any', ref: 'refs/heads/main', pull: null, defaultBranch: 'main', before: null, queued: null },
      ...expected,
    });
  });
});

describe('no event of GitHub’s', () => {
  test.each<[string, unknown]>([
    ['a list', []],
    ['a pull request that is a number', { pull_request: 7 }],
    ['a number that is not positive', pullWith({ number: 0 })],
    ['a head that is a branch', pullWith({ head: { sha: 'main' } })],
    ['a head that is an option', pullWith({ head: { sha: '--all' } })],
    ['a head that is cut short', pullWith({ head: { sha: 'a'.repeat(39) } })],
    ['a head between both lengths', pullWith({ head: { sha: 'a'.repeat(50) } })],
    ['a head with another line', pullWith({ head: { sha: `${HEAD}\n--all` } })],
    ['a head with a line feed', pullWith({ head: { sha: `${HEAD}\n` } })],
    ['a base that is no commit', pullWith({ base: { sha: '', ref: 'main' } })],
    ['a merge queue whose base is an option', { merge_group: { base_sha: '--all', head_sha: HEAD } }],
  ])('%s', (_, payload) => {
    const end = endOfCall(() => JSON.stringify(parseEvent('pull_request', 'refs/heads/main', payload)));
    expect(end).toMatch(/^action\/invalid-event: /);
  });
});

/** Anything where GitHub has something of its own. */
const payloads = fc.oneof(
  fc.jsonValue(),
  fc.record({ pull_request: fc.jsonValue(), repository: fc.jsonValue(), sender: fc.jsonValue() }),
  fc.record({ before: fc.jsonValue(), merge_group: fc.record({ base_sha: fc.jsonValue(), head_sha: fc.jsonValue() }) }),
  fc.record({ number: fc.jsonValue(), head: fc.jsonValue(), base: fc.jsonValue() }).map((one) => pullWith(one)),
);

test('whatever the payload is, it is an event or a problem', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), payloads, (name, ref, payload) => {
      expect(endOfCall(() => JSON.stringify(parseEvent(name, ref, payload)))).toMatch(/^(action\/invalid-event: |\{)/);
    }),
  );
});

describe('the mode', () => {
  const pull = pullEvent(7, HEAD, BASE);
  const home = scheduleEvent();
  const eventOf = (words: string): Event => {
    const [name = '', ref = MAIN] = words.split(' ');
    return parseEvent(name, ref, name.startsWith('pull_request') ? pull : home);
  };

  test.each<[string, string, string, string, string]>([
    // The event, and what auto, plan, sync and drift come to.
    ['pull_request refs/pull/7/merge', 'plan', 'plan', 'refused', 'drift'],
    ['pull_request_target', 'plan', 'plan', 'refused', 'drift'],
    ['merge_group refs/heads/gh-readonly-queue/main/pr-7', 'plan', 'plan', 'sync', 'drift'],
    ['push', 'sync', 'plan', 'sync', 'drift'],
    ['push refs/heads/other', 'plan', 'plan', 'sync', 'drift'],
    ['push refs/heads/main-2', 'plan', 'plan', 'sync', 'drift'],
    ['push refs/heads/feature/refs/heads/main', 'plan', 'plan', 'sync', 'drift'],
    ['push refs/tags/main', 'plan', 'plan', 'sync', 'drift'],
    ['push main', 'plan', 'plan', 'sync', 'drift'],
    ['schedule', 'drift', 'plan', 'sync', 'drift'],
    ['workflow_dispatch', 'drift', 'plan', 'sync', 'drift'],
    ['repository_dispatch', 'drift', 'plan', 'sync', 'drift'],
    ['release', 'unsupported', 'plan', 'sync', 'drift'],
    ['pull_request_review', 'unsupported', 'plan', 'refused', 'drift'],
    ['', 'unsupported', 'plan', 'sync', 'drift'],
  ])('%s: auto is %s, plan %s, sync %s, drift %s', (words, ...expected) => {
    const short = (end: string): string =>
      end.replace(/^guard\/not-merged: .*$/, 'refused').replace(/^action\/unsupported-event: .*$/, 'unsupported');
    const modes = ['auto', 'plan', 'sync', 'drift'] as const;
    expect(modes.map((mode) => short(endOfCall(() => chooseMode(mode, eventOf(words), 'main'))))).toEqual(expected);
  });

  test.each([
    ['refs/heads/live', 'sync'],
    [MAIN, 'plan'],
  ])('where the configuration says that live goes live, a push to %s is %s', (ref, expected) => {
    expect(chooseMode('auto', eventOf(`push ${ref}`), 'live')).toBe(expected);
  });

  test.each<[string, string, string]>([
    ['schedule', 'main', 'pull'],
    ['workflow_dispatch refs/heads/live', 'live', 'pull'],
    ['workflow_dispatch', 'live', 'action/invalid-input'],
    ['workflow_dispatch refs/heads/other', 'main', 'action/invalid-input'],
    ['workflow_dispatch refs/tags/main', 'main', 'action/invalid-input'],
    ['pull_request refs/pull/7/merge', 'main', 'guard/not-merged'],
    ['pull_request_target', 'main', 'guard/not-merged'],
  ])('on %s, where %s goes live, what is edited in the service comes to %s', (words, branch, expected) => {
    const [end = ''] = endOfCall(() => chooseMode('pull', eventOf(words), branch)).split(': ');
    expect(end).toBe(expected);
  });

  test('a push whose payload does not name the default branch applies nothing', () => {
    expect(chooseMode('auto', parseEvent('push', MAIN, {}), null)).toBe('plan');
  });
});
