import { expect, test } from 'vitest';
import { findBaseWants } from '../../../src/commands/pull/list-merge-bases.ts';
import type { KnownVersion } from '../../../src/domain/versions.ts';
import { entry, line, type StateParts } from '../../planning/support.ts';

const ENVIRONMENT = 'production';
/** When the served version was created, in milliseconds. */
const EDIT_TIME = 60_999;

/** Parses a version from a word such as `2=text`. */
function parseVersion(word: string): KnownVersion {
  const [number, text = ''] = word.split('=');
  return { ...entry(Number(number), text), source: null, staysKnown: true, content: null };
}

/**
 * Parses the state of a line from a word: a version number, a text or, without a pin, `-`. After an at sign comes the
 * time of the commit in seconds.
 */
function parseState(word: string): StateParts {
  const [pin = '', time = '0'] = word.split('@');
  const pins = pin === '-' ? {} : { [ENVIRONMENT]: /^\d+$/.test(pin) ? pin : 'latest' };
  return { text: pin, time: Number(time), pins };
}

/** Returns the numbers or the texts that the bases want. */
function findBases(row: string): string {
  const [states = '', versions = '', , flags = ''] = row.split(' | ');
  const known = versions.split(' ').map(parseVersion);
  const served = known.find(({ digest }) => digest === entry(1, 'edit').digest)!;
  const pin = { environment: ENVIRONMENT, pin: { kind: 'latest' as const }, line: 1, column: 1 };
  const times = { createdAt: EDIT_TIME, updatedAt: EDIT_TIME };
  const edit = {
    ...{ environment: ENVIRONMENT, version: { ...served, times }, pin: flags === 'unpinned' ? null : pin },
    ...{ isInGit: false, isOlder: flags === 'older' },
  };
  const history = line(states.split(' ').map(parseState), { isCut: flags === 'cut' });
  return findBaseWants(edit, history, { known, metadata: 'kept' })
    .map(({ want }) => (want.kind === 'content' ? want.content.text : want.kind === 'number' ? want.number : ''))
    .join(' ');
}

/** Rows `title: 'LINE, newest first | KNOWN VERSIONS | bases'`. The environment serves the version with the text `edit`. */
const rows: Readonly<Record<string, string>> = {
  'The merge base of a pull is the newest text whose version is older than the served version':
    'b a | 1=a 2=b 3=edit | b',
  'The merge base of a pull is never an unsynced text': 'new a | 1=a 2=edit | a',
  'The merge base of a pull is never a text whose version was created after the edit': 'b a | 1=a 2=edit 3=b | a',
  'The merge base of a pull is the pinned version under a number': '1 | 1=a 2=b 3=edit | 1',
  'The merge base of a pull is never from a commit without the pin': '- a | 1=a 2=edit | a',
  'The merge base of a pull is the newest synced text if the file does not pin the environment':
    '- a | 1=a 2=edit | a | unpinned',
  'The merge base of a pull is both the restored and the reverted text after a revert': 'a b a | 1=a 2=b 3=edit | a b',
  'The merge base of a pull is never a pin that was committed after the edit': '2@61 1@60 | 1=a 2=b 3=edit | 1',
  'The merge base of a pull is the newest synced text if all commits are later than the edit':
    'b@62 a@61 | 1=a 2=b 3=edit | b',
  'The merge base of a pull is also a newer text without a known version if some versions are unknown':
    'b a | 1=a 3=edit | b a',
  'The merge base of a pull is also a reverted text without a known version if some versions are unknown':
    'a b a | 1=a 3=edit | b a',
  'The merge base of a pull is any text if no version is known': 'b a | 2=edit | b a',
  'The merge base of a pull is nothing in a cut history': 'b a | 2=edit |  | cut',
  'The merge base of a pull is nothing if the edit is the first version': 'a | 1=edit | ',
  'The merge base of a pull is the version that the file asks for if the served version is older':
    'c a | 1=a 2=edit 3=c | c | older',
};

test.each(Object.entries(rows))('%s', (_, row) => {
  expect(findBases(row)).toBe(row.split(' | ')[2]);
});
