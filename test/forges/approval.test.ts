import { describe, expect, test } from 'vitest';
import { computeMetadataDigest } from '../../src/domain/content.ts';
import type { Change, PromptPlan } from '../../src/domain/plan.ts';
import {
  type ApprovalTarget,
  computeChangeDigests,
  compareWithReviews,
  parseApproval,
  renderApproval,
  type PullRequestReview,
  type ReviewTrail,
} from '../../src/forges/approval.ts';
import { content, file, observed, outside, version } from '../planning/support.ts';

const PLAN = `sha256:${'0a'.repeat(32)}`;
const PLAN_ALONE = { plan: PLAN, changes: new Set<string>() };
const one = { id: 'ver_1', number: 1 };

function promptOf(changes: readonly Change[], id = 'p1'): PromptPlan {
  const known = observed({ active: { promptsync: version(2, 'New'), old: version(1, 'Old') } });
  const none = { drift: [], annotations: [], problems: [], pinsToFind: [], pinnedVersions: [] };
  return { ...none, observed: known, file: { ...file(), id }, status: 'pending', changes };
}
const digestsOf = (...changes: readonly Change[]) => computeChangeDigests(promptOf(changes));

const activate = (after: string | number, before: typeof one | null = one, environment = 'live'): Change => {
  const target = typeof after === 'string' ? { newContent: content(after) } : { id: `ver_${after}`, number: after };
  return { kind: 'set-active', environment, before, after: target };
};
const create = (text: string, parts: Partial<Extract<Change, { kind: 'create-version' }>> = {}): Change => {
  return { kind: 'create-version', content: content(text), provenance: {}, ...parts };
};
const rename = (before: string, after: string): Change => ({
  kind: 'update-prompt',
  fields: { name: { before, after }, key: { before: 'a', after: 'b' } },
});

describe('computeChangeDigests', () => {
  test.each<[string, Change, Change]>([
    [
      'The digest of a change does not depend on whether the activated version exists already',
      activate('New'),
      activate(2),
    ],
    [
      'The digest of a change does not depend on the commit of the new version or on the git ref of the pin',
      create('New'),
      create('New', { provenance: { commit: 'c1' }, ref: 'main' }),
    ],
    [
      'The digest of a change does not depend on whether the metadata is empty or absent',
      create('New'),
      create('New', { content: content('New', {}) }),
    ],
  ])('%s', (_, shown, done) => {
    expect(digestsOf(done)).toEqual(digestsOf(shown));
    expect(digestsOf(done)).toHaveLength(1);
  });

  test('The digest of a change depends on the metadata that a new version inherits', () => {
    const metadata = { model: 'gpt-5' };
    const known = observed({ active: { other: outside(2, 'New', metadata) } });
    const metadataFrom = { id: 'ver_1', number: 1, metadata, metadataDigest: computeMetadataDigest(metadata) };
    const planned = [create('New', { metadataFrom }), activate('New')];
    const [made, activated] = digestsOf(...planned);
    expect(computeChangeDigests({ ...promptOf([activate(2)]), observed: known })).toEqual([activated]);
    expect(made).toEqual(digestsOf(create('New', { content: content('New', metadata) }))[0]);
    expect([made, activated]).not.toEqual(digestsOf(create('New'), activate('New')));
    for (const other of [{}, { model: 'evil' }]) {
      const changed = observed({ active: { other: outside(2, 'New', other) } });
      expect(computeChangeDigests({ ...promptOf([activate(2)]), observed: changed })).not.toEqual([activated]);
    }
  });

  test('A change that creates a baseline has no digest, because it does not change what any environment serves', () => {
    expect(digestsOf(create('Old', { baseline: true }))).toEqual([]);
  });
});

