import { describe, expect, test } from 'vitest';
import { findCommitIdInMessage, makeCommitMessage } from '../../src/domain/commit-message.ts';

const COMMIT = '9f2c1ab04d3e5f60718293a4b5c6d7e8f9012345';

describe('makeCommitMessage', () => {
  test("a version's commit message consists of the subject and id of the commit that last changed the file", () => {
    const message = 'Explain the decision (9f2c1ab04d3e)';
    expect(makeCommitMessage({ commit: COMMIT, changeSummary: 'Explain the decision' }, 500)).toBe(message);
    const atRef = { commit: '0'.repeat(40), changeCommit: COMMIT, changeSummary: 'Explain the decision' };
    expect(makeCommitMessage(atRef, 500)).toBe(message);
  });

  test("the version's commit message is just the commit id without a subject, and missing without a commit", () => {
    expect(makeCommitMessage({ commit: COMMIT }, 500)).toBe('(9f2c1ab04d3e)');
    expect(makeCommitMessage({}, 500)).toBeUndefined();
  });

  test('makeCommitMessage cuts a long subject before an emoji rather than inside it, and keeps the commit id', () => {
    const message = makeCommitMessage({ commit: COMMIT, changeSummary: `${'a'.repeat(484)}🙂 and more` }, 500);
    expect(message).toBe(`${'a'.repeat(484)} (9f2c1ab04d3e)`);
    const fitting = makeCommitMessage({ commit: COMMIT, changeSummary: `${'a'.repeat(483)}🙂` }, 500);
    expect([fitting, fitting?.length]).toEqual([`${'a'.repeat(483)}🙂 (9f2c1ab04d3e)`, 500]);
  });
});

test.each([
  ['Explain the decision (9f2c1ab04d3e)', '9f2c1ab04d3e'],
  ['(9f2c1ab04d3e)', '9f2c1ab04d3e'],
  ['See (9f2c1ab04d3e) for more', null],
  ['No space(9f2c1ab04d3e)', null],
  ['Too short (9f2c1ab)', null],
  ['Upper case (9F2C1AB04D3E)', null],
])('for the message %j, findCommitIdInMessage returns %j', (message, id) => {
  expect(findCommitIdInMessage(message)).toBe(id);
});
