import { expect, test } from 'vitest';
import { readPage } from './pages.ts';
import { perform } from './perform.ts';
import { playsIn } from './steps.ts';

test.for(playsIn(readPage('README.md')))(
  'the examples in README.md from line $line run as documented in the test setup $world',
  async (play) => {
    const performed = await perform('README.md', play);
    expect(performed.map(({ is }) => is)).toEqual(performed.map(({ wanted }) => wanted));
  },
);
