import { describe, expect, test } from 'vitest';
import { metadataDigest } from '../../src/domain/digest.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { entryAsServed, isDoubtful, isOwn, isRewritten, mayFollow } from '../../src/ledger/ownership.ts';
import { metadataIn } from '../../src/ledger/reading.ts';
import type { LedgerEntry, Version } from '../../src/ledger/stamp.ts';
import { content, entry, outside, reading, TRACKING, version, type ObservedParts } from '../planning/support.ts';

/** A version whose stamp notes the metadata that was sent with it. */
function sent(made: Version, metadata: JsonObject = {}): Version {
  return { ...made, stamp: { ...made.stamp!, metadataDigest: metadataDigest(metadata) } };
}

const one = entry(1, 'One');
const edited = version(3, 'Two', { metadata: { by: 'them' }, ledger: [one] });
const original = entry(2, 'Two');

describe('A version', () => {
  test.each<[string, Version, boolean]>([
    ['with a stamp of its text is our own', version(1, 'One'), true],
    ['with a stamp of another text is not', version(2, 'Edited', { stampFor: 'One' }), false],
    ['without a stamp is not', outside(1, 'One'), false],
  ])('%s', (_, made, own) => {
    expect(isOwn(made)).toBe(own);
  });

  test.each<[string, Version, boolean]>([
    ['with the metadata that was sent is not doubtful', sent(version(3, 'Two', { ledger: [one] })), false],
    ['with other metadata is, where its number does not follow its ledger', sent(edited), true],
    [
      'with other metadata is not, where its number follows its ledger',
      sent(version(2, 'Two', { metadata: { by: 'api' }, ledger: [one] })),
      false,
    ],
    ['with other metadata is not, where it is the first', sent(version(1, 'One', { metadata: { by: 'api' } })), false],
    ['of before the sent metadata was noted is not', edited, false],
    ['that is not our own is not', sent(version(3, 'Edited', { stampFor: 'Two', ledger: [one] })), false],
  ])('%s', (_, made, doubtful) => {
    expect(isDoubtful(made)).toBe(doubtful);
  });

  test.each<[string, Version, readonly LedgerEntry[], boolean]>([
    ['is a copy where its original is known', sent(edited), [one, original], true],
    ['is none where nothing is known that it was copied from', sent(edited), [one], false],
    ['is none of a later version', sent(edited), [entry(4, 'Two')], false],
    ['is none of a version with other metadata', sent(edited), [entry(2, 'Two', { metadata: { a: 1 } })], false],
    ['is none where it is as it was sent', sent(version(3, 'Two', { ledger: [one] })), [original], false],
  ])('%s', (_, made, known, copy) => {
    expect(isDoubtful(made) && !entryAsServed(made, known).ours).toBe(copy);
  });

  test.each<[string, Version, Version | null | undefined, boolean]>([
    ['whose ledger names the head', version(2, 'Two', { ledger: [one] }), version(1, 'One'), true],
    ['whose ledger does not name the head', version(2, 'Two'), version(1, 'One'), false],
    ['where there is no head', version(2, 'Two'), null, true],
    ['where the head was not read', version(2, 'Two'), undefined, false],
    ['that is older than the head', version(2, 'Two', { ledger: [entry(3, 'Three')] }), version(3, 'Three'), false],
    ['of somebody else', outside(2, 'Two'), null, false],
    ['that is doubtful', sent(edited), null, false],
  ])('%s may follow it or not', (_, made, head, may) => {
    expect(mayFollow(made, head)).toBe(may);
  });
});

describe('Something else was stored than was sent', () => {
  const two = content('Two ');
  test.each<[string, Version, readonly LedgerEntry[], boolean]>([
    ['where the text differs in white space', version(9, 'Two', { stampFor: 'Two ', ledger: [one] }), [], true],
    [
      'where the text is another, on the very next number',
      version(2, 'X', { stampFor: 'Two ', ledger: [one] }),
      [],
      true,
    ],
    ['not where another text was copied further on', version(3, 'X', { stampFor: 'Two ', ledger: [one] }), [], false],
    ['not where its original is known', sent(version(9, 'Two', { stampFor: 'Two ' })), [entry(2, 'Two ')], false],
    [
      'not where other metadata was sent',
      sent(version(2, 'Two', { stampFor: 'Two ', ledger: [one] }), { a: 1 }),
      [],
      false,
    ],
    ['not where the text is as it was sent', version(2, 'Two ', { ledger: [one] }), [], false],
    ['not where the stamp speaks of another text', version(2, 'Two', { stampFor: 'Three', ledger: [one] }), [], false],
    ['not without a stamp', outside(2, 'Two'), [], false],
  ])('%s', (_, made, known, rewritten) => {
    expect(isRewritten(made, two, known)).toBe(rewritten);
  });

  const managed = content('Two', { model: 'x' });
  const added = version(3, 'Two', { metadata: { model: 'x', by: 'api' }, ledger: [one] });
  test.each<[string, Version, readonly LedgerEntry[], boolean]>([
    ['where metadata of the file came back otherwise', sent(added, { model: 'x' }), [], true],
    ['not where it is a copy', sent(added, { model: 'x' }), [entry(2, 'Two', { metadata: { model: 'x' } })], false],
    ['not where other metadata was sent', sent(added, { model: 'y' }), [], false],
    [
      'not where it came back as it is',
      sent(version(3, 'Two', { metadata: { model: 'x' } }), { model: 'x' }),
      [],
      false,
    ],
  ])('%s', (_, made, known, rewritten) => {
    expect(isRewritten(made, managed, known)).toBe(rewritten);
  });

  test('in metadata does not count where the file manages none', () => {
    expect(isRewritten(sent(added), content('Two'), [])).toBe(false);
  });
});

describe('A service drops metadata', () => {
  test.each<[string, ObservedParts, boolean]>([
    [
      'where what is tracked has no stamp, nor has any other',
      { active: { a: outside(1, 'A'), promptsync: outside(2, 'B') } },
      true,
    ],
    ['not where another version has one', { active: { a: version(1, 'A'), promptsync: outside(2, 'B') } }, false],
    [
      'not where one that was looked at has one',
      { active: { promptsync: outside(2, 'B') }, looked: [version(1, 'A')] },
      false,
    ],
    ['not where nothing is tracked', { active: { a: outside(1, 'A'), promptsync: null } }, false],
    ['not where what is tracked was not read', { active: { a: outside(1, 'A') } }, false],
  ])('%s', (_, parts, drops) => {
    expect(metadataIn(reading(parts), TRACKING)).toBe(drops ? 'dropped' : 'kept');
  });
});
