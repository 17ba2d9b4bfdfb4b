import { describe, expect, test } from 'vitest';
import { findCommitIdInMessage, makeCommitMessage } from '../../src/domain/commit-message.ts';

const COMMIT = '9f2c1ab04d3e5f60718293a4b5c6d7e8f9012345';

describe('makeCommitMessage', () => {
  test('the commit message of a version is the subject and the id of the commit that last changed the file', () => {
    const message = 'Explain the decision (9f2c1ab04d3e)';
    expect(makeCommitMessage({ commit: COMMIT, changeSummary: 'Explain the decision' }, 500)).toBe(message);
    const atRef = { commit: '0'.repeat(40), changeCommit: COMMIT, changeSummary: 'Explain the decision' };
    expect(makeCommitMessage(atRef, 500)).toBe(message);
  });

  test('the commit message of a commit without a subject is its id', () => {
    expect(makeCommitMessage({ commit: COMMIT }, 500)).toBe('(9f2c1ab04d3e)');
  });

  test('a version of an uncommitted file has no commit message', () => {
    expect(makeCommitMessage({}, 500)).toBeUndefined();
  });

  test('a long subject is cut before an emoji rather than inside it, and the id of the commit stays', () => {
    const message = makeCommitMessage({ commit: COMMIT, changeSummary: `${'a'.repeat(484)}🙂 and more` }, 500);
    expect(message).toBe(`${'a'.repeat(484)} (9f2c1ab04d3e)`);
    const fitting = makeCommitMessage({ commit: COMMIT, changeSummary: `${'a'.repeat(483)}🙂` }, 500);
    expect([fitting, fitting?.length]).toEqual([`${'a'.repeat(483)}🙂 (9f2c1ab04d3e)`, 500]);
  });
});

describe('findCommitIdInMessage', () => {
  test.each([
    ['Explain the decision (9f2c1ab04d3e)', '9f2c1ab04d3e'],
    ['(9f2c1ab04d3e)', '9f2c1ab04d3e'],
    ['See (9f2c1ab04d3e) for more', null],
    ['No space(9f2c1ab04d3e)', null],
    ['Too short (9f2c1ab)', null],
    ['Upper case (9F2C1AB04D3E)', null],
  ])('findCommitIdInMessage reads from the message %j the id %j', (message, id) => {
    expect(findCommitIdInMessage(message)).toBe(id);
  });
});
