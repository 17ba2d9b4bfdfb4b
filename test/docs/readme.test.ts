import { expect, test } from 'vitest';
import { readPage } from './pages.ts';
import { findDifference } from './perform.ts';
import { playsIn } from './steps.ts';

test.for(playsIn(readPage('README.md')))(
  'the examples in README.md from line $line run as documented in the test setup $world',
  async (play) => {
    const difference = await findDifference('README.md', play);
    expect(difference?.actual).toEqual(difference?.expected);
  },
);
