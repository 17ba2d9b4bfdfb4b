import { expect, test } from 'vitest';
import { readPage } from './pages.ts';
import { perform } from './perform.ts';
import { playsIn } from './steps.ts';

test.for(playsIn(readPage('README.md')))(
  'the examples in README.md starting at line $line run as shown in the world $world',
  async (play) => {
    const performed = await perform('README.md', play);
    expect(performed.map(({ is }) => is)).toEqual(performed.map(({ wanted }) => wanted));
  },
);
