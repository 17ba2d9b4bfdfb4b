import { describe, expect, test } from 'vitest';
import { findDifference } from './perform.ts';
import { playsIn } from './steps.ts';

const page = (...blocks: readonly string[]) => ['<!-- world: empty -->', ...blocks].join('\n\n');
const shown = (text: string) => `\`\`\`console\n${text}\n\`\`\``;
const sh = (text: string) => `\`\`\`sh\n${text}\n\`\`\``;

test('the docs runner accepts every supported form of example', async () => {
  const right = page(
    shown('$ echo one\none\n$ cat none.md || true\n…\n$ echo two\ntwo'),
    shown('$ echo one \\\n> two\none two'),
    shown('$ seq 1 5\n1\n…\n5'),
    shown('$ echo one two\none …'),
    shown('$ echo ver_1 0a1b2c3 2026-01-02\nver_9f… 9f2c1ab04d3e 2026-11-20'),
    sh('mkdir a; cd a\nx=1'),
    shown('$ echo $x $(basename "$PWD")\n1 a\n$ true'),
    `<!-- exit: 1 -->\n\n${shown('$ promptsync validate\nerror: …\n…')}`,
    `<!-- setup: echo one > a.txt -->\n\n${shown('$ cat a.txt\none')}`,
    '<!-- file: b/a.txt -->\n\n```text\none\n```',
    shown('$ cat b/a.txt\none'),
    `<!-- elsewhere: .ci/run -->\n\n${sh('exit 1')}`,
    shown('$ echo https://prompts.example.com\nhttps://prompts.example.com'),
  );
  expect(await differencesIn(right)).toEqual([]);
});

describe('the page runner', () => {
  test.each<[sentence: string, difference: string, page: string]>([
    [
      'the docs runner reports the command whose output differs from the page',
      'page:6: echo one',
      page(shown('$ echo 1\n1\n$ echo one\ntwo')),
    ],
    [
      'the docs runner reports an output line that is missing from the page',
      'page:4: seq 1 3',
      page(shown('$ seq 1 3\n1\n3')),
    ],
    [
      'the docs runner reports a line on the page that is missing from the output',
      'page:4: seq 1 2',
      page(shown('$ seq 1 2\n1\n2\n3')),
    ],
    [
      'the docs runner reports a failing command even if the last command of the block succeeds',
      'page:4: false\ntrue',
      page(sh('false\ntrue')),
    ],
    [
      'the docs runner reports a command that fails with an unexpected exit code',
      'page:6: exit 2',
      page(`<!-- exit: 3 -->\n\n${shown('$ exit 2')}`),
    ],
    [
      'the docs runner reports a hidden setup command that fails',
      'page:5: setup: false',
      page(`<!-- setup: false -->\n\n${sh('true')}`),
    ],
    ['the docs runner reports a command that the shell cannot parse', 'page:4: echo "', page(sh('echo "'))],
  ])('%s', async (_, difference, wrong) => {
    expect(await differencesIn(wrong)).toEqual([difference]);
  });

  test.each([
    [
      'the docs runner rejects an unknown directive in a comment',
      `<!-- wolrd: team -->\n\n${sh('true')}`,
      /<!-- wolrd: team --> is none of/,
    ],
    [
      'the docs runner rejects a command without a world directive above it',
      sh('true'),
      /no <!-- world: … --> is above it/,
    ],
    ['the docs runner rejects output without a command', page(shown('one')), /begins with a line "\$ command"/],
    [
      'the docs runner rejects an exit code directive for an sh block',
      page(`<!-- exit: 3 -->\n\n${sh('exit 3')}`),
      /<!-- exit: 3 -->/,
    ],
  ])('%s', (_, wrong, message) => {
    expect(() => playsIn(wrong)).toThrow(message);
  });

  test('the docs runner rejects an unknown name in a world directive', async () => {
    await expect(differencesIn(`<!-- world: none -->\n\n${sh('true')}`)).rejects.toThrow('there is no world "none"');
  });
});

/** Returns the first step of each world on a page that does not do what the page shows. */
async function differencesIn(text: string): Promise<readonly string[]> {
  const differences = await Promise.all(playsIn(text).map((play) => findDifference('page', play)));
  return differences.flatMap((difference) => difference?.actual.step ?? []);
}
