import { expect, test } from 'vitest';
import { PAGES, readPage } from './pages.ts';
import { findDifference } from './perform.ts';
import { playsIn } from './steps.ts';

const pages = PAGES.filter((page) => page !== 'README.md');
const plays = pages.flatMap((page) => playsIn(readPage(page)).map((play) => ({ page, ...play })));

test.for(plays)(
  'the examples in $page from line $line run as documented in the test setup $world',
  async ({ page, ...play }) => {
    const difference = await findDifference(page, play);
    expect(difference?.actual).toEqual(difference?.expected);
  },
);
