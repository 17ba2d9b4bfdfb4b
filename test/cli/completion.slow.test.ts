import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, withCommand } from '../support/cli.ts';
import { git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';

/** How to ask each shell, without the user's configuration, which completions it offers for the last word. */
const ASK = {
  bash: {
    options: ['--norc', '--noprofile', '-c'],
    script: `source <("$TOOL" completion bash)
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _promptsync "$1" "\${@: -1}"
      printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    options: ['--no-rcs', '-c'],
    script: `autoload -U compinit && compinit -D
      source <("$TOOL" completion zsh)
      words=("$@") CURRENT=$#
      COMP_WORDS=("\${words[@]}") COMP_CWORD=$(($# - 1))
      # zsh itself removes candidates that do not match. Like zsh, this passes no argument for an empty word.
      compgen -F _promptsync -- \${words[-1]} | grep -e "^$words[-1]" || true`,
  },
  fish: {
    options: ['--no-config', '-c'],
    script: `$TOOL completion fish | source
      complete -C (string join -- ' ' (string escape -- $argv[1..-2]) $argv[-1])`,
  },
} as const;
type Shell = keyof typeof ASK;

const SHELLS = Object.keys(ASK) as Shell[];

/** Returns the completions that a shell offers for the last word of a command line. */
function completionsFor(
  shell: Shell,
  line: readonly string[],
  { folder = makeFolder(), programs = makeFolder() } = {},
): readonly string[] {
  const { options, script } = ASK[shell];
  const variables = withCommand(childEnvironment({ HOME: makeFolder() }));
  const path = variables['PATH'] ?? '';
  const tool = join(path.split(delimiter)[0] ?? '', 'promptsync');
  const env = { ...variables, TOOL: tool, PATH: `${programs}${delimiter}${path}` };
  const name = shell === 'fish' ? [] : [shell];
  const output = execFileSync(shell, [...options, script, ...name, ...line], { cwd: folder, env, encoding: 'utf8' });
  expect(existsSync(join(folder, 'pwned'))).toBe(false);
  return output
    .split('\n')
    .filter((candidate) => candidate !== '')
    .toSorted();
}

function isInstalled(shell: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, shell)));
}

/** Makes a program that leaves a file with the name `pwned` in the folder if it runs. Returns the folder of the program. */
function makeProgram(name: string, folder: string, programs = makeFolder()): string {
  writeFiles(programs, { [name]: `#!/bin/sh\ntouch '${folder}/pwned'\n` });
  chmodSync(join(programs, name), 0o755);
  return programs;
}

/** Makes a repository whose prompt keys and branches have hostile names. */
function makeHostileRepository(): string {
  const hostile = [
    ...['$(touch pwned)', '`touch pwned`', 'a b', '"q', "it's", 'x;touch pwned'],
    ...['a:b', '--help', '~', '*', '\u3164'],
  ];
  const keys = ['support/refund', 'support/größe', ...hostile];
  const folder = makeRepository(workspaceFiles(Object.fromEntries(keys.map((key, index) => [`p${index}`, { key }]))));
  for (const branch of ['feat/one', '$(touch${IFS}pwned)', '`touch${IFS}pwned`', "it's", '"q', 'a;b']) {
    git(folder, 'branch', branch);
  }
  git(folder, 'tag', 'v1.0');
  return folder;
}

describe.each(SHELLS)('promptsync completes the command line in %s', (shell) => {
  test.skipIf(!isInstalled(shell))(
    `${shell} completes commands and flags, and executes nothing that the user typed`,
    () => {
      expect(completionsFor(shell, ['promptsync', 'pla'])).toEqual(['plan']);
      expect(completionsFor(shell, ['promptsync', 'validate', '--dry'])).toEqual([]);
      expect(completionsFor(shell, ['promptsync', 'promote', 'my key', '--fr'])).toEqual(['--from']);
      expect(completionsFor(shell, ['promptsync', 'promote', '$(touch pwned)', '--fr'])).toEqual(['--from']);
    },
  );

  test.skipIf(!isInstalled(shell))(`${shell} offers only keys and branches that need no shell quoting`, () => {
    const folder = makeHostileRepository();
    expect(completionsFor(shell, ['promptsync', 'plan', ''], { folder })).toEqual(['support/größe', 'support/refund']);
    expect(completionsFor(shell, ['promptsync', 'plan', '--base', ''], { folder })).toEqual(
      ['HEAD', 'feat/one', 'main', 'v1.0'].toSorted(),
    );
  });

  test.skipIf(!isInstalled(shell))(
    `${shell} completes the commands and flags of npx promptsync without running a program`,
    () => {
      const folder = makeFolder();
      const programs = makeProgram('npx', folder);
      const complete = (...line: readonly string[]) => completionsFor(shell, line, { folder, programs });
      expect(complete('npx', 'promptsync', 'pla')).toEqual(['plan']);
      expect(complete('npx', '--no-install', 'promptsync', 'pla')).toEqual(['plan']);
      expect(complete('npx', 'promptsync', 'sync', '--dry')).toEqual(['--dry-run']);
      expect(complete('npx', '--no-install', 'promptsync', 'promote', 'my key', '--fr')).toEqual(['--from']);
      expect(complete('npx', 'other', 'pla')).toEqual([]);
    },
  );

  test.skipIf(!isInstalled(shell))(`${shell} completion never runs a promptsync in a relative folder on PATH`, () => {
    const folder = makeRepository(workspaceFiles({ p: { key: 'key' } }));
    makeProgram('promptsync', folder, folder);
    expect(completionsFor(shell, ['promptsync', 'plan', 'k'], { folder, programs: '.' })).toEqual([]);
  });
});

test.skipIf(!isInstalled('fish'))('fish offers folders and files if no prompt key begins with the typed word', () => {
  const folder = makeWorkspace(workspaceFiles({ greeting: { key: 'support/greeting' } }));
  expect(completionsFor('fish', ['promptsync', 'plan', 'prom'], { folder })).toEqual(['prompts/', 'promptsync.yaml']);
  expect(completionsFor('fish', ['promptsync', 'plan', 'supp'], { folder })).toEqual(['support/greeting']);
});
