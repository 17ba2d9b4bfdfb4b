import { expect, test } from 'vitest';
import { observeRequests } from '../../src/commands/preparing/observe-files.ts';
import { observe } from '../../src/observing/observe.ts';
import { stampToWire } from '../../src/service/stamp.ts';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { recorded } from '../doubles/recorded.ts';
import { content, entry, file, rules, version, type FileParts, type RulesParts } from '../planning/support.ts';

/** `staging` serves version 3 of p1, whose ledger tells of 2; `production` serves version 1; nobody has moved `promptsync`. */
function service(): Backend {
  const backend = inMemoryBackend();
  const add = (text: string, ledger = [entry(1, 'One')]) =>
    backend.addVersion('p1', { text, metadata: { promptsync: stampToWire({ ...version(1, text).stamp!, ledger }) } });
  backend.activate('p1', 'production', add('One'));
  add('Two');
  backend.activate('p1', 'staging', add('Three', [entry(1, 'One'), entry(2, 'Two')]));
  return backend;
}

const base = (parts: FileParts) => ({
  base: { files: new Map([['p1', file(parts)]]), ancestors: new Set<string>(), former: new Map() },
});
const promoted = { promotedFrom: new Map([['production', 'staging']]) };

type Row = readonly [sentence: string, file: FileParts, reads: readonly string[], rules?: RulesParts, also?: string[]];
const rows: readonly Row[] = [
  ['no pins', {}, ['promptsync']],
  ['one pin, in sync', { text: 'Three', pins: { staging: 'latest' } }, ['staging']],
  ['one pin, and a text that a ledger tells of', { text: 'Two', pins: { staging: 'latest' } }, ['staging']],
  ['one pin, and a new text', { text: 'Four', pins: { staging: 'latest' } }, ['staging', 'promptsync']],
  ['three pins', { text: 'Three', pins: { staging: 'latest', production: 1, qa: 2 } }, ['staging', 'production', 'qa']],
  ['a number nobody knows', { text: 'Three', pins: { staging: 'latest', qa: 9 } }, ['staging', 'qa', 'promptsync']],
  ['numbers alone', { text: 'Three', pins: { staging: 3 } }, ['staging', 'promptsync']],
  [
    'git pins alone',
    { text: 'Three', pins: { staging: 'git:v1' } },
    ['staging', 'promptsync'],
    { refs: { v1: content('Three') } },
  ],
  [
    'a git pin beside latest',
    { text: 'Three', pins: { staging: 'latest', production: 'git:v1' } },
    ['staging', 'production'],
    { refs: { v1: content('One') } },
  ],
  [
    'an environment to promote from',
    { text: 'Three', pins: { production: 'latest' } },
    ['production', 'staging'],
    promoted,
  ],
  [
    'an environment to promote from that is pinned as well',
    { text: 'Three', pins: { production: 'latest', staging: 'latest' } },
    ['production', 'staging'],
    promoted,
  ],
  [
    'the environments of the base as well',
    { text: 'Three', pins: { staging: 'latest' } },
    ['staging', 'production'],
    base({ text: 'One', pins: { staging: 'latest', production: 1 } }),
  ],
  [
    'an environment that is asked for',
    { text: 'Three', pins: { staging: 'latest' } },
    ['staging', 'qa'],
    {},
    ['qa', 'staging'],
  ],
  [
    'the tracking environment, asked for',
    { text: 'Four', pins: { staging: 'latest' } },
    ['staging', 'promptsync'],
    {},
    ['promptsync'],
  ],
];

const named = rows.map(([sentence, ...given]) => [sentence, given] as const);

test.each(named)('%s: each needed environment is read once, and no other', async (_, given) => {
  const [parts, reads, ruleParts, also] = given;
  const spy = recorded(service());
  const requests = observeRequests([file(parts)], rules(ruleParts), also);
  const options = { trackingEnvironment: 'promptsync', concurrency: 4, stop: new AbortController().signal };
  const { failed } = await observe(spy, requests, options);
  expect([...failed.values()]).toStrictEqual([]);
  expect(spy.lines).toStrictEqual(reads.map((environment) => `read p1 ${environment}`));
});
