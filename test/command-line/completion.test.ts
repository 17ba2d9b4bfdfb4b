import { describe, expect, test } from 'vitest';
import { splitLine } from '../../src/command-line/completing/split-line.ts';
import { makeWorkspace } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';

const CONFIG = 'environments: { staging: {}, production: {} }\n';
const files = workspaceFiles({ greeting: { key: 'support/greeting' }, refund: { key: 'support/refund' } }, CONFIG);

/** The lines of an answer, the first of which is its kind. */
async function answerOf(line: string, { shell = 'fish', folder = makeWorkspace(named) } = {}) {
  const { stdout, stderr, exitCode } = await run(folder, ['complete', shell, '--', line, lastOf(line)]);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return stdout.split('\n').slice(0, -1);
}

const named = {
  ...files,
  'prompts/greeting.md': promptText('greeting', { key: 'support/greeting', name: 'Greeting' }),
  'prompts/refund.md': promptText('refund', { key: 'support/refund', name: 'Refund' }),
};

/** What bash says that it replaces: what comes after the last blank, `=`, `:` or quote. */
function lastOf(line: string): string {
  return /[^\s=:'"]*$/.exec(line)?.[0] ?? '';
}

async function valuesOf(line: string): Promise<readonly string[]> {
  return (await answerOf(line)).slice(1).map((one) => one.split('\t')[0] ?? '');
}

describe('a line is split as shells do, and nothing of it is evaluated', () => {
  test.each([
    ['promptsync', [], 'promptsync', 'promptsync'],
    ['promptsync ', [], '', ''],
    ['promptsync plan', [], 'plan', 'plan'],
    ['promptsync  plan\t--only ', ['plan', '--only'], '', ''],
    ['promptsync "a b" c', ['a b'], 'c', 'c'],
    [`promptsync 'a b`, [], 'a b', `'a b`],
    ['promptsync "a \\" \\$b', [], 'a " $b', '"a \\" \\$b'],
    ['promptsync a\\ b', [], 'a b', 'a\\ b'],
    ['promptsync a\\ ', [], 'a ', 'a\\ '],
    ['promptsync a\\', [], 'a', 'a\\'],
    [`promptsync --only='a'"b"c`, [], '--only=abc', `--only='a'"b"c`],
    ['promptsync $(x) `y` * ', ['$(x)', '`y`', '*'], '', ''],
    [' promptsync a', [], 'a', 'a'],
    ['', [], '', ''],
  ])('%j', (line, before, current, raw) => {
    expect(splitLine(line)).toEqual({ before, current, raw });
  });
});

describe('what is offered', () => {
  test('commands with their descriptions, but none that is hidden', async () => {
    const [kind, ...lines] = await answerOf('promptsync ');
    expect(kind).toBe('words');
    expect(lines).toContain('validate\tcheck configuration and prompt files; needs no key');
    expect(lines.filter((line) => line.startsWith('complete\t'))).toEqual([]);
    expect(await valuesOf('promptsync help ')).toEqual(await valuesOf('promptsync '));
  });

  test('of each command the flags that its help lists', async () => {
    const commands = (await valuesOf('promptsync ')).filter((name) => name !== 'help');
    expect(commands.length).toBeGreaterThan(12);
    for (const name of commands) {
      const { stdout } = await run('.', [name, '--help']);
      const listed = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag);
      expect(await valuesOf(`promptsync ${name} --`)).toEqual(listed);
    }
  });

  const KEYS = ['support/greeting', 'support/refund'];
  test.each([
    ['choices', 'plan --format ', ['text', 'json', 'markdown', 'html']],
    ['choices in the word of the flag', 'plan --on-drift=', ['--on-drift=overwrite', '--on-drift=fail']],
    ['choices', 'plan --on-drift ', ['overwrite', 'fail']],
    ['shells', 'completion ', ['bash', 'zsh', 'fish']],
    ['keys', 'plan --only ', KEYS],
    ['keys once more', 'plan --only a --only ', KEYS],
    ['keys', 'promote ', KEYS],
    ['keys in each place of a list', 'promote support/greeting --to production ', KEYS],
    ['keys', 'rollback --dry-run ', KEYS],
    ['keys', 'pull ', KEYS],
    ['keys', 'history -e staging ', KEYS],
    ['keys behind --', 'history -- ', KEYS],
    ['environments', 'promote x --to ', ['staging', 'production']],
    ['environments', 'promote x --from ', ['staging', 'production']],
    ['environments', 'rollback x -e ', ['staging', 'production']],
    ['environments', 'pull --environment=', ['--environment=staging', '--environment=production']],
    ['nothing where the key is there already', 'history x ', []],
    ['nothing for a number', 'rollback x --to ', []],
    ['nothing for a name that is new', 'promote x --branch ', []],
    ['nothing for a command that is not known', 'snyc ', []],
    ['no flags behind --', 'validate -- --', []],
  ])('%s: promptsync %s', async (_, line, expected) => {
    expect(await valuesOf(`promptsync ${line}`)).toEqual(expected);
  });

  test.each([
    ['files', 'plan --config '],
    ['files', 'plan -c '],
    ['files', 'plan --output=x'],
    ['files', 'serve --db '],
    ['files', 'serve --seed='],
    ['folders', 'init --dir '],
    ['folders', 'import x --dir='],
    ['words', 'plan --max-changes '],
  ])('%s by the shell itself: promptsync %s', async (kind, line) => {
    expect(await answerOf(`promptsync ${line}`)).toEqual([kind]);
  });

  test('names of the workspace that --config names, and environments that are pinned where none are listed', async () => {
    const other = {
      'other/a.yaml': 'prompts: ["*.md"]\n',
      'other/a.md': promptText('a', { pins: { live: 1, canary: 2 } }),
    };
    const folder = makeWorkspace({ ...named, ...other });
    expect(await answerOf('promptsync plan -c other/a.yaml --only ', { folder })).toEqual(['words', 'a\ta']);
    expect(await answerOf('promptsync pull --config=other/a.yaml -e ', { folder })).toEqual([
      'words',
      'canary',
      'live',
    ]);
  });

  test.each([
    ['there is no configuration', {}],
    ['the configuration is not valid', { ...named, 'promptsync.yaml': 'environments: [' }],
    ['no file is valid', { 'promptsync.yaml': CONFIG, 'prompts/a.md': '---\nkey: [\n---\n' }],
  ])('no key, and no word of it, where %s', async (_, files) => {
    expect(await answerOf('promptsync history ', { folder: makeWorkspace(files) })).toEqual(['words']);
  });
});

