import { describe, expect, test } from 'vitest';
import { computeContentDigest, computeMetadataDigest } from '../../../src/domain/content.ts';
import {
  makeLedgerEntry,
  isManagedVersion,
  isRewritten,
  mayFollowHead,
} from '../../../src/providers/four-call/ownership.ts';
import { detectMetadataSupport } from '../../../src/providers/four-call/reading.ts';
import type { LedgerVersion } from '../../../src/providers/four-call/version-record.ts';
import { content, parseService, parseVersion, reading } from '../../planning/support.ts';

/**
 * Parses a version in the notation of `planning/support.ts`, in which `_` is a space. Its version record may hold the
 * digests of another text (`text=…`) and of other metadata (`metadata=…`) than those of the version.
 */
function parse(words: string): LedgerVersion {
  const [word = '', ...sent] = words.split(' ').map((one) => one.replaceAll('_', ' '));
  const made = parseVersion(word)!;
  const valueOf = (key: string) => sent.find((one) => one.startsWith(key))?.slice(key.length);
  const [text, metadata] = [valueOf('text='), valueOf('metadata=')];
  const digests = {
    ...(text !== undefined && { digest: computeContentDigest(text) }),
    ...(metadata !== undefined && { metadataDigest: computeMetadataDigest(JSON.parse(metadata)) }),
  };
  return { ...made, record: made.record && { ...made.record, ...digests } };
}

const parseKnown = (words = '') =>
  words.split(' ').flatMap((word) => (word === '' ? [] : [makeLedgerEntry(parse(word))]));

/** Rows `title: 'RESULT | VERSION | …'`. */
type Rows = Readonly<Record<string, string>>;

function testRows(rows: Rows, compute: (made: LedgerVersion, rest: string | undefined) => boolean | null): void {
  test.each(Object.entries(rows))('%s', (_, row) => {
    const [expected, made = '', rest] = row.split(' | ');
    expect(`${compute(parse(made), rest)}`).toBe(expected);
  });
}

const EDITED = '3:Two{"by":"them"}(1:One) metadata={}';

describe('ownership of versions', () => {
  testRows(
    {
      'isManagedVersion returns true if the version record contains the digests of the text and the metadata':
        'true | 3:Two(1:One)',
      'isManagedVersion returns false if the digest in the version record does not match the text':
        'false | 2:Edited text=One',
      'isManagedVersion returns false if the metadata changed and the version number does not directly follow the newest ledger entry': `false | ${EDITED}`,
      'isManagedVersion returns true if the metadata changed but the version number directly follows the newest ledger entry':
        'true | 2:Two{"by":"api"}(1:One) metadata={}',
      'isManagedVersion returns true for version 1 of a prompt even if the metadata changed':
        'true | 1:One{"by":"api"} metadata={}',
      'isManagedVersion returns false for a version without a version record': 'false | ~1:One',
    },
    isManagedVersion,
  );

  testRows(
    {
      'mayFollowHead returns true for a newer version whose ledger contains the tracked version':
        'true | 2:Two(1:One) | 1:One',
      'mayFollowHead returns false for a version whose ledger lacks the tracked version': 'false | 2:Two | 1:One',
      'mayFollowHead returns true for any managed version if the tracking environment is empty': 'true | 2:Two | -',
      'mayFollowHead returns false if the tracking environment was not read': 'false | 2:Two',
      'mayFollowHead returns false for a version older than the tracked one': 'false | 2:Two(3:Three) | 3:Three',
      'mayFollowHead returns false for a version that promptsync did not create': 'false | ~2:Two | -',
      'mayFollowHead returns false for a version that may be an edited copy': `false | ${EDITED} | -`,
    },
    (made, head) => mayFollowHead(made, head === undefined ? undefined : parseVersion(head)),
  );
});

describe('isRewritten', () => {
  testRows(
    {
      'isRewritten returns true if the stored text differs from the sent text only in whitespace':
        'true | 9:Two(1:One) text=Two_',
      'isRewritten returns true for a completely different text if the version number directly follows the newest ledger entry':
        'true | 2:X(1:One) text=Two_',
      'isRewritten returns false for a completely different text if the version number does not directly follow the newest ledger entry':
        'false | 3:X(1:One) text=Two_',
      'isRewritten returns false if an older known version has exactly the content that promptsync sent':
        'false | 9:Two text=Two_ | 2:Two_',
      'isRewritten returns false if promptsync sent metadata but the file has none':
        'false | 2:Two(1:One) text=Two_ metadata={"a":1}',
      'isRewritten returns false if the stored text equals the sent text': 'false | 2:Two_(1:One)',
      'isRewritten returns false if the digest in the version record does not match the text in the file':
        'false | 2:Two(1:One) text=Three',
      'isRewritten returns false for a version without a version record': 'false | ~2:Two',
    },
    (made, known) => isRewritten(made, content('Two '), parseKnown(known)),
  );

  const added = '3:Two{"model":"x","by":"api"}(1:One)';
  testRows(
    {
      'isRewritten returns true if the service added a key to the metadata that promptsync sent': `true | ${added} metadata={"model":"x"}`,
      'isRewritten returns false for an edited copy of a known version': `false | ${added} metadata={"model":"x"} | 2:Two{"model":"x"}`,
      'isRewritten returns false if the metadata that promptsync sent differs from the metadata in the file': `false | ${added} metadata={"model":"y"}`,
      'isRewritten returns false if the service stored the metadata from the file unchanged':
        'false | 3:Two{"model":"x"} metadata={"model":"x"}',
    },
    (made, known) => isRewritten(made, content('Two', { model: 'x' }), parseKnown(known)),
  );

  test('isRewritten returns false if the service added metadata but the file specifies none', () => {
    expect(isRewritten(parse(`${added} metadata={}`), content('Two'), [])).toBe(false);
  });
});

test.each([
  ['detectMetadataSupport returns dropped if no version has a version record', 'dropped | a=~1:A promptsync=~2:B'],
  ['detectMetadataSupport returns kept if only the tracked version lacks a record', 'kept | a=1:A promptsync=~2:B'],
  ['detectMetadataSupport returns kept if a probed version has a record', 'kept | promptsync=~2:B probed=1:A'],
  ['detectMetadataSupport returns kept if the tracking environment is empty', 'kept | a=~1:A promptsync=-'],
  ['detectMetadataSupport returns kept if the tracking environment was not read', 'kept | a=~1:A'],
])('%s', (_, row) => {
  const [expected, service = ''] = row.split(' | ');
  expect(detectMetadataSupport(reading(parseService(service)))).toBe(expected);
});
