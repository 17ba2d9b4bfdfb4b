import { describe, expect, test } from 'vitest';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { LENIENT_SETTINGS, parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import type { Line, LineState, Want } from '../../src/history/line-of-states.ts';
import { readPromptLine, readPlannedLine } from '../../src/history/read-line-of-states.ts';
import { openPromptRepository } from '../support/prompt-repository.ts';
import { cloneOf, initRepository, makeFolder } from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
import { FIRST_TIME, type Histories, type HistoryRepository, makeHistories, PATH, promptA } from './support.ts';

const [B, C, DEEP] = ['prompts/b.md', 'prompts/c.md', 'prompts/deep/b.md'] as const;

/** A file of which git does not recognize a move if most of its text changes. */
const longA = (word: string, parts: PromptParts = {}): string => promptA(makeLongText(word), parts);
const makeLongText = (word: string): string => Array.from({ length: 30 }, (_, line) => `${word} ${line}`).join('\n');

const toStates = (...texts: readonly string[]) => texts.map((text) => ({ [PATH]: text }));

const LANGFUSE = 'service: { provider: langfuse }\n';
const PORTABLE = `${LANGFUSE}portable_pins: true\n`;
const ALL_FILES = `${LANGFUSE}prompts: ["**/*.md"]\n`;
const DEFAULTS = `${LANGFUSE}defaults: { pins: { staging: latest, eu: 1, x: 2 } }\n`;
const config = (text: string) => ({ 'promptsync.yaml': text });
const bare = (text: string) => `---\n---\n${text}\n`;

/** The pins of two states. The ref of `git:HEAD~2` is the first commit of main. */
const PINS = [7, ...'latest version:ver_7 git:v1 git:release git:HEAD~2 git:gone'.split(' ')];
const pinStates = (pins: NonNullable<PromptParts['pins']>) =>
  toStates(promptA('One.'), promptA('Two.', { pins }), promptA('Three.', { pins }));

/** The first commit of main also has a prompt with two pins, and one that a later commit pins to a branch. */
const FIRST = {
  [PATH]: promptA('One.'),
  'prompts/two.md': promptText('two', { text: 'One.', pins: { staging: 1, production: 'latest' } }),
  'prompts/moving.md': promptText('moving', { text: 'One.' }),
};
const MOVING = { 'prompts/moving.md': promptText('moving', { text: 'Two.', pins: { staging: 'git:release' } }) };

const HISTORIES: Histories = {
  main: [FIRST, { [PATH]: promptA('Two.'), ...MOVING }, { [PATH]: promptA('Three.') }],
  'tags/v1': [FIRST],
  release: [FIRST],
  plain: [...toStates(promptA('One.'), promptA('Two.')), { 'README.md': 'Prompts.' }, ...toStates(promptA('Three.'))],
  side: toStates(promptA('One.'), promptA('Draft.'), promptA('Two.')),
  merged: [...toStates(promptA('One.')), { 'README.md': 'Prompts.' }, { [PATH]: promptA('Two.'), merge: 'side' }],
  invalid: toStates(promptA('One.'), '---\nid: [\n---\n', promptA('Two.')),
  empty: [{ 'README.md': 'Prompts.' }],

  defaults: [
    { ...config(`${LANGFUSE}defaults: { pins: { staging: latest } }\n`), [PATH]: bare('One.') },
    { [PATH]: bare('Two.') },
    config(DEFAULTS),
  ],
  patterns: [{ ...config(LANGFUSE), [PATH]: bare('One.') }, { [PATH]: bare('Two.') }, config(ALL_FILES)],
  'named after a move': [
    { ...config(LANGFUSE), [PATH]: bare(makeLongText('One')) },
    { [PATH]: null, [DEEP]: `---\nid: a\n---\n${makeLongText('Two')}\n` },
  ],
  'returned by path': [{ ...config(LANGFUSE), [PATH]: bare('One.') }, { [PATH]: null }, { [PATH]: bare('Two.') }],
  rejected: [{ ...config(LANGFUSE), [PATH]: '---\nid: "new"\npins: { Prod: 1 }\n---\nOne.\n' }],
  'tags/other-patterns': [{ ...config(ALL_FILES), [PATH]: bare('One.') }],
  'pinned patterns': [
    { ...config(LANGFUSE), [PATH]: '---\nid: prompts/a\npins: { staging: "git:other-patterns" }\n---\nTwo.\n' },
  ],

  renamed: [...toStates(promptA('One.')), { [PATH]: null, [B]: promptA('One.') }, { [B]: promptA('Two.') }],
  'edited move': [
    ...toStates(longA('One'), longA('Two')),
    { [PATH]: null, [DEEP]: longA('Two').replace('Two 0', 'Edited 0') },
  ],
  'several moves': [...toStates(longA('One')), { [PATH]: null, [B]: longA('Two') }, { [B]: null, [C]: longA('Three') }],
  swapped: [
    ...toStates(longA('A')),
    { [B]: promptText('b', { text: makeLongText('B') }) },
    { [PATH]: promptText('b', { text: makeLongText('B') }), [B]: longA('A new') },
  ],
  returned: [...toStates(promptA('One.')), { [PATH]: null }, ...toStates(promptA('Two.'), promptA('Three.'))],
  'returned elsewhere': [
    ...toStates(promptA('One.')),
    { [PATH]: null },
    { [B]: promptA('Two.') },
    { [B]: promptA('Three.') },
  ],
  'other deleted': [{ [B]: promptText('b') }, { [B]: null, [PATH]: promptA('One.') }],
  'of another prompt': toStates(promptText('b', { text: 'Theirs.' }), promptA('One.'), promptA('Two.')),
  'of a chat': toStates(promptA('# user\n\nHello', { type: 'chat' }), promptA('One.'), promptA('Two.')),

  ...Object.fromEntries(PINS.map((pin) => [`staging ${pin}`, pinStates({ staging: pin })])),
  ...Object.fromEntries(PINS.map((pin) => [`eu ${pin}`, pinStates({ eu: pin })])),
};

let shared: HistoryRepository | undefined;
/** Makes the repository with all histories once. Each test opens it itself. */
const useHistories = (): HistoryRepository => (shared ??= makeHistories(HISTORIES));

const SETTINGS = 'other_environments: [eu]\nbranch: main\n';

/** Where to begin to read: by default, at the last commit of the history, for the prompt `prm_a`. */
type Start = { readonly id?: string; readonly path?: string; readonly age?: number; readonly settings?: string };

async function readLine(
  name: string,
  { id = 'prm_a', path = PATH, age = 0, settings = SETTINGS }: Start = {},
  limit?: number,
) {
  const { folder, commits } = useHistories();
  const repository = await openPromptRepository(folder, settings);
  return readPromptLine({ id, type: 'text', path }, commits[name]!.at(-1 - age)!, repository, limit);
}

function parseFile(text: string, path = PATH): PromptFile {
  return parsePromptFile(Buffer.from(text), path, { ...LENIENT_SETTINGS, otherEnvironments: ['eu'] }).file!;
}

const listTexts = ({ states }: Line): readonly string[] =>
  states.map(({ file: { content } }) => (content.type === 'text' ? content.text.trim() : content.type).split('\n')[0]!);

/** Returns the texts of the states, and how the line ends. */
const summarize = (line: Line): string => {
  const end = line.isComplete ? 'complete' : line.isCut ? 'cut' : 'incomplete';
  return [...listTexts(line), end].join(', ');
};

describe('the states of a line', () => {
  test('readPromptLine returns the states of a prompt file, newest first, with their commits, dates and paths', async () => {
    const line = await readLine('plain');
    expect(summarize(line)).toBe('Three., Two., One., complete');
    const [first, second, , fourth] = useHistories().commits['plain']!;
    expect(line.states.map(({ commit }) => commit)).toEqual([fourth, second, first]);
    expect(line.states.map(({ time }) => time)).toEqual([FIRST_TIME + 3, FIRST_TIME + 1, FIRST_TIME]);
    expect(line.states[0]?.file).toMatchObject({ id: 'prm_a', path: PATH });
  });

  test('readPromptLine returns one state for a merge, however many commits were merged', async () => {
    const line = await readLine('merged');
    expect(summarize(line)).toBe('Two., One., complete');
    expect(line.states[0]?.commit).toBe(useHistories().commits['merged']!.at(-1));
  });

  /** Rows `title: 'HISTORY | PATH | LINE'`. */
  const lines = {
    'skips a commit at which the prompt file is invalid': 'invalid | a.md | Two., One., complete',
    'returns a complete line without states for a prompt that no commit contains': 'empty | a.md | complete',
    'follows a prompt file through a move that also changes some lines':
      'edited move | deep/b.md | Edited 0, Two 0, One 0, complete',
    'follows a prompt file through several moves that git does not recognize as renames':
      'several moves | c.md | Three 0, Two 0, One 0, complete',
    'starts at the path of the prompt file at the commit, even if the file has a different path now':
      'plain | new.md | Three., Two., One., complete',
    'follows the id of the prompt instead of the path if two prompt files swap paths':
      'swapped | b.md | A new 0, A 0, complete',
    'stops at a deletion and returns an incomplete line if the file was added again at the same path':
      'returned | a.md | Three., Two., incomplete',
    'stops at a deletion and returns an incomplete line if the file was added again at a different path':
      'returned elsewhere | b.md | Three., Two., incomplete',
    'ignores the deletion of a different prompt': 'other deleted | a.md | One., complete',
    'stops at a commit in which the path belongs to a different prompt':
      'of another prompt | a.md | Two., One., complete',
    'stops at a commit in which a chat prompt has the id of the text prompt': 'of a chat | a.md | Two., One., complete',
  };
  test.each(Object.entries(lines))('readPromptLine %s', async (_, row) => {
    const [name = '', path, expected] = row.split(' | ');
    expect(summarize(await readLine(name, { path: `prompts/${path}` }))).toBe(expected);
  });

  test.each<[string, name: string, Start, expected: string]>([
    [
      'readPromptLine returns the line of a file that has the id that used to come from its path',
      'named after a move',
      { id: 'a', path: DEEP },
      'Two 0, One 0, complete',
    ],
    [
      'readPromptLine returns the line of a file that has an id from its path, and was once deleted',
      'returned by path',
      { id: 'a' },
      'Two., incomplete',
    ],
    [
      'readPromptLine returns the line of a file that has a pin and an id that are no longer allowed',
      'rejected',
      { id: 'new', settings: PORTABLE },
      'One., complete',
    ],
  ])('%s', async (_, name, start, expected) => {
    expect(summarize(await readLine(name, { settings: LANGFUSE, ...start }))).toBe(expected);
  });

  test('readPromptLine follows a renamed prompt file', async () => {
    const line = await readLine('renamed', { path: B });
    expect(summarize(line)).toBe('Two., One., One., complete');
    expect(line.states.map(({ file }) => file.path)).toEqual([B, B, PATH]);
  });
});

describe('the configuration of a line', () => {
  test('readPromptLine takes the default pins of all states from the configuration at the given commit', async () => {
    const listPins = async (age: number) => {
      const { states } = await readLine('defaults', { id: 'a', settings: LANGFUSE, age });
      return states.map(({ file }) => file.pins.map(({ environment }) => environment).join());
    };
    expect(await listPins(1)).toEqual(['staging', 'staging']);
    expect(await listPins(0)).toEqual(['staging,eu,x', 'staging,eu,x']);
  });

  test('readPromptLine keeps default pins in a separate list if another configuration manages their environment', async () => {
    const settings = `${LANGFUSE}other_environments: [eu]\n`;
    const [state] = (await readLine('defaults', { id: 'a', settings })).states;
    expect(state?.file).toMatchObject({
      pins: [{ environment: 'staging' }, { environment: 'x' }],
      otherPins: [{ environment: 'eu' }],
    });
  });

  test('readPromptLine derives the ids in all states from the patterns at the given commit', async () => {
    const summaries = [1, 0].flatMap((age) =>
      ['a', 'prompts/a'].map(async (id) => summarize(await readLine('patterns', { id, settings: LANGFUSE, age }))),
    );
    const both = 'Two., One., complete';
    expect(await Promise.all(summaries)).toEqual([both, 'complete', 'complete', both]);
  });

  test('readPromptLine resolves a git pin with the file patterns at the pinned commit', async () => {
    const [state] = (await readLine('pinned patterns', { id: 'prompts/a', settings: LANGFUSE })).states;
    expect(state?.wants.get('staging')).toMatchObject({ kind: 'content', content: { text: 'One.' } });
  });
});

describe('the limits of a line', () => {
  test('readPromptLine returns a cut line if it reaches the limit of states, and a complete line otherwise', async () => {
    const summaries = [1, 2, 3, 4].map(async (limit) => summarize(await readLine('plain', {}, limit)));
    expect(await Promise.all(summaries)).toEqual([
      'Three., cut',
      'Three., Two., cut',
      'Three., Two., One., cut',
      'Three., Two., One., complete',
    ]);
    expect(summarize(await readLine('several moves', { path: C }, 1))).toBe('Three 0, cut');
  });

  test.each([
    ['readPromptLine returns a cut line if it reaches the boundary of a shallow clone', '1', 'Three., cut'],
    [
      'readPromptLine never returns a complete line in a shallow clone, because an older commit may have deleted the file',
      '3',
      'Three., Two., incomplete',
    ],
  ])('%s', async (_, depth, expected) => {
    const clone = cloneOf(useHistories().folder, '--depth', depth, '--branch', 'returned');
    const repository = await openPromptRepository(clone, SETTINGS);
    const line = await readPromptLine({ id: 'prm_a', type: 'text', path: PATH }, repository.head!, repository);
    expect(summarize(line)).toBe(expected);
  });
});

describe('uncommitted edits', () => {
  async function readPlanned(text: string, folder = useHistories().folder, path = PATH): Promise<Line> {
    return readPlannedLine(parseFile(text, path), await openPromptRepository(folder, SETTINGS));
  }

  test('readPlannedLine returns uncommitted edits as the newest state, without a commit or a date', async () => {
    const line = await readPlanned(promptA('Four.'));
    expect(summarize(line)).toBe('Four., Three., Two., One., complete');
    expect(line.states[0]).toMatchObject({ commit: null, time: null, file: { path: PATH } });
  });

  test.each<[string, PromptParts]>([
    ['readPlannedLine returns a separate state for an uncommitted pin', { pins: { staging: 1 } }],
    [
      'readPlannedLine returns a separate state for an uncommitted pin of an environment that another configuration manages',
      { pins: { staging: 'latest', eu: 1 } },
    ],
    ['readPlannedLine returns a separate state for an uncommitted name', { name: 'New' }],
    ['readPlannedLine returns a separate state for uncommitted metadata', { metadata: { model: 'x' } }],
  ])('%s', async (_, parts) => {
    const { states } = await readPlanned(promptA('Three.', parts));
    expect(states.map(({ commit }) => commit === null)).toEqual([true, false, false, false]);
  });

  test('readPlannedLine returns no separate state for a file that differs from HEAD only in comments, path and order of pins', async () => {
    const same = promptText('two', { text: 'One.', pins: { production: 'latest', staging: 1 } });
    const line = await readPlanned(`---\n# A comment\n${same.slice(4)}`, undefined, 'prompts/moved.md');
    expect(line.states.map(({ commit }) => commit)).toEqual([useHistories().commits['main']![0]]);
  });

  test('readPlannedLine returns one state for a new file, and the line is complete unless the clone is shallow', async () => {
    const added = promptText('new', { text: 'One.' });
    expect(summarize(await readPlanned(added))).toBe('One., complete');
    expect(summarize(await readPlanned(added, cloneOf(useHistories().folder)))).toBe('One., incomplete');
  });

  test('In a repository without commits, readPlannedLine returns the file in the work tree as the only state', async () => {
    const folder = makeFolder();
    initRepository(folder);
    expect(summarize(await readPlanned(promptA('One.'), folder))).toBe('One., complete');
  });

  test('If an uncommitted edit is the newest state, a pin to a branch at HEAD asks for nothing', async () => {
    const edited = promptText('moving', { text: 'Three.', pins: { staging: 'git:release' } });
    const { states } = await readPlanned(edited, undefined, 'prompts/moving.md');
    expect(states.slice(0, 2).map(describeWants)).toEqual(['staging: One. at a ref that moves', '']);
  });
});

function describeWant(want: Want): string {
  if (want.kind !== 'content') return want.kind === 'number' ? `${want.number}` : want.id;
  const text = want.content.type === 'text' ? want.content.text.trim().split('\n')[0]! : want.content.type;
  return want.isMoving ? `${text} at a ref that moves` : text;
}

function describeWants({ wants }: LineState): string {
  return [...wants].map(([environment, want]) => `${environment}: ${describeWant(want)}`).join();
}

describe('the wants of a state', () => {
  /** Rows `title: 'HISTORY | want of the newest state | want of an older state'`. */
  const wants = {
    'A pin to latest asks for the content of the commit that contains the pin': 'staging latest | Three. | Two.',
    'A pin to a version number asks for the version with that number': 'staging 7 | 7 | 7',
    'A pin to a version id asks for the version with that id': 'staging version:ver_7 | ver_7 | ver_7',
    'A pin to a git tag asks for the content at the tagged commit, even in older states of the file':
      'staging git:v1 | One. | One.',
    "A pin to a branch asks for the branch's current content in the newest state, and for nothing in older states":
      'staging git:release | One. at a ref that moves | nothing',
    "A pin to a relative ref asks for the ref's current content in the newest state, and for nothing in older states":
      'staging git:HEAD~2 | One. at a ref that moves | nothing',
    'A pin to a ref that git does not know asks for nothing': 'staging git:gone | nothing | nothing',
    'In an environment of another configuration, a pin to latest asks for content': 'eu latest | Three. | Two.',
    'In an environment of another configuration, a pin to a number asks for nothing': 'eu 7 | nothing | nothing',
    'In an environment of another configuration, a pin to an id asks for nothing':
      'eu version:ver_7 | nothing | nothing',
  };
  test.each(Object.entries(wants))('%s', async (_, row) => {
    const [name = '', ...expected] = row.split(' | ');
    const { states } = await readLine(name);
    const [environment] = name.split(' ');
    const found = states.slice(0, 2).map((state) => describeWants(state).replace(`${environment}: `, ''));
    expect(found.map((want) => want || 'nothing')).toEqual(expected);
  });

  test('A pin to a commit id asks for the content at that commit, even if the file had a different path there', async () => {
    const [first] = makeHistories({ main: toStates(longA('One')) }).commits['main']!;
    const pins = { staging: `git:${first}` };
    const moved = { [PATH]: null, [B]: longA('Two', { pins }) };
    const { folder } = makeHistories({ main: [...toStates(longA('One')), moved, { [B]: longA('Three', { pins }) }] });
    const repository = await openPromptRepository(folder, SETTINGS);
    const { states } = await readPromptLine({ id: 'prm_a', type: 'text', path: B }, repository.head!, repository);
    expect(states.slice(0, 2).map(describeWants)).toEqual(['staging: One 0', 'staging: One 0']);
  });
});