describe('hostile keys', () => {
  const keys = [
    '$(touch pwned)',
    '`touch pwned`',
    "it's",
    '; touch pwned',
    '*',
    '~',
    'a b',
    'a%b',
    '--yes',
    'x\u202ey',
    '-',
  ];
  const folderOf = () => {
    const prompts = keys.map((key, index) => [`p${index}`, { key, name: 'N\u202e' }] as const);
    return makeWorkspace(workspaceFiles(Object.fromEntries(prompts)));
  };

  test('are quoted for bash, and left out where they would be read as a flag or cannot be seen', async () => {
    const lines = await answerOf('promptsync history ', { shell: 'bash', folder: folderOf() });
    expect(lines).toEqual([
      ...['words', '\\$\\(touch\\ pwned\\)', '\\`touch\\ pwned\\`', "it\\'s", '\\;\\ touch\\ pwned', '\\*', '\\~'],
      ...['a\\ b', 'a%b'],
    ]);
  });

  test.each(['"', "'"])(
    'are left out behind a %s that is open, where they could end it or be evaluated',
    async (quote) => {
      const lines = await answerOf(`promptsync history ${quote}`, { shell: 'bash', folder: folderOf() });
      expect(lines).toEqual(['words', 'a b', 'a%b']);
    },
  );

  test('are told to zsh and fish as they are, which quote them, with a description in which nothing is hidden', async () => {
    const lines = await answerOf('promptsync history ', { shell: 'zsh', folder: folderOf() });
    expect(lines).toEqual(['words', ...keys.slice(0, 8).map((key) => `${key}\tN\\u{202e}`)]);
  });
});

test('bash gets what fits, from where it replaces on', async () => {
  const folder = makeWorkspace(workspaceFiles({ a: { key: 'team:greeting' }, b: { key: 'a=b' } }));
  const answered = (line: string) => answerOf(line, { shell: 'bash', folder });
  expect(await answered('promptsync pla')).toEqual(['words', 'plan']);
  expect(await answered('promptsync plan --format=js')).toEqual(['words', 'json']);
  expect(await answered('promptsync history team:')).toEqual(['words', 'greeting']);
  expect(await answered('promptsync plan --only=a=')).toEqual(['words', 'b']);
  expect(await answered('promptsync history x')).toEqual(['words']);
});
