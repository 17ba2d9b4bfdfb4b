import { describe, expect, test } from 'vitest';
import { metadataDigest } from '../../src/domain/digest.ts';
import type { Change, PromptPlan } from '../../src/domain/plan.ts';
import {
  type ApprovalTarget,
  changeDigests,
  compareWithReviews,
  parseApproval,
  renderApproval,
  type Review,
  type Trail,
} from '../../src/review/approval.ts';
import { content, file, observed, outside, version } from '../planning/support.ts';

const PLAN = `sha256:${'0a'.repeat(32)}`;
const PLAN_ALONE = { plan: PLAN, changes: new Set<string>() };
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

describe('The text of a check', () => {
  const plan = { digest: PLAN, prompts: [promptOf([create('New'), activate('New')])] };
  const changes = new Set(plan.prompts.flatMap(changeDigests));
  const target = { number: 7, into: 'main' };
  const text = renderApproval(plan, target, 65_535);
  const odd = { number: 7, into: 'größe\u00a0```/#1' };

  test.each<[string, string, ApprovalTarget, ReturnType<typeof parseApproval>]>([
    ['approves what was written', text, target, { plan: PLAN, changes }],
    ['may have CRLF', text.replaceAll('\n', '\r\n'), target, { plan: PLAN, changes }],
    ['approves the plan if the changes do not fit', renderApproval(plan, target, 290), target, PLAN_ALONE],
    ['may name any base branch', renderApproval(plan, odd, 65_535), odd, { plan: PLAN, changes }],
    ['approves nothing for another pull request', text, { ...target, number: 8 }, null],
    ['approves nothing for a number with the same digits at its end', text, { ...target, number: 17 }, null],
    ['approves nothing for another base branch', text, { ...target, into: 'release' }, null],
    ['approves nothing for a branch in another letter case', text, { ...target, into: 'Main' }, null],
    ['approves nothing without a pull request', text.replace('pull #7\n', ''), target, null],
    ['approves nothing as older versions wrote it', text.replace(/pull .*\nbase .*/, 'base abc'), target, null],
    ['approves nothing without the fence', text.replaceAll('```', ''), target, null],
    ['approves nothing with half a digest', text.replace(/.{9}\n```/, '\n```'), target, null],
    ['approves nothing if it says so', 'Nothing can be applied by this check.', target, null],
  ])('The text %s', (_, written, target, expected) => {
    expect(parseApproval(written, target)).toEqual(expected);
  });

  test('The text is ASCII, whatever the name of the base branch is', () => {
    expect(renderApproval(plan, odd, 65_535)).toMatch(/^[\n\x20-\x7e]+$/);
  });
});

describe('The search for the reviews that have shown the changes of a prompt', () => {
  const change = create('New');
  const planOf = (ids: string) => ({ digest: PLAN, prompts: [...ids].map((id) => promptOf([change], id)) });
  const shows = (ids: string, pull = 7): Review => {
    return { pull, shown: { plan: 'another', changes: new Set(planOf(ids).prompts.flatMap(changeDigests)) } };
  };
  const without: Review = { pull: 8, shown: null };
  const whole: Review = { pull: 7, shown: { plan: PLAN, changes: new Set() } };

  type Reviews = Readonly<Record<string, readonly Review[]>>;
  /** By the name of the commit, newest first. Its name has the ids of the prompts that it touched; `C`: the configuration. */
  const trailOf = (reviews: Reviews): Trail => ({
    commits: Object.keys(reviews),
    touchesFile: ({ id }, commit) => commit.includes(id),
    touchesConfig: (commit) => commit.includes('C'),
    reviewsOf: async (commit) => reviews[commit]!,
  });

  test.each<[string, string, Reviews, Readonly<Record<string, RegExp>>]>([
    ['finds all changes in one review', 'a', { a: [shows('a')] }, {}],
    ['ignores what a review has shown beyond what is left to do', 'b', { b: [shows('ab')] }, {}],
    ['needs no commit if there is nothing to do', '', {}, {}],
    ['finds the changes of two prompts in two reviews', 'ab', { a: [shows('a')], b: [shows('b', 6)] }, {}],
    ['finds a change in the review of an older commit', 'a', { a1: [shows('b')], a2: [shows('a')] }, {}],
    ['finds all changes in a review of the same plan', 'ab', { ab: [whole] }, {}],
    ['uses the newest commit for every prompt', 'ab', { C: [shows('ab')] }, {}],
    ['uses the newest commit if it touched something else', 'ab', { x: [shows('ab')] }, {}],
    ['uses each commit that touched the configuration', 'a', { x: [], C: [shows('a')] }, {}],
    ['goes on after an unreviewed commit that touched something else', 'a', { x: [], a: [shows('a')] }, {}],
    ['goes on after an unreviewed commit that touched the configuration', 'a', { C: [], a: [shows('a')] }, {}],
    ['goes on after an unreviewed commit that touched another prompt', 'a', { b: [], a: [shows('a')] }, {}],
    ['goes on if one of two pull requests of a commit has no approval', 'a', { a: [without, shows('a')] }, {}],
    [
      'ends at a commit that touched the file and that no pull request merged',
      'a',
      { a1: [], a2: [shows('a')] },
      { a: /"k\/1": no merged pull request brought commit a1\.$/ },
    ],
    [
      'ends at a commit that touched the file and whose pull request has no approval',
      'a',
      { a1: [without], a2: [shows('a')] },
      { a: /"k\/1": #8 has no approval that counts\.$/ },
    ],
    [
      'ends for each prompt on its own',
      'ab',
      { x: [], a1: [], ab: [shows('ab')] },
      { a: /no merged pull request brought commit a1/ },
    ],
    ['refuses a change that no review has shown', 'ab', { ab: [shows('a')] }, { b: /#7 has shown other changes/ }],
    [
      'ignores an older commit that touched something else',
      'a',
      { x: [], b: [shows('a')] },
      { a: /"k\/1": no merged pull request brought it\.$/ },
    ],
    [
      'names all pull requests and the commit at which it ended',
      'a',
      { x: [without], a1: [shows('b')], a2: [], a3: [shows('a', 5)] },
      { a: /: #8 has no approval that counts, #7 has shown other changes, no merged .* commit a2\.$/ },
    ],
  ])('The search %s', async (_, ids, reviews, refused) => {
    const { unreviewed: found } = await compareWithReviews(planOf(ids), trailOf(reviews));
    expect([...found.keys()]).toEqual(Object.keys(refused));
    for (const [id, reason] of Object.entries(refused)) expect(found.get(id)?.message).toMatch(reason);
  });

  test('The search names the pull requests whose reviews have shown some of the changes', async () => {
    const reviews = { x: [shows('x', 9)], C: [without, shows('a', 5)], ab: [shows('ab', 4)], b: [shows('b', 3)] };
    expect([...(await compareWithReviews(planOf('ab'), trailOf(reviews))).shownBy]).toEqual([5, 4]);
  });

  test('The search asks about the 100 newest commits at most, and about none after all changes were found', async () => {
    const asked: string[] = [];
    const commits = [...Array(150).keys()].map(String);
    const trail = (at: string): Trail => ({
      commits,
      touchesFile: () => true,
      touchesConfig: () => false,
      reviewsOf: async (commit: string) => {
        asked.push(commit);
        return [commit === at ? shows('a') : shows('b')];
      },
    });
    expect([...(await compareWithReviews(planOf('a'), trail('99'))).unreviewed.keys()]).toEqual([]);
    expect(asked).toEqual(commits.slice(0, 100));
    expect([...(await compareWithReviews(planOf('a'), trail('100'))).unreviewed.keys()]).toEqual(['a']);
    asked.length = 0;
    await compareWithReviews(planOf('a'), trail('3'));
    expect(asked).toEqual(['0', '1', '2', '3']);
  });

  test('The search refuses what no review has shown before GitHub failed, and gives the reason', async () => {
    const { unreviewed: found } = await compareWithReviews(planOf('abc'), {
      ...trailOf({ c: [], a: [shows('a')], ab: [] }),
      reviewsOf: async (commit) => {
        if (commit === 'ab') throw new Error('Bad gateway.');
        return commit === 'a' ? [shows('a')] : [];
      },
    });
    expect([...found.keys()]).toEqual(['b', 'c']);
    expect(found.get('b')?.message).toBe('No review has shown this change: GitHub could not be asked: Bad gateway.');
    expect(found.get('c')?.message).toContain('no merged pull request brought commit c');
  });
});
