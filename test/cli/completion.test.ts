import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, withCommand } from '../support/cli.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { run } from '../support/run.ts';

/** How each shell is asked, with nothing of the user's own, what it would offer for the last of some words. */
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

/** The words that a shell offers for the last of these. */
function offered(shell: Shell, words: readonly string[]): readonly string[] {
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

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  test('is given a script that names every command, and nothing else', async () => {
    const { stdout, stderr, exitCode } = await run('.', ['completion', shell]);
    const { stdout: help } = await run('.', ['--help']);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(/^# Completes promptsync in /m);
    for (const [, name = ''] of help.matchAll(/^ {2}([a-z]+) .*/gm)) expect(stdout).toContain(name);
  });

  test.skipIf(!isInstalled(shell)).each([
    ['a command', ['pla'], ['plan']],
    ['a flag', ['sync', '--dry'], ['--dry-run']],
    ['flags of that command alone', ['validate', '--dry'], []],
    ['a flag behind other words', ['promote', 'my key', '--fr'], ['--from']],
    ['nothing of what was typed is run', ['promote', '$(touch pwned)', '--fr'], ['--from']],
  ])('completes %s', (_, words, expected) => {
    expect(offered(shell, words)).toEqual(expected);
  });
});
