import { describe, expect, test } from 'vitest';
import { metadataDigest } from '../../src/domain/digest.ts';
import type { Change, PromptPlan } from '../../src/domain/plan.ts';
import {
  changeDigests,
  compareWithReviews,
  parseApproval,
  renderApproval,
  type Review,
} from '../../src/review/approval.ts';
import { content, file, observed, outside, version } from '../planning/support.ts';

const PLAN = `sha256:${'0a'.repeat(32)}`;
const one = { id: 'ver_1', number: 1 };

function promptOf(changes: readonly Change[], id = 'p1'): PromptPlan {
  const known = observed({ active: { promptsync: version(2, 'New'), old: version(1, 'Old') } });
  const rest = { observed: known, drift: [], problems: [], finds: [] } as const;
  return { ...rest, file: { ...file(), id }, status: 'pending', changes };
}
const digestsOf = (...changes: readonly Change[]) => changeDigests(promptOf(changes));

const activate = (after: string | number, before: typeof one | null = one, environment = 'live'): Change => {
  const target = typeof after === 'string' ? { new: content(after) } : { id: `ver_${after}`, number: after };
  return { kind: 'set-active', environment, before, after: target };
};
const create = (text: string, parts: Partial<Extract<Change, { kind: 'create-version' }>> = {}): Change => {
  return { kind: 'create-version', content: content(text), provenance: {}, ...parts };
};
const rename = (before: string, after: string): Change => ({
  kind: 'update-prompt',
  fields: { name: { before, after }, key: { before: 'a', after: 'b' } },
});

describe('a change has the digest of', () => {
  test.each<[string, Change, Change]>([
    ['a version that holds the content by now', activate('New'), activate(2)],
    ['a content that is made from another commit', create('New'), create('New', { provenance: { commit: 'c1' } })],
    ['a content that is for a ref as well', create('New'), create('New', { ref: 'main' })],
    ['empty metadata, where the file manages none', create('New'), create('New', { content: content('New', {}) })],
  ])('%s', (_, shown, done) => {
    expect(digestsOf(done)).toEqual(digestsOf(shown));
    expect(digestsOf(done)).toHaveLength(1);
  });

  test('the metadata that a new version takes over, like a version that has exactly that metadata', () => {
    const metadata = { model: 'gpt-5' };
    const known = observed({ active: { other: outside(2, 'New', metadata) } });
    const metadataFrom = { id: 'ver_1', number: 1, metadata, metadataDigest: metadataDigest(metadata) };
    const planned = [create('New', { metadataFrom }), activate('New')];
    const [made, activated] = digestsOf(...planned);
    expect(changeDigests({ ...promptOf([activate(2)]), observed: known })).toEqual([activated]);
    expect(made).toEqual(digestsOf(create('New', { content: content('New', metadata) }))[0]);
    expect([made, activated]).not.toEqual(digestsOf(create('New'), activate('New')));
    for (const other of [{}, { model: 'evil' }]) {
      const changed = observed({ active: { other: outside(2, 'New', other) } });
      expect(changeDigests({ ...promptOf([activate(2)]), observed: changed })).not.toEqual([activated]);
    }
  });

  test('each field of its own', () => {
    expect(digestsOf(rename('A', 'B'))).toHaveLength(2);
  });

  test('none, where nobody sees it', () => {
    expect(digestsOf(create('Old', { baseline: true }))).toEqual([]);
  });
});

test('No two changes have the same digest', () => {
  const changes = [
    ...[activate('New'), activate('Old'), activate('New', null), activate('New', one, 'staging'), activate(7)],
    ...[activate('New', { id: 'ver_2', number: 2 }), create('New'), create('Old'), rename('A', 'B'), rename('A', 'C')],
    create('New', { content: content('New', { model: 'gpt' }) }),
  ];
  const all = [...changes, ...changes].map((change, index) => promptOf([change], index < changes.length ? 'p1' : 'p2'));
  const digests = all.flatMap(changeDigests);
  // The two keys that are renamed alike.
  expect(new Set(digests).size).toBe(digests.length - 2);
  for (const digest of digests) expect(digest).toMatch(/^[\w-]{43}$/);
});

