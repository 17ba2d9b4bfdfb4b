import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { LENIENT_SETTINGS, parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import type { Line, LineState, Want } from '../../src/history/prompt-line.ts';
import type { PromptRepository } from '../../src/history/read-at-commit.ts';
import { readPromptLine, readPlannedLine } from '../../src/history/read-prompt-line.ts';
import { openPromptRepository } from '../support/prompt-repository.ts';
import { countGit } from '../support/count-git.ts';
import {
  cloneOf,
  commitAll,
  commitAllAt,
  type Files,
  git,
  makeFolder,
  makeRepository,
  writeFiles,
} from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';

afterEach(() => vi.unstubAllEnvs());

const PATH = 'prompts/a.md';
const PROMPT = { id: 'prm_a', type: 'text', path: PATH } as const;
/** A text that git does not recognize if most of it is gone. */
const makeLongText = (word: string): string => Array.from({ length: 30 }, (_, line) => `${word} ${line}`).join('\n');

async function openPrompts(folder: string): Promise<PromptRepository> {
  return openPromptRepository(folder, 'other_environments: [eu]\nbranch: main\n');
}

/** Makes a repository whose commits have these files of the prompt, oldest first. A null deletes the file. */
function makeHistory(...commits: readonly (PromptParts | string | null)[]): string {
  const folder = makeRepository({ 'README.md': 'Prompts.' });
  for (const parts of commits) commitPrompt(folder, parts);
  return folder;
}

function commitPrompt(folder: string, parts: PromptParts | string | null, path = PATH): string {
  if (parts === null) rmSync(join(folder, path));
  else writeFiles(folder, { [path]: typeof parts === 'string' ? parts : promptText('a', parts) });
  return commitAll(folder, 'Change the prompt');
}

/** Moves the file of the prompt in one commit. */
function commitMove(folder: string, to: string, parts: PromptParts): string {
  rmSync(join(folder, PATH));
  return commitPrompt(folder, parts, to);
}

async function readLineOf(folder: string, path = PATH, limit?: number): Promise<Line> {
  const repository = await openPrompts(folder);
  return readPromptLine({ ...PROMPT, path }, repository.head!, repository, limit);
}

function parseFile(text: string, path = PATH): PromptFile {
  return parsePromptFile(Buffer.from(text), path, { ...LENIENT_SETTINGS, otherEnvironments: ['eu'] }).file!;
}

const listTexts = ({ states }: Line): readonly string[] =>
  states.map(({ file: { content } }) => (content.type === 'text' ? content.text.trim() : content.type).split('\n')[0]!);

/** Returns the texts of the states, and how the line ends. */
const summarize = (line: Line) => {
  const end = line.isComplete ? 'complete' : line.isCut ? 'cut' : 'incomplete';
  return [...listTexts(line), end];
};

describe('the states of a line', () => {
  test('readPromptLine returns the states of a prompt file, newest first, with their commits, dates and paths', async () => {
    const folder = makeHistory({ text: 'One.' }, { text: 'Two.' });
    commitAll(folder, 'Something else');
    writeFiles(folder, { [PATH]: promptText('a', { text: 'Three.' }) });
    commitAllAt(folder, '2026-02-03T00:00:00Z');
    const line = await readLineOf(folder);
    expect(summarize(line)).toEqual(['Three.', 'Two.', 'One.', 'complete']);
    const commits = ['HEAD', 'HEAD~2', 'HEAD~3'].map((ref) => git(folder, 'rev-parse', ref));
    expect(line.states.map(({ commit }) => commit)).toEqual(commits);
    expect(line.states.map(({ time }) => time)).toEqual([1_770_076_800, 1_767_323_045, 1_767_323_045]);
    expect(line.states[0]?.file).toMatchObject({ id: 'prm_a', path: PATH });
  });

  test('readPromptLine returns one state for a merge, however many commits were merged', async () => {
    const folder = makeHistory({ text: 'One.' });
    git(folder, 'switch', '--quiet', '--create', 'side');
    for (const text of ['Draft.', 'Two.']) commitPrompt(folder, { text });
    git(folder, 'switch', '--quiet', 'main');
    commitAll(folder, 'Something else');
    git(folder, 'merge', '--quiet', '--no-ff', '--no-edit', 'side');
    const line = await readLineOf(folder);
    expect(summarize(line)).toEqual(['Two.', 'One.', 'complete']);
    expect(line.states[0]?.commit).toBe(git(folder, 'rev-parse', 'HEAD'));
  });

  test('readPromptLine skips a commit at which the prompt file is invalid, and continues with older commits', async () => {
    const folder = makeHistory({ text: 'One.' }, '---\nid: [\n---\n', { text: 'Two.' });
    expect(summarize(await readLineOf(folder))).toEqual(['Two.', 'One.', 'complete']);
  });

  test('readPromptLine returns a complete line without states for a prompt that no commit contains', async () => {
    expect(summarize(await readLineOf(makeHistory()))).toEqual(['complete']);
  });
});

describe('the configuration of a line', () => {
  const LANGFUSE = 'service: { provider: langfuse }\n';
  const [OLD, NEW] = [
    'defaults: { pins: { staging: latest } }\n',
    'defaults: { pins: { staging: latest, eu: 1, x: 2 } }\n',
  ];
  const CONFIG_PATH = 'promptsync.yaml';
  const commitFiles = (folder: string, files: Files) => {
    writeFiles(folder, files);
    return commitAll(folder, 'Change');
  };
  const withoutFields = (text: string) => `---\n---\n${text}\n`;
  const location = (id: string, path: string) => ({ id, type: 'text', path }) as const;

  test('readPromptLine takes the default pins of all states from the configuration at the given commit', async () => {
    const folder = makeRepository({ [CONFIG_PATH]: LANGFUSE + OLD, [PATH]: withoutFields('One.') });
    const before = commitFiles(folder, { [PATH]: withoutFields('Two.') });
    const after = commitFiles(folder, { [CONFIG_PATH]: LANGFUSE + NEW });
    const repository = await openPromptRepository(folder, LANGFUSE);
    const listPins = async (commit: string) => {
      const { states } = await readPromptLine(location('a', PATH), commit, repository);
      return states.map(({ file }) => file.pins.map(({ environment }) => environment).join());
    };
    expect(await listPins(before)).toEqual(['staging', 'staging']);
    expect(await listPins(after)).toEqual(['staging,eu,x', 'staging,eu,x']);
  });

  test('readPromptLine keeps default pins in a separate list if another configuration manages their environment', async () => {
    const folder = makeRepository({ [CONFIG_PATH]: LANGFUSE + NEW, [PATH]: withoutFields('One.') });
    const repository = await openPromptRepository(folder, `${LANGFUSE}other_environments: [eu]\n`);
    const [state] = (await readPromptLine(location('a', PATH), repository.head!, repository)).states;
    expect(state?.file).toMatchObject({
      pins: [{ environment: 'staging' }, { environment: 'x' }],
      otherPins: [{ environment: 'eu' }],
    });
  });

  test('readPromptLine derives the ids in all states from the patterns at the given commit', async () => {
    const folder = makeRepository({ [CONFIG_PATH]: LANGFUSE, [PATH]: withoutFields('One.') });
    const before = commitFiles(folder, { [PATH]: withoutFields('Two.') });
    const after = commitFiles(folder, { [CONFIG_PATH]: `${LANGFUSE}prompts: ["**/*.md"]\n` });
    const repository = await openPromptRepository(folder, LANGFUSE);
    const summaries = [before, after].flatMap((commit) =>
      ['a', 'prompts/a'].map(async (id) => summarize(await readPromptLine(location(id, PATH), commit, repository))),
    );
    const both = ['Two.', 'One.', 'complete'];
    expect(await Promise.all(summaries)).toEqual([both, ['complete'], ['complete'], both]);
  });

  test('readPromptLine follows a moved file whose front matter has the id that used to come from its path', async () => {
    const folder = makeRepository({ [CONFIG_PATH]: LANGFUSE, [PATH]: withoutFields(makeLongText('One')) });
    rmSync(join(folder, PATH));
    const text = `---\nid: a\n---\n${makeLongText('Two')}\n`;
    const commit = commitFiles(folder, { 'prompts/deep/b.md': text });
    const repository = await openPromptRepository(folder, LANGFUSE);
    const line = await readPromptLine(location('a', 'prompts/deep/b.md'), commit, repository);
    expect(summarize(line)).toEqual(['Two 0', 'One 0', 'complete']);
  });

  test('readPromptLine returns an incomplete line if a file with an id from its path was once deleted', async () => {
    const folder = makeRepository({ [CONFIG_PATH]: LANGFUSE, [PATH]: withoutFields('One.') });
    rmSync(join(folder, PATH));
    commitAll(folder, 'Delete');
    const commit = commitFiles(folder, { [PATH]: withoutFields('Two.') });
    const repository = await openPromptRepository(folder, LANGFUSE);
    expect((await readPromptLine(location('a', PATH), commit, repository)).isComplete).toBe(false);
  });

  test('readPromptLine accepts a state with a pin and an id that the current configuration would reject', async () => {
    const text = '---\nid: "new"\npins: { Prod: 1 }\n---\nOne.\n';
    const folder = makeRepository({ [CONFIG_PATH]: LANGFUSE, [PATH]: text });
    const repository = await openPromptRepository(folder, `${LANGFUSE}portable_pins: true\n`);
    const line = await readPromptLine(location('new', PATH), repository.head!, repository);
    expect(summarize(line)).toEqual(['One.', 'complete']);
  });

  test('readPromptLine resolves a git pin with the file patterns at the pinned commit', async () => {
    const folder = makeRepository({
      [CONFIG_PATH]: `${LANGFUSE}prompts: ["**/*.md"]\n`,
      [PATH]: withoutFields('One.'),
    });
    git(folder, 'tag', 'v1');
    const text = '---\nid: prompts/a\npins: { staging: "git:v1" }\n---\nTwo.\n';
    const commit = commitFiles(folder, { [CONFIG_PATH]: LANGFUSE, [PATH]: text });
    const repository = await openPromptRepository(folder, LANGFUSE);
    const [state] = (await readPromptLine(location('prompts/a', PATH), commit, repository)).states;
    expect(state?.wants.get('staging')).toMatchObject({ kind: 'content', content: { text: 'One.' } });
  });
});

describe('moved files', () => {
  test('readPromptLine follows a renamed prompt file', async () => {
    const folder = makeHistory({ text: 'One.' });
    git(folder, 'mv', PATH, 'prompts/b.md');
    commitAll(folder, 'Rename the file');
    commitPrompt(folder, { text: 'Two.' }, 'prompts/b.md');
    const line = await readLineOf(folder, 'prompts/b.md');
    expect(summarize(line)).toEqual(['Two.', 'One.', 'One.', 'complete']);
    expect(line.states.map(({ file }) => file.path)).toEqual(['prompts/b.md', 'prompts/b.md', PATH]);
  });

  test.each([
    [
      'readPromptLine follows a prompt file through a move that also changes some lines',
      makeLongText('Two').replace('Two 7', 'Edited'),
    ],
    [
      'readPromptLine follows a prompt file through a move that git does not recognize as a rename',
      makeLongText('Three'),
    ],
  ])('%s', async (_, text) => {
    const folder = makeHistory({ text: makeLongText('One') }, { text: makeLongText('Two') });
    commitMove(folder, 'prompts/deep/b.md', { text });
    expect(summarize(await readLineOf(folder, 'prompts/deep/b.md'))).toEqual([
      text.split('\n')[0],
      'Two 0',
      'One 0',
      'complete',
    ]);
  });

  test('readPromptLine follows a prompt file through several moves that git does not recognize as renames', async () => {
    const folder = makeHistory({ text: makeLongText('One') });
    commitMove(folder, 'prompts/b.md', { text: makeLongText('Two') });
    rmSync(join(folder, 'prompts/b.md'));
    commitPrompt(folder, { text: makeLongText('Three') }, 'prompts/c.md');
    expect(summarize(await readLineOf(folder, 'prompts/c.md'))).toEqual(['Three 0', 'Two 0', 'One 0', 'complete']);
  });

  test('readPromptLine starts at the path of the prompt file at the commit, even if the file has a different path now', async () => {
    const folder = makeHistory({ text: makeLongText('One') }, { text: makeLongText('Two') });
    expect(summarize(await readLineOf(folder, 'prompts/new.md'))).toEqual(['Two 0', 'One 0', 'complete']);
  });

  test('If two prompt files swap paths, readPromptLine follows the id of the prompt instead of the path', async () => {
    const folder = makeHistory({ text: makeLongText('A') });
    commitPrompt(folder, promptText('b', { text: makeLongText('B') }), 'prompts/b.md');
    writeFiles(folder, { [PATH]: promptText('b', { text: makeLongText('B') }) });
    commitPrompt(folder, { text: makeLongText('A new') }, 'prompts/b.md');
    expect(summarize(await readLineOf(folder, 'prompts/b.md'))).toEqual(['A new 0', 'A 0', 'complete']);
  });
});

describe('the end of a line', () => {
  test.each([
    [
      'readPromptLine stops at a deletion and returns an incomplete line if the file was added again at the same path',
      PATH,
    ],
    [
      'readPromptLine stops at a deletion and returns an incomplete line if the file was added again at a different path',
      'prompts/b.md',
    ],
  ])('%s', async (_, path) => {
    const folder = makeHistory({ text: 'One.' }, null);
    commitPrompt(folder, { text: 'Two.' }, path);
    commitPrompt(folder, { text: 'Three.' }, path);
    expect(summarize(await readLineOf(folder, path))).toEqual(['Three.', 'Two.', 'incomplete']);
  });

  test('readPromptLine ignores the deletion of a different prompt', async () => {
    const folder = makeHistory();
    commitPrompt(folder, promptText('b'), 'prompts/b.md');
    rmSync(join(folder, 'prompts/b.md'));
    commitPrompt(folder, { text: 'One.' });
    expect(summarize(await readLineOf(folder))).toEqual(['One.', 'complete']);
  });

  test.each([
    [
      'readPromptLine stops at a commit in which the path belongs to a different prompt',
      promptText('b', { text: 'Theirs.' }),
    ],
    [
      'readPromptLine stops at a commit in which a chat prompt has the id of the text prompt',
      promptText('a', { type: 'chat', text: '# user\n\nHello' }),
    ],
  ])('%s', async (_, other) => {
    const folder = makeHistory(other, { text: 'One.' }, { text: 'Two.' });
    expect(summarize(await readLineOf(folder))).toEqual(['Two.', 'One.', 'complete']);
  });

  test('readPromptLine returns a cut line if it reaches the boundary of a shallow clone', async () => {
    const folder = makeHistory({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
    expect(summarize(await readLineOf(cloneOf(folder)))).toEqual(['Three.', 'cut']);
  });

  test('readPromptLine never returns a complete line in a shallow clone, because an older commit may have deleted the file', async () => {
    const folder = makeHistory({ text: 'One.' }, null, { text: 'Two.' });
    const clone = join(makeFolder(), 'clone');
    git(folder, 'clone', '--quiet', '--depth', '2', `file://${folder}`, clone);
    expect(summarize(await readLineOf(clone))).toEqual(['Two.', 'incomplete']);
  });

  test.each([
    [1, ['Three.', 'cut']],
    [2, ['Three.', 'Two.', 'cut']],
    [3, ['Three.', 'Two.', 'One.', 'cut']],
    [4, ['Three.', 'Two.', 'One.', 'complete']],
  ])(
    'readPromptLine returns a cut line if it reaches the limit of states, and a complete line otherwise (limit: %i)',
    async (limit, expected) => {
      const folder = makeHistory({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
      expect(summarize(await readLineOf(folder, PATH, limit))).toEqual(expected);
    },
  );

  test('readPromptLine returns a cut line if it reaches the limit at a move that git does not recognize as a rename', async () => {
    const folder = makeHistory({ text: makeLongText('One') });
    commitMove(folder, 'prompts/b.md', { text: makeLongText('Two') });
    expect(summarize(await readLineOf(folder, 'prompts/b.md', 1))).toEqual(['Two 0', 'cut']);
  });
});

describe('uncommitted edits', () => {
  async function readPlanned(folder: string, parts: PromptParts | string, limit?: number): Promise<Line> {
    const text = typeof parts === 'string' ? parts : promptText('a', parts);
    return readPlannedLine(parseFile(text), await openPrompts(folder), limit);
  }

  test('readPlannedLine returns uncommitted edits as the newest state, without a commit or a date', async () => {
    const line = await readPlanned(makeHistory({ text: 'One.' }), { text: 'Two.' });
    expect(summarize(line)).toEqual(['Two.', 'One.', 'complete']);
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
    const { states } = await readPlanned(makeHistory({ text: 'One.' }), { text: 'One.', ...parts });
    expect(states.map(({ commit }) => commit === null)).toEqual([true, false]);
  });

  test('readPlannedLine returns no separate state for a file that differs from HEAD only in comments, path and order of pins', async () => {
    const folder = makeHistory({ text: 'One.', pins: { staging: 1, production: 'latest' } });
    const text = `---\n# A comment\n${promptText('a', { text: 'One.', pins: { production: 'latest', staging: 1 } }).slice(4)}`;
    const line = await readPlannedLine(parseFile(text, 'prompts/moved.md'), await openPrompts(folder));
    expect(line.states.map(({ commit }) => commit)).toEqual([git(folder, 'rev-parse', 'HEAD')]);
  });

  test('readPlannedLine returns one state for a new file, and the line is complete unless the clone is shallow', async () => {
    const folder = makeHistory();
    expect(summarize(await readPlanned(folder, { text: 'One.' }))).toEqual(['One.', 'complete']);
    commitAll(folder, 'Something else');
    expect(summarize(await readPlanned(cloneOf(folder), { text: 'One.' }))).toEqual(['One.', 'incomplete']);
  });

  test('In a repository without commits, readPlannedLine returns the file in the work tree as the only state', async () => {
    const folder = makeFolder();
    git(folder, 'init', '--quiet');
    expect(summarize(await readPlanned(folder, { text: 'One.' }))).toEqual(['One.', 'complete']);
  });
});

describe('the wants of a state', () => {
  const describeWant = (want: Want): string => {
    if (want.kind !== 'content') return want.kind === 'number' ? `${want.number}` : want.id;
    const text = want.content.type === 'text' ? want.content.text.trim() : want.content.type;
    return want.isMoving ? `${text} at a ref that moves` : text;
  };
  const listWants = ({ wants }: LineState) =>
    Object.fromEntries([...wants].map(([environment, want]) => [environment, describeWant(want)]));

  /** Makes a repository with a tag and a branch at the first commit, and two states with these pins. */
  async function readWants(pins: NonNullable<PromptParts['pins']>) {
    const folder = makeHistory({ text: 'One.' });
    git(folder, 'tag', 'v1');
    git(folder, 'branch', 'release');
    commitPrompt(folder, { text: 'Two.', pins });
    commitPrompt(folder, { text: 'Three.', pins });
    return (await readLineOf(folder)).states.slice(0, 2).map(listWants);
  }

  test.each<[string, string | number, newest: string | undefined, older: string | undefined]>([
    ['A pin to latest asks for the content of the commit that contains the pin', 'latest', 'Three.', 'Two.'],
    ['A pin to a version number asks for the version with that number', 7, '7', '7'],
    ['A pin to a version id asks for the version with that id', 'version:ver_7', 'ver_7', 'ver_7'],
    [
      'A pin to a git tag asks for the content at the tagged commit, even in older states of the file',
      'git:v1',
      'One.',
      'One.',
    ],
    [
      "A pin to a branch asks for the branch's current content in the newest state, and for nothing in older states",
      'git:release',
      'One. at a ref that moves',
      undefined,
    ],
    [
      "A pin to a relative ref asks for the ref's current content in the newest state, and for nothing in older states",
      'git:HEAD~2',
      'One. at a ref that moves',
      undefined,
    ],
    ['A pin to a ref that git does not know asks for nothing', 'git:gone', undefined, undefined],
  ])('%s', async (_, pin, newest, older) => {
    const wants = await readWants({ staging: pin });
    expect(wants.map(({ staging }) => staging)).toEqual([newest, older]);
  });

  test('A pin to a commit id asks for the content at that commit, even if the file had a different path there', async () => {
    const folder = makeHistory({ text: makeLongText('One') });
    const pins = { staging: `git:${git(folder, 'rev-parse', 'HEAD')}` };
    commitMove(folder, 'prompts/b.md', { text: makeLongText('Two'), pins });
    commitPrompt(folder, { text: makeLongText('Three'), pins }, 'prompts/b.md');
    const { states } = await readLineOf(folder, 'prompts/b.md');
    expect(states.slice(0, 2).map(listWants)).toEqual([
      { staging: makeLongText('One') },
      { staging: makeLongText('One') },
    ]);
  });

  test('In an environment of another configuration, pins to latest or a git ref ask for content, and pins to versions ask for nothing', async () => {
    const listEu = async (pin: string | number) => (await readWants({ eu: pin })).map(({ eu }) => eu);
    expect(await listEu('latest')).toEqual(['Three.', 'Two.']);
    expect(await listEu('git:v1')).toEqual(['One.', 'One.']);
    expect(await listEu(7)).toEqual([undefined, undefined]);
    expect(await listEu('version:ver_7')).toEqual([undefined, undefined]);
  });

  test('If an uncommitted edit is the newest state, a pin to a branch at HEAD asks for nothing', async () => {
    const folder = makeHistory({ text: 'One.' });
    git(folder, 'branch', 'release');
    commitPrompt(folder, { text: 'Two.', pins: { staging: 'git:release' } });
    const edited = parseFile(promptText('a', { text: 'Three.', pins: { staging: 'git:release' } }));
    const { states } = await readPlannedLine(edited, await openPrompts(folder));
    expect(states.slice(0, 2).map(listWants)).toEqual([{ staging: 'One. at a ref that moves' }, {}]);
  });
});

test('readPlannedLine starts as many git processes for 40 prompts as for 4 prompts', async () => {
  const started: (readonly string[])[] = [];
  for (const count of [4, 40]) {
    const ids = Array.from({ length: count }, (_, index) => `p${index}`);
    const write = (text: string) => Object.fromEntries(ids.map((id) => [`prompts/${id}.md`, promptText(id, { text })]));
    const folder = makeRepository(write('One.'));
    for (const text of ['Two.', 'Three.']) {
      writeFiles(folder, write(text));
      commitAll(folder, text);
    }
    const repository = await openPrompts(folder);
    const listCommands = countGit();
    const lines = ids.map((id) => {
      const planned = parseFile(promptText(id, { text: 'Three.' }), `prompts/${id}.md`);
      return readPlannedLine(planned, repository);
    });
    for (const line of await Promise.all(lines))
      expect(summarize(line)).toEqual(['Three.', 'Two.', 'One.', 'complete']);
    started.push(listCommands());
    vi.unstubAllEnvs();
  }
  expect(started[1]).toEqual(started[0]);
  expect(started[0]!.filter((command) => command === 'log')).toHaveLength(1);
});
