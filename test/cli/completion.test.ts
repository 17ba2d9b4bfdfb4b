import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, withCommand } from '../support/cli.ts';
import { type Files, git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

/** How to ask each shell, without the user's configuration, which completions it offers for the last word. */
const ASK = {
  bash: {
    options: ['--norc', '--noprofile', '-c'],
    script: `source <(promptsync completion bash)
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _promptsync "$1" "\${@: -1}"
      printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    options: ['--no-rcs', '-c'],
    script: `autoload -U compinit && compinit -D
      source <(promptsync completion zsh)
      words=("$@") CURRENT=$#
      COMP_WORDS=("\${words[@]}") COMP_CWORD=$(($# - 1))
      # zsh itself leaves out what does not match. Like zsh, pass no argument for an empty word.
      compgen -F _promptsync -- \${words[-1]} | grep -e "^$words[-1]" || true`,
  },
  fish: {
    options: ['--no-config', '-c'],
    script: `promptsync completion fish | source
      complete -C (string join -- ' ' (string escape -- $argv[1..-2]) $argv[-1])`,
  },
} as const;
type Shell = keyof typeof ASK;

const SHELLS = Object.keys(ASK) as Shell[];

/** Returns the completions that a shell offers for the last word of a command line. */
function completionsFor(
  shell: Shell,
  line: readonly string[],
  { folder = makeFolder(), programs = '' } = {},
): readonly string[] {
  const { options, script } = ASK[shell];
  const variables = withCommand(childEnvironment({ HOME: makeFolder() }));
  const env = { ...variables, PATH: `${programs}${delimiter}${variables['PATH'] ?? ''}` };
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

/** A repository in which strangers chose the names of prompts and branches. */
function makeHostileRepository(): string {
  const hostile = [
    '$(touch pwned)',
    '`touch pwned`',
    'a b',
    '"q',
    "it's",
    'x;touch pwned',
    'a:b',
    '--help',
    '~',
    '*',
    '\u3164',
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
  test.skipIf(!isInstalled(shell)).each([
    [`${shell} completes the name of a promptsync command`, ['promptsync', 'pla'], ['plan']],
    [`${shell} completes a flag of a promptsync command`, ['promptsync', 'sync', '--dry'], ['--dry-run']],
    [`${shell} does not suggest flags of other promptsync commands`, ['promptsync', 'validate', '--dry'], []],
    [
      `${shell} completes a flag after an argument that contains a space`,
      ['promptsync', 'promote', 'my key', '--fr'],
      ['--from'],
    ],
    [
      `${shell} completion does not execute a command substitution in the command line`,
      ['promptsync', 'promote', '$(touch pwned)', '--fr'],
      ['--from'],
    ],
  ])('%s', (_, words, expected) => {
    expect(completionsFor(shell, words)).toEqual(expected);
  });

  test.skipIf(!isInstalled(shell))(`${shell} offers only keys and branches that need no quotes in a shell`, () => {
    const folder = makeHostileRepository();
    expect(completionsFor(shell, ['promptsync', 'plan', ''], { folder })).toEqual(['support/größe', 'support/refund']);
    expect(completionsFor(shell, ['promptsync', 'plan', '--base', ''], { folder })).toEqual(
      ['HEAD', 'feat/one', 'main', 'v1.0'].toSorted(),
    );
  });

  test.skipIf(!isInstalled(shell))(`${shell} completes promptsync after npx without an installation`, () => {
    const programs = makeWorkspace({
      // Like npx, runs the program, but only with the flags that forbid an installation and requests.
      npx: '#!/bin/sh\n[ "$1 $2 $3" = "--no --offline promptsync" ] && shift 3 && exec promptsync "$@"\n',
    });
    chmodSync(join(programs, 'npx'), 0o755);
    expect(completionsFor(shell, ['npx', 'promptsync', 'pla'], { programs })).toEqual(['plan']);
    expect(completionsFor(shell, ['npx', '--no-install', 'promptsync', 'pla'], { programs })).toEqual(['plan']);
    expect(completionsFor(shell, ['npx', 'other', 'pla'], { programs })).toEqual([]);
  });
});

test.skipIf(!isInstalled('fish'))('fish offers files if promptsync has no candidates', () => {
  const folder = makeWorkspace({ 'plan.json': '' });
  expect(completionsFor('fish', ['promptsync', 'show', 'pla'], { folder })).toEqual(['plan.json']);
});

describe('the candidates for completion', () => {
  const files = workspaceFiles({
    greeting: { key: 'support/greeting', pins: { live: 'latest' } },
    refund: { key: 'support/refund', pins: { live: 'latest', beta: 1 } },
  });

  /** Returns the candidates for the last word, and expects no error. */
  async function candidatesFor(folder: string, ...words: readonly string[]): Promise<readonly string[]> {
    const { stdout, stderr, exitCode } = await run(folder, ['__complete', ...words]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    return stdout.split('\n').slice(0, -1);
  }

  test.each<[string, readonly string[], readonly string[]]>([
    ['Key arguments complete to the keys of all prompts', ['plan', ''], ['support/greeting', 'support/refund']],
    ['The value of --only completes to keys', ['plan', '--only', ''], ['support/greeting', 'support/refund']],
    ['The value of an environment flag completes to the pinned environments', ['pull', '-e', ''], ['live', 'beta']],
    ['The value of --to completes to environments', ['promote', '--to', ''], ['live', 'beta']],
    ['The value of --changed-since completes to refs', ['plan', '--changed-since', ''], ['HEAD', 'main', 'v1.0']],
    ['The value of --branch completes to branches, not to tags', ['promote', '--branch', ''], ['main']],
    ['Schema names complete as choices', ['schema', ''], ['config', 'front-matter', 'report']],
    [
      'A value after an equals sign completes in a single word',
      ['plan', '--on-drift=f'],
      ['--on-drift=overwrite', '--on-drift=fail'],
    ],
    [
      'A value after an equals sign completes in the three words of bash',
      ['plan', '--on-drift', '=', 'f'],
      ['overwrite', 'fail'],
    ],
    ['An empty value after an equals sign completes in bash', ['plan', '--on-drift', '='], ['overwrite', 'fail']],
    ['The value of a number flag has no candidates', ['rollback', '--to', ''], []],
    ['An unknown command has no candidates', ['toString', ''], []],
    ['import has no candidates, because completion sends no request', ['import', ''], []],
  ])('%s', async (_, words, expected) => {
    const folder = makeRepository(files);
    git(folder, 'tag', 'v1.0');
    expect(await candidatesFor(folder, ...words)).toEqual(expected);
  });

  test('environments complete in the promotion order of the configuration', async () => {
    const config = 'prompts: ["prompts/**/*.md"]\nenvironments:\n  test: {}\n  beta: {}\n  live: {}\n';
    const folder = makeWorkspace(workspaceFiles({ greeting: { pins: { live: 'latest' } } }, config));
    expect(await candidatesFor(folder, 'promote', '--to', '')).toEqual(['test', 'beta', 'live']);
  });

  test('completion uses the configuration file that --config names', async () => {
    const folder = makeFolder();
    writeFiles(join(folder, 'team'), files);
    expect(await candidatesFor(folder, 'plan', '')).toEqual([]);
    expect(await candidatesFor(folder, 'plan', '-c', 'team/promptsync.yaml', '')).toHaveLength(2);
  });

  test.each<[string, Files, readonly string[]]>([
    ['Completion in a folder without a configuration prints nothing', {}, []],
    ['Completion with an invalid configuration prints nothing', { ...files, 'promptsync.yaml': 'prompts: [' }, []],
    [
      'Completion omits invalid prompt files and keeps the others',
      { ...files, 'prompts/greeting.md': '---\n---\n' },
      ['support/refund'],
    ],
  ])('%s', async (_, broken, expected) => {
    const folder = makeWorkspace(broken);
    expect(await candidatesFor(folder, 'plan', '')).toEqual(expected);
    expect(await candidatesFor(folder, 'plan', '--base', '')).toEqual(expected.length === 0 ? [] : ['HEAD']);
  });

  test('completion sends no request to the service', async () => {
    const service = await startTestService(['greeting']);
    const folder = makeWorkspace(files);
    for (const words of [
      ['plan', ''],
      ['promote', '--to', ''],
      ['import', ''],
      ['status', '--orphans', ''],
    ]) {
      await run(folder, ['__complete', ...words], { environment: service.environment });
    }
    expect(service.requests).toEqual([]);
  });
});
