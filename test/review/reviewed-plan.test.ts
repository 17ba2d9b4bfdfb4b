import { describe, expect, test } from 'vitest';
import type { PromptPlan } from '../../src/domain/plan.ts';
import { notReviewed, partsOf, planMark, shownParts, uncovered, type Review } from '../../src/review/reviewed-plan.ts';
import { content, file } from '../planning/support.ts';

const digest = `sha256:${'0a'.repeat(32)}`;

describe('the plan that a comment shows', () => {
  const parts = ['1'.repeat(16), '2'.repeat(16)];
  const line = planMark(digest, parts);
  test.each<[string, string, readonly string[] | null]>([
    ['stands in its second line', `marker\n${line}\ntext`, parts],
    ['also as GitHub gives it back, with CRLF', `marker\r\n${line}\r\ntext`, parts],
    ['also where nothing follows', `marker\n${line}`, parts],
    ['may have no part', `marker\n${planMark(digest, [])}\n`, []],
    ['is not read further down', `marker\n\n${line}\n`, null],
    ['nor in the first line', `${line}\ntext`, null],
    ['nor with anything before it', `marker\n ${line}\n`, null],
    ['nor with anything after it', `marker\n${line} \n`, null],
    ['nor behind a lone carriage return', `marker\r${line}\n`, null],
    ['nor with half a part', `marker\n${line.replace('1111', '')}\n`, null],
    ['nor without a digest', 'marker\n<!-- plan sha256: -->\n', null],
    ['nor where there is none', '', null],
  ])('%s', (_, body, expected) => {
    expect(shownParts(body)).toEqual(expected);
  });
});

describe('a plan of these prompts', () => {
  const change = { kind: 'create-version', content: content('Text'), provenance: {} } as const;
  const rest = { observed: null, drift: [], problems: [], finds: [] } as const;
  const promptOf = (id: string): PromptPlan => ({
    ...rest,
    file: { ...file(), id },
    status: 'pending',
    changes: [change],
  });
  const partsFor = (ids: string): readonly string[] => partsOf({ prompts: [...ids].map(promptOf) });
  /** The review in which these prompts' changes were shown. */
  const shows = (ids: string, pull = 7): Review => ({
    pull,
    comment: `marker\n${planMark(digest, partsFor(ids))}\nText`,
  });
  const none: Review = { pull: null, comment: '' };

  test.each<[string, string, readonly Review[], string | null]>([
    ['a', 'its pull request has shown it', [shows('a')], null],
    ['b', 'the rest of what was shown is done since', [shows('ab')], null],
    ['', 'nothing is to be done', [], null],
    ['ab', 'two merges in a row have shown it together', [shows('a'), shows('b', 6)], null],
    ['a', 'an earlier merge has shown it', [none, shows('a')], null],
    ['ab', 'one prompt was not shown', [shows('a')], '#7 has shown another plan; of 1 changing'],
    ['ab', 'nothing of it was shown', [shows('c'), none], '#7 has shown another plan; of 2 changing'],
    ['a', 'no pull request brought it', [none], 'no merged pull request brought it; of 1'],
    ['a', 'there is no comment', [{ pull: 7, comment: '' }], '#7 has no comment of promptsync with a whole plan'],
    ['a', 'the comment shows no whole plan', [{ pull: 7, comment: 'marker\nText' }], '#7 has no comment of promptsync'],
    ['a', 'there is no merge', [], 'there is no commit; of 1'],
  ])('%j: %s', (ids, _, reviews, reason) => {
    const parts = partsFor(ids);
    const refusal = uncovered(parts, reviews).length === 0 ? null : notReviewed(parts, reviews).message;
    if (reason === null) expect(refusal).toBeNull();
    else expect(refusal).toContain(reason);
  });

  test('has no part for a prompt without a change, and another one where something else is to be done', () => {
    expect(partsOf({ prompts: [{ ...promptOf('a'), changes: [] }] })).toEqual([]);
    const [one, other] = partsOf({
      prompts: [promptOf('a'), { ...promptOf('a'), changes: [{ ...change, content: content('Other') }] }],
    });
    expect(one).not.toBe(other);
  });
});
