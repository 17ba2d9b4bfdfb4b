import { expect, test } from 'vitest';
import { promptText, type PromptParts } from '../../support/prompts.ts';
import {
  change,
  conflict,
  pullRows,
  renderState,
  TEXT,
  type FileState,
  type Pulled,
  type PulledRow,
  type PullRow,
} from './pulling.ts';

type Expected = {
  readonly status: string;
  readonly problems?: readonly string[];
  /** Parts of the edits in the report. */
  readonly edits?: readonly object[];
  /** The file after the pull. Without it, the pull must not change the file. */
  readonly after?: FileState | RegExp;
  /** The file after a pull with this flag. */
  readonly ours?: FileState;
  readonly theirs?: FileState;
};

const two = (text: string) => change(TEXT, { 'Two.': text });
const FIRST = change(TEXT, { 'One.': '1.' });
const LAST = change(TEXT, { 'Three.': '3.' });
const MERGED = change(FIRST, { 'Three.': '3.' });
const MORE = `${TEXT}\nMore.`;
const BLOCK = '<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE';
const ACCEPTED = { accept_warnings: ['prompt/conflict-markers'] };
const FIELDS = { name: 'Greeting', description: 'The first message.' };
const METADATA = { metadata: { model: 'a', temperature: 0.5 } };
const LATEST = { staging: 'latest', production: 'latest' };
const pins = (production: number | string) => ({ staging: 'latest', production });
const V2 = `${TEXT}\nv2`;
const V3 = `${TEXT}\nv3`;
/** Three versions. Production is pinned to the second and was pinned to the first. */
const HISTORY: readonly PromptParts[] = [{ pins: LATEST }, { pins: pins(1), text: V2 }, { pins: pins(2), text: V3 }];

const declare =
  (variables: string, text: string): FileState =>
  ({ id }) =>
    `---\nid: prm_${id}\nkey: ${id}\nname: ${id}\npins:\n  staging: latest\nvariables: ${variables} # in order\n---\n\n${text}\n`;

const addAccepted =
  (text: string): FileState =>
  ({ id }) =>
    promptText(id, { text }).replace('\n---\n\n', '\naccept_warnings: [prompt/conflict-markers]\n---\n\n');

const TEXT_ROWS: readonly (readonly [title: string, row: PullRow, expected: Expected])[] = [
  [
    'pull writes a service edit to a file that nobody changed',
    { outside: ({ edit }) => edit(two('2.')) },
    {
      status: 'applied',
      edits: [{ kind: 'set-text', from: 'staging v2', conflicts: 0 }],
      after: { text: two('2.') },
    },
  ],
  [
    'pull merges a service edit with an uncommitted edit to the file',
    { outside: ({ edit }) => edit(FIRST), uncommitted: { text: LAST } },
    { status: 'applied', after: { text: MERGED } },
  ],
  [
    'pull changes nothing if the file already matches the text in the service',
    { outside: ({ edit }) => edit(two('2.')), committed: { text: two('2.') } },
    { status: 'unchanged' },
  ],
  [
    'pull changes nothing in a file that was never synced, because the service still has the content from before the file',
    { synced: [], outside: ({ edit }) => edit(FIRST), committed: {} },
    { status: 'unchanged' },
  ],
  [
    'pull marks a conflict, escapes a line feed in the name of the file, and lets --ours and --theirs resolve only the conflict',
    {
      path: 'prompts/a\nb.md',
      outside: ({ edit }) => edit(change(FIRST, { 'Two.': 'Theirs.' })),
      committed: { text: change(LAST, { 'Two.': 'Ours.' }) },
    },
    {
      status: 'failed',
      problems: ['pull/conflict'],
      edits: [{ kind: 'set-text', from: 'staging v2', conflicts: 1 }],
      after: ({ id }) => {
        const both = conflict('Ours.', 'Theirs.', 'staging v2', 'prompts/a\\u{a}b.md');
        return promptText(id, { text: change(MERGED, { 'Two.': both }) });
      },
      ours: { text: change(MERGED, { 'Two.': 'Ours.' }) },
      theirs: { text: change(MERGED, { 'Two.': 'Theirs.' }) },
    },
  ],
  [
    'pull accepts conflict markers for a file if text in the service contains them',
    { outside: ({ edit }) => edit(two(BLOCK)) },
    {
      status: 'applied',
      problems: ['prompt/conflict-markers'],
      edits: [{ field: 'accept_warnings' }, { conflicts: 0 }],
      after: addAccepted(two(BLOCK)),
    },
  ],
  [
    'pull writes no conflict markers of its own into a file that accepts conflict markers',
    {
      synced: [ACCEPTED],
      outside: ({ edit }) => edit(two('Theirs.')),
      committed: { ...ACCEPTED, text: two('Ours.') },
    },
    {
      status: 'blocked',
      problems: ['pull/side-needed'],
      ours: { ...ACCEPTED, text: two('Ours.') },
      theirs: { ...ACCEPTED, text: two('Theirs.') },
    },
  ],
  [
    'pull writes no conflict markers of its own if the text in the service contains conflict markers',
    { outside: ({ edit }) => edit(two(BLOCK)), committed: { text: two('Ours.') } },
    {
      status: 'blocked',
      problems: ['pull/side-needed'],
      ours: { text: two('Ours.') },
      theirs: addAccepted(two(BLOCK)),
    },
  ],
  [
    'pull refuses a text that no prompt file can hold, but --ours keeps the file',
    { outside: ({ edit }) => edit('a\0b'), uncommitted: { text: 'Mine.' } },
    { status: 'blocked', problems: ['pull/not-writable'], ours: { text: 'Mine.' }, theirs: { text: 'Mine.' } },
  ],
  [
    'pull warns about new invisible characters even in a conflict, but not about existing ones',
    {
      synced: [{ text: `${TEXT}\u00ad` }],
      outside: ({ edit }) => edit(`${TEXT}\u00ad\n\u202etheirs`),
      uncommitted: { text: `${TEXT}\u00ad\nours` },
    },
    {
      status: 'failed',
      problems: ['prompt/hidden-character', 'pull/conflict'],
      after: /<<<<<<< prompts\/p\d+\.md\nours\n=======\n\u202etheirs\n>>>>>>> staging v2\n$/,
    },
  ],
];