describe('what a check holds', () => {
  const plan = { digest: PLAN, prompts: [promptOf([create('New'), activate('New')])] };
  const changes = new Set(plan.prompts.flatMap(changeDigests));

  test.each<[string, string, ReturnType<typeof parseApproval>]>([
    ['is read as it was written', renderApproval(plan, 'abc', 65_535), { plan: PLAN, changes }],
    ['also with CRLF', renderApproval(plan, 'abc', 65_535).replaceAll('\n', '\r\n'), { plan: PLAN, changes }],
    ['is the plan where it does not fit', renderApproval(plan, 'abc', 250), { plan: PLAN, changes: new Set() }],
    ['is nothing without the fence', renderApproval(plan, 'abc', 65_535).replaceAll('```', ''), null],
    ['is nothing with half a digest', renderApproval(plan, 'abc', 65_535).replace(/.{9}\n```/, '\n```'), null],
    ['is nothing where nothing was shown', 'Nothing can be applied by this check.', null],
  ])('%s', (_, text, expected) => {
    expect(parseApproval(text)).toEqual(expected);
  });
});

describe('Of the changes of these prompts', () => {
  const change = create('New');
  const planOf = (ids: string) => ({ digest: PLAN, prompts: [...ids].map((id) => promptOf([change], id)) });
  const shows = (ids: string, pull = 7): Review => {
    return { pull, shown: { plan: 'another', changes: new Set(planOf(ids).prompts.flatMap(changeDigests)) } };
  };
  const unread: Review = { pull: 8, shown: null };
  const whole: Review = { pull: 7, shown: { plan: PLAN, changes: new Set() } };

  /** Each commit has the letters of the prompts that it is about. */
  test.each<[string, string, Readonly<Record<string, Review | null>>, Readonly<Record<string, RegExp>>]>([
    ['a', 'all were shown', { a: shows('a') }, {}],
    ['b', 'the rest of what was shown is done', { b: shows('ab') }, {}],
    ['', 'nothing is to be done', {}, {}],
    ['ab', 'each was shown by another one', { a: shows('a'), b: shows('b', 6) }, {}],
    ['a', 'an earlier commit has shown it', { a1: null, a2: shows('a') }, {}],
    ['ab', 'the plan was shown as a whole', { ab: whole }, {}],
    ['ab', 'one was not shown', { ab: shows('a') }, { b: /#7 has shown something else/ }],
    ['a', 'a commit that is not about it counts for nothing', { b: shows('a') }, { a: /no merged pull request/ }],
    ['a', 'no pull request brought it', { a: null }, { a: /no merged pull request brought it/ }],
    ['a', 'none has a check', { a: unread }, { a: /#8 has no check of promptsync/ }],
    ['a', 'all that were asked are named', { a1: unread, a2: shows('b') }, { a: /#8 has no check.*, #7 has shown/ }],
  ])('%j: %s', async (ids, _, reviews, refused) => {
    const { unreviewed: found } = await compareWithReviews(planOf(ids), {
      commits: Object.keys(reviews),
      concerns: ({ id }, commit) => commit.includes(id),
      reviewOf: async (commit) => reviews[commit]!,
    });
    expect([...found.keys()]).toEqual(Object.keys(refused));
    for (const [id, reason] of Object.entries(refused)) expect(found.get(id)?.message).toMatch(reason);
  });

  test('a hundred commits are asked about, the newest ones, and none once all was shown', async () => {
    const asked: string[] = [];
    const commits = [...Array(150).keys()].map(String);
    const trail = (at: string) => ({
      commits,
      concerns: () => true,
      reviewOf: async (commit: string) => {
        asked.push(commit);
        return commit === at ? shows('a') : null;
      },
    });
    expect([...(await compareWithReviews(planOf('a'), trail('99'))).unreviewed.keys()]).toEqual([]);
    expect(asked).toEqual(commits.slice(0, 100));
    expect([...(await compareWithReviews(planOf('a'), trail('100'))).unreviewed.keys()]).toEqual(['a']);
    asked.length = 0;
    await compareWithReviews(planOf('a'), trail('3'));
    expect(asked).toEqual(['0', '1', '2', '3']);
  });

  test('those are refused that were not shown before GitHub failed', async () => {
    const { unreviewed: found } = await compareWithReviews(planOf('ab'), {
      commits: ['a', 'b', 'ab'],
      concerns: ({ id }, commit) => commit.includes(id),
      reviewOf: (commit) => (commit === 'a' ? Promise.resolve(shows('a')) : Promise.reject(new Error('Bad gateway.'))),
    });
    expect([...found.keys()]).toEqual(['b']);
    expect(found.get('b')?.message).toContain('GitHub could not be asked: Bad gateway.');
  });
});
