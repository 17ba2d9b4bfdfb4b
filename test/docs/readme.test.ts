import { describe, expect, test } from 'vitest';
import { readPage } from './pages.ts';
import { perform } from './perform.ts';
import { playsIn } from './steps.ts';

describe('README.md does what it shows', () => {
  test.for(playsIn(readPage('README.md')))('in the world $world of line $line', async (play) => {
    const performed = await perform('README.md', play);
    expect(performed.map(({ is }) => is)).toEqual(performed.map(({ wanted }) => wanted));
  });
});