const FIELD_ROWS: typeof TEXT_ROWS = [
  [
    'pull copies a changed key, name and description from the service to the file',
    {
      synced: [FIELDS],
      outside: ({ setFields }) => setFields({ key: 'hello', name: '{x}: # "it\'s"', description: '' }),
    },
    { status: 'applied', after: { key: 'hello', name: '{x}: # "it\'s"', description: '' } },
  ],
  [
    'pull updates a field that somebody changed in the service even if an unsynced commit changed the same field',
    {
      synced: [FIELDS],
      outside: ({ setFields }) => setFields({ name: 'theirs' }),
      committed: { ...FIELDS, name: 'ours' },
    },
    { status: 'applied', after: { ...FIELDS, name: 'theirs' } },
  ],
  [
    'pull marks a conflict if an uncommitted edit and the service changed the same field',
    {
      synced: [FIELDS],
      outside: ({ setFields }) => setFields({ name: 'theirs', description: 'Changed there.' }),
      uncommitted: { ...FIELDS, name: 'ours' },
    },
    {
      status: 'failed',
      problems: ['pull/conflict'],
      edits: [
        { kind: 'set-field', field: 'name', before: '"ours"', after: '"theirs"', conflict: true },
        { kind: 'set-field', field: 'description', conflict: false },
      ],
      after: ({ id, path }) => {
        const both = conflict('name: "ours"', 'name: "theirs"', 'the service', path);
        return promptText(id, { text: TEXT, name: 'ours', description: 'Changed there.' }).replace(
          'name: "ours"',
          both,
        );
      },
      ours: { name: 'ours', description: 'Changed there.' },
      theirs: { name: 'theirs', description: 'Changed there.' },
    },
  ],
  [
    'pull merges metadata changes from the service and the file key by key',
    {
      synced: [METADATA],
      outside: ({ edit }) => edit(TEXT, ['staging'], { model: 'b', temperature: 0.5 }),
      committed: { metadata: { ...METADATA.metadata, temperature: 1 } },
    },
    {
      status: 'applied',
      edits: [{ field: 'metadata.model', before: '"a"', after: '"b"', conflict: false }],
      after: { metadata: { model: 'b', temperature: 1 } },
    },
  ],
  [
    'pull does not remove metadata that was newly added to the file',
    { outside: ({ edit }) => edit(MORE), committed: { metadata: { model: 'a' } } },
    { status: 'applied', after: { metadata: { model: 'a' }, text: MORE } },
  ],
  [
    'pull updates the declared variables to match the pulled text and preserves their order',
    {
      synced: [declare('[z, gone, a]', '{{a}} {{gone}} {{z}}\n\nEnd.')],
      outside: ({ edit }) => edit('{{new}} {{a}} {{z}}\n\nEnd.'),
    },
    {
      status: 'applied',
      edits: [{ field: 'variables', before: '["z","gone","a"]', after: '["z","a","new"]' }, { kind: 'set-text' }],
      after: declare('[z, a, new]', '{{new}} {{a}} {{z}}\n\nEnd.'),
    },
  ],
  [
    'pull leaves the declared variables unchanged if the text has a conflict',
    {
      synced: [declare('[a]', 'Hello {{a}}.')],
      outside: ({ edit }) => edit('Hello {{theirs}}.'),
      uncommitted: declare('[ours]', 'Hello {{ours}}.'),
    },
    { status: 'failed', problems: ['pull/conflict'], after: /variables: \[ours\] # in order/ },
  ],
];

const PIN_ROWS: typeof TEXT_ROWS = [
  [
    'pull refuses to update a pin that has an uncommitted edit, unless the user chooses a side',
    { synced: HISTORY, outside: ({ move }) => move('production', 3), uncommitted: { pins: pins(1), text: V3 } },
    {
      status: 'blocked',
      problems: ['pull/pin-conflict'],
      ours: { pins: pins(1), text: V3 },
      theirs: { pins: pins(3), text: V3 },
    },
  ],
  [
    'pull only warns if an environment pinned to latest serves a version created by promptsync and the text of the file is not synced yet',
    {
      synced: [{ pins: LATEST }, { pins: pins(1), text: V2 }],
      outside: ({ move }) => move('production', 2),
      committed: { pins: LATEST, text: V3 },
    },
    { status: 'unchanged', problems: ['pull/known-version'] },
  ],
  [
    'pull refuses to merge different changes from two environments at once',
    {
      synced: [{ pins: LATEST }],
      outside: ({ edit }) => {
        edit(FIRST);
        edit(LAST, ['production']);
      },
    },
    { status: 'blocked', problems: ['pull/several'] },
  ],
  [
    'pull refuses different metadata in two environments if the file contains metadata',
    {
      synced: [{ pins: LATEST, metadata: { model: 'a' } }],
      outside: ({ edit }) => {
        edit(FIRST, ['staging'], { model: 'b' });
        edit(FIRST, ['production'], { model: 'c' });
      },
    },
    { status: 'blocked', problems: ['pull/several'] },
  ],
  [
    'pull treats identical text in two environments as one change, even with different metadata if the file contains none',
    {
      synced: [{ pins: LATEST }],
      outside: ({ edit }) => {
        edit(FIRST, ['staging'], { model: 'b' });
        edit(FIRST, ['production'], { model: 'c' });
      },
    },
    { status: 'applied', after: { pins: LATEST, text: FIRST } },
  ],
];

const ROWS = [...TEXT_ROWS, ...FIELD_ROWS, ...PIN_ROWS];

let pulled: Promise<ReadonlyMap<string, PulledRow>> | null = null;

/** Pulls all rows when the first test needs them. */
async function pullAll(): Promise<ReadonlyMap<string, PulledRow>> {
  const rows = await pullRows(ROWS.map(([, row]) => row));
  return new Map(ROWS.map(([title], index) => [title, rows[index]!]));
}

test.each(ROWS)('%s', async (title, _, { status, problems = [], edits, after, ours, theirs }) => {
  const row = (await (pulled ??= pullAll())).get(title)!;
  const { plain, before, context } = row;
  expect([plain.prompt.status, ...plain.prompt.problems.map(({ code }) => code)]).toEqual([status, ...problems]);
  if (edits !== undefined) expect(plain.prompt.edits).toMatchObject(edits);
  if (after instanceof RegExp) expect(plain.source).toMatch(after);
  else expect(plain.source).toBe(after === undefined ? before : renderState(after, context));
  const expectSide = (side: Pulled, state: FileState | undefined) => {
    if (state !== undefined) expect(side.source).toBe(renderState(state, context));
  };
  expectSide(row.ours, ours);
  expectSide(row.theirs, theirs);
});
