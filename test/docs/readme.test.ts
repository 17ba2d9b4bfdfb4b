import { describe, expect, test } from 'vitest';
import { PAGES, readPage } from './pages.ts';
import { perform } from './perform.ts';
import { blocksIn, playsIn } from './steps.ts';

describe('README.md does what it shows', () => {
  test.for(playsIn(readPage('README.md')))('in the world $world of line $line', async (play) => {
    const performed = await perform('README.md', play);
    expect(performed.map(({ is }) => is)).toEqual(performed.map(({ wanted }) => wanted));
  });
});

describe.each(PAGES)('%s', (page) => {
  const elsewhere = blocksIn(readPage(page)).flatMap(({ text, directives, line }) => {
    const where = directives.get('elsewhere');
    return where === undefined ? [] : text.split('\n').map((command) => ({ command, where, line }));
  });

  test('the commands that are run elsewhere are run there', () => {
    expect(elsewhere.filter(({ command, where }) => !runsIn(where, command))).toEqual([]);
  });
});

test.each([
  ['npm ci && npm test', true],
  ['npm test', false],
  ['npm ci && npm publish', false],
])('.ci/run runs `%s`: %s', (command, is) => {
  expect(runsIn('.ci/run', command)).toBe(is);
});

/** In quotes after `check`, as one command line. */
function runsIn(script: string, command: string): boolean {
  return readPage(script)
    .split('\n')
    .some((line) => line.startsWith('check ') && line.endsWith(` '${command}'`));
}
