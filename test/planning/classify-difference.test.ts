import { expect, test } from 'vitest';
import { classifyDifference } from '../../src/planning/classify-difference.ts';
import { line } from './support.ts';

/** The state of the file that wants what the service has, and one that wants something else. */
const [wanting, other] = line([{ text: 'Served' }, { text: 'Other' }]).states;
const WANTING = [wanting!];
const OTHER = [other!];

/**
 * Rows `title: 'CAUSE | WORDS'`. By default, the base wants something that was never moved away, and no state wants what
 * the service has. The words `head`, `tip` and `base` name the lines that want it, and the other words are evidence.
 */
const rows = {
  'if a commit that only the head contains asks for what the service has': 'head | head',
  'even if somebody moved the environment, the branch is behind, and the clone is shallow':
    'head | head tip shallow moving moved first',
  'if a newer commit on the live branch asks for what the service has': 'behind | tip',
  'even if "moved", "first" and "unfinished" would also apply': 'behind | base tip moved first',
  'even in a shallow clone if the live branch asks for what the service has': 'behind | tip shallow',
  'if somebody moved the environment after a sync': 'moved | moved',
  'for a moved environment even if "first" and "unfinished" would also apply': 'moved | base moved first',
  'for a moved environment even if the environment serves no version': 'moved | moved nothing',
  'for the first pin of an environment even if no commit asks for what the service has': 'first | first',
  'for the first pin of an environment even if a commit asks for what the service has': 'first | base first',
  'if no commit asks for what the service has': 'outside | ',
  'if no commits of the file are known': 'outside | unborn',
  'if an earlier commit asks for what the service has': 'unfinished | base',
  'for an environment that serves no version, even if "first" would also apply': 'unfinished | nothing first',
  'for a pin to a moving ref even if "behind", "moved" and "first" would also apply':
    'unfinished | tip moving moved first',
  'in a shallow clone even if "outside" and "first" would also apply': 'unfinished | shallow moved first',
};
const titled = Object.entries(rows).map(([title, row]) => {
  const [cause = '', words = ''] = row.split(' | ');
  return [`classifyDifference returns "${cause}" ${title}`, cause, words] as const;
});

test.each(titled)('%s', (_, cause, words) => {
  const is = (word: string): boolean => words.split(' ').includes(word);
  const evidence = {
    wantsCurrent: (state: unknown) => state === wanting,
    ...{ isNothing: is('nothing'), isMovingRef: is('moving'), wasMoved: is('moved'), isFirstWant: is('first') },
  };
  const states = {
    base: is('unborn') ? [] : is('base') ? [...OTHER, ...WANTING] : OTHER,
    ...{ head: is('head') ? WANTING : [], tip: is('tip') ? WANTING : [], isShallow: is('shallow') },
  };
  expect(classifyDifference(evidence, states)).toBe(cause);
});
