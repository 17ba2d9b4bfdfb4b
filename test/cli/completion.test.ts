import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, withCommand } from '../support/cli.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { run } from '../support/run.ts';

/** How to ask each shell, without the user's configuration, which completions it offers for the last word. */
const ASK = {
  bash: {
    options: ['--norc', '--noprofile', '-c'],
    script: `source <(promptsync completion bash)
      COMP_WORDS=(promptsync "$@") COMP_CWORD=$#
      _promptsync promptsync "\${@: -1}"
      printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    options: ['--no-rcs', '-c'],
    script: `autoload -U compinit && compinit -D
      source <(promptsync completion zsh)
      words=(promptsync "$@") CURRENT=$(($# + 1))
      COMP_WORDS=("\${words[@]}") COMP_CWORD=$#
      # zsh itself leaves out what does not match.
      compgen -F _promptsync -- "$words[-1]" | grep -e "^$words[-1]" || true`,
  },
  fish: {
    options: ['--no-config', '-c'],
    script: `promptsync completion fish | source
      complete -C (string join -- ' ' promptsync (string escape -- $argv[1..-2]) $argv[-1])`,
  },
} as const;
type Shell = keyof typeof ASK;

/** Returns the completions that a shell offers for the last of these words. */
function completionsFor(shell: Shell, words: readonly string[]): readonly string[] {
  const folder = makeFolder();
  writeFiles(folder, { 'sync.md': '' });
  const { options, script } = ASK[shell];
  const env = withCommand(childEnvironment({ HOME: folder }));
  const name = shell === 'fish' ? [] : [shell];
  const output = execFileSync(shell, [...options, script, ...name, ...words], { cwd: folder, env, encoding: 'utf8' });
  expect(existsSync(join(folder, 'pwned'))).toBe(false);
  return output.split('\n').filter((line) => line !== '');
}

function isInstalled(shell: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, shell)));
}

describe.each(['bash', 'zsh', 'fish'] as const)('promptsync completes the command line in %s', (shell) => {
  test(`promptsync completion ${shell} prints a script that contains every command name`, async () => {
    const { stdout, stderr, exitCode } = await run('.', ['completion', shell]);
    const { stdout: help } = await run('.', ['--help']);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(/^# Completes promptsync in /m);
    for (const [, name = ''] of help.matchAll(/^ {2}([a-z]+) .*/gm)) expect(stdout).toContain(name);
  });

  test.skipIf(!isInstalled(shell)).each([
    [`${shell} completes the name of a promptsync command`, ['pla'], ['plan']],
    [`${shell} completes a flag of a promptsync command`, ['sync', '--dry'], ['--dry-run']],
    [`${shell} does not suggest flags that belong to other promptsync commands`, ['validate', '--dry'], []],
    [`${shell} completes a flag after an argument that contains a space`, ['promote', 'my key', '--fr'], ['--from']],
    [
      `${shell} completion does not execute a command substitution in the command line`,
      ['promote', '$(touch pwned)', '--fr'],
      ['--from'],
    ],
  ])('%s', (_, words, expected) => {
    expect(completionsFor(shell, words)).toEqual(expected);
  });
});
