import { describe, expect, test } from 'vitest';
import { readMessage } from '../../src/git/history.ts';

describe('the pull request that a commit names', () => {
  test.each<[string, string, string, string | null, string]>([
    ['none', 'Soften the tone', '', null, 'Soften the tone'],
    ['a squash merge of GitHub', 'Soften the tone (#12)', '', '#12', 'Soften the tone (#12)'],
    ['of several the last one', 'Revert "Soften (#12)" (#15)', '', '#15', 'Revert "Soften (#12)" (#15)'],
    ['not one that is quoted', 'Revert "Soften (#12)"', '', null, 'Revert "Soften (#12)"'],
    ['not an issue', 'Fix #12', 'Closes #12', null, 'Fix #12'],
    ['not without a number', 'Soften (#)', '', null, 'Soften (#)'],
    ['not a number that none can have', `Soften (#${'9'.repeat(30)})`, '', null, `Soften (#${'9'.repeat(30)})`],
    ['a merge of GitHub', 'Merge pull request #7 from acme/soft', 'Soften\n\nMore.', '#7', 'Soften'],
    ['one without a title', 'Merge pull request #7 from a/b', '', '#7', 'Merge pull request #7 from a/b'],
    ['its title may name another', 'Merge pull request #7 from a/b', 'Like (#3)', '#7', 'Like (#3)'],
    [
      'not a merge that is quoted',
      'Revert "Merge pull request #7 from a/b"',
      '',
      null,
      'Revert "Merge pull request #7 from a/b"',
    ],
    [
      'a merge of GitLab',
      "Merge branch 'soft' into 'main'",
      'Soften\n\nSee merge request acme/prompts!9',
      '!9',
      'Soften',
    ],
    [
      'one without a title',
      "Merge branch 'a' into 'b'",
      'See merge request g/p!9\n',
      '!9',
      "Merge branch 'a' into 'b'",
    ],
    ['a squash merge of GitLab', 'Soften', 'Why.\n\nSee merge request g/sub/p!10', '!10', 'Soften'],
    ['with CR LF', 'Soften', 'See merge request g/p!11\r\n', '!11', 'Soften'],
    ['of several the last one', 'Soften', 'See merge request g/p!1\n\nSee merge request g/p!2', '!2', 'Soften'],
    ['not within a sentence', 'Soften', 'Do not See merge request g/p!1', null, 'Soften'],
    ['not one of somebody’s words', 'Soften', 'See merge request g/p!1 and others', null, 'Soften'],
    ['nothing at all', '', '', null, ''],
  ])('%s: %s', (_, subject, body, pullRequest, told) => {
    expect(readMessage(subject, body)).toEqual({ pullRequest, subject: told });
  });

  test('is found in time, whatever the message is', () => {
    const body = `${'See merge request '.repeat(20_000)}\n${'!'.repeat(100_000)}`;
    expect(readMessage(`${'(#1'.repeat(50_000)}`, body)).toMatchObject({ pullRequest: null });
  });
});