test('Different changes have different digests', () => {
  const changes = [
    ...[activate('New'), activate('Old'), activate('New', null), activate('New', one, 'staging'), activate(7)],
    ...[activate('New', { id: 'ver_2', number: 2 }), create('New'), create('Old'), rename('A', 'B'), rename('A', 'C')],
    create('New', { content: content('New', { model: 'gpt' }) }),
  ];
  const all = [...changes, ...changes].map((change, index) => promptOf([change], index < changes.length ? 'p1' : 'p2'));
  const digests = all.flatMap(computeChangeDigests);
  // Both renamings contain the same change of the key.
  expect(new Set(digests).size).toBe(digests.length - 2);
  for (const digest of digests) expect(digest).toMatch(/^[\w-]{43}$/);
});

describe('parseApproval', () => {
  const plan = { digest: PLAN, prompts: [promptOf([create('New'), activate('New')])] };
  const changes = new Set(plan.prompts.flatMap(computeChangeDigests));
  const target = { number: 7, into: 'main' };
  const text = renderApproval(plan, target, 65_535);
  const odd = { number: 7, into: 'größe\u00a0```/#1' };

  const whole = { plan: PLAN, changes };
  test.each<[string, string, ApprovalTarget, ReturnType<typeof parseApproval>]>([
    ['parseApproval accepts CRLF line endings', text.replaceAll('\n', '\r\n'), target, whole],
    ['parseApproval accepts a base branch with special characters', renderApproval(plan, odd, 65_535), odd, whole],
    ['parseApproval accepts a text without change digests', renderApproval(plan, target, 290), target, PLAN_ALONE],
  ])('%s', (_, written, target, expected) => {
    expect(parseApproval(written, target)).toEqual(expected);
  });

  test.each<[string, string, ApprovalTarget]>([
    ['parseApproval rejects an approval of another pull request', text, { ...target, number: 17 }],
    ['parseApproval rejects an approval for another base branch', text, { ...target, into: 'Main' }],
    ['parseApproval rejects an approval that names no pull request', text.replace('pull #7\n', ''), target],
    ['parseApproval rejects an approval without a code fence', text.replaceAll('```', ''), target],
    ['parseApproval rejects an approval with a truncated digest', text.replace(/.{9}\n```/, '\n```'), target],
  ])('%s', (_, written, target) => {
    expect(parseApproval(written, target)).toBeNull();
  });

  test('The text of a check contains only ASCII characters even if the base branch name contains other characters', () => {
    expect(renderApproval(plan, odd, 65_535)).toMatch(/^[\n\x20-\x7e]+$/);
  });
});

describe('compareWithReviews', () => {
  const change = create('New');
  const planOf = (ids: string) => ({ digest: PLAN, prompts: [...ids].map((id) => promptOf([change], id)) });
  const shows = (ids: string, pull = 7): PullRequestReview => {
    return {
      pull,
      shown: { plan: 'another', changes: new Set(planOf(ids).prompts.flatMap(computeChangeDigests)) },
      otherCheck: null,
    };
  };
  const without: PullRequestReview = { pull: 8, shown: null, otherCheck: null };
  const whole: PullRequestReview = { pull: 7, shown: { plan: PLAN, changes: new Set() }, otherCheck: null };

  type Reviews = Readonly<Record<string, readonly PullRequestReview[]>>;
  /** Reviews by commit, newest first. A commit name contains the ids of the prompts that it changed. `C` is the configuration. */
  const trailOf = (reviews: Reviews): ReviewTrail => ({
    commits: Object.keys(reviews),
    touchesFile: ({ id }, commit) => commit.includes(id),
    touchesConfig: (commit) => commit.includes('C'),
    reviewsOf: async (commit) => reviews[commit]!,
  });

  test.each<[string, string, Reviews]>([
    ['The review search accepts a review that shows more changes than the plan', 'b', { b: [shows('ab')] }],
    ['The review search accepts the changes of two prompts in two reviews', 'ab', { a: [shows('a')], b: [shows('b')] }],
    ['The review search accepts the review of an older commit', 'a', { a1: [shows('b')], a2: [shows('a')] }],
    ['The review search accepts every change of a plan that a review showed as a whole', 'ab', { ab: [whole] }],
    ['The review search accepts the newest commit even if it changed no prompt', 'ab', { x: [shows('ab')] }],
    ['The review search accepts an older commit that changed only the configuration', 'a', { x: [], C: [shows('a')] }],
    ['The review search accepts a review before a direct push of the configuration', 'a', { C: [], a: [shows('a')] }],
    ['The review search accepts a commit if one of its two reviews is valid', 'a', { a: [without, shows('a')] }],
  ])('%s', async (_, ids, reviews) => {
    expect((await compareWithReviews(planOf(ids), trailOf(reviews))).unreviewed).toEqual(new Map());
  });

  const pushed = (commit: string) => `Commit ${commit} was not merged through a pull request.`;
  const NOT_SHOWN = 'The review of #7 did not cover this change';
  test.each<[string, string, Reviews, string, says: string]>([
    [
      'After a direct push of one file, the review search refuses only the change of this file',
      'ab',
      { x: [], a1: [], ab: [shows('ab')] },
      'a',
      pushed('a1'),
    ],
    [
      'After a merge without a valid review, the review search refuses a change that an older review showed',
      'a',
      { a1: [without], a2: [shows('a')] },
      'a',
      '#8 has no valid approval.',
    ],
    ['The review search refuses a change that no review showed', 'ab', { ab: [shows('a')] }, 'b', NOT_SHOWN],
    [
      'The review search refuses a change that only the review of another prompt showed',
      'a',
      { x: [], b: [shows('a')] },
      'a',
      'The change was not merged through a pull request.',
    ],
    [
      'The review search names all reasons for a refusal in order',
      'a',
      { x: [without], a1: [shows('b')], a2: [], a3: [shows('a', 5)] },
      'a',
      `#8 has no valid approval. ${NOT_SHOWN}. ${pushed('a2')}`,
    ],
    [
      'The review search refuses a change that only the check of another app showed',
      'a',
      { a: [{ ...without, otherCheck: { app: 'acme-bot', ownApp: 'github-actions' } }] },
      'a',
      '#8 has no valid approval because the app "acme-bot" created',
    ],
  ])('%s', async (_, ids, reviews, refused, says) => {
    const { unreviewed } = await compareWithReviews(planOf(ids), trailOf(reviews));
    expect([...unreviewed.keys()]).toEqual([refused]);
    expect(unreviewed.get(refused)?.message).toContain(`"k/1" has not been reviewed. ${says}`);
  });

  test('The review search returns the pull requests that showed at least one of the changes', async () => {
    const reviews = { x: [shows('x', 9)], C: [without, shows('a', 5)], ab: [shows('ab', 4)], b: [shows('b', 3)] };
    expect([...(await compareWithReviews(planOf('ab'), trailOf(reviews))).shownBy]).toEqual([5, 4]);
  });

  test('The review search reads at most 100 commits and stops as soon as it finds all changes', async () => {
    const asked: string[] = [];
    const commits = [...Array(150).keys()].map(String);
    const trail = (at: string): ReviewTrail => ({
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

  test('If GitHub returns an error, the review search rejects all changes that are still unconfirmed and explains why', async () => {
    const { unreviewed: found } = await compareWithReviews(planOf('abc'), {
      ...trailOf({ c: [], a: [shows('a')], ab: [] }),
      reviewsOf: async (commit) => {
        if (commit === 'ab') throw new Error('Bad gateway.');
        return commit === 'a' ? [shows('a')] : [];
      },
    });
    expect([...found.keys()]).toEqual(['b', 'c']);
    expect(found.get('b')?.message).toMatch(/^promptsync could not read the reviews from GitHub, .*: Bad gateway\.$/);
    expect(found.get('b')?.hint).toContain('`checks: read` and `pull-requests: read` permissions');
    expect(found.get('c')?.message).toContain('Commit c was not merged through a pull request');
  });
});
