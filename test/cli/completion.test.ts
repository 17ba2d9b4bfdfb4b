import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Files, git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

describe('the candidates for completion', () => {
  const files = workspaceFiles({
    greeting: { key: 'support/greeting', pins: { live: 'latest' } },
    refund: { key: 'support/refund', pins: { live: 'latest', beta: 1 } },
  });

  /** Returns the candidates for the last word, and expects no error and no request to the service. */
  async function candidatesFor(folder: string, ...words: readonly string[]): Promise<readonly string[]> {
    const service = await startTestService(['greeting']);
    const { stdout, stderr, exitCode } = await run(folder, ['__complete', ...words], service);
    expect({ stderr, exitCode, requests: service.requests }).toEqual({ stderr: '', exitCode: 0, requests: [] });
    return stdout.split('\n').slice(0, -1);
  }

  test('Completion offers keys, environments, refs and values for each kind of argument', async () => {
    const folder = makeRepository(files);
    git(folder, 'tag', 'v1.0');
    const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
      ['the keys of all prompts for a key argument', ['plan', ''], ['support/greeting', 'support/refund']],
      ['prompt keys for the value of --only', ['plan', '--only', ''], ['support/greeting', 'support/refund']],
      ['the pinned environments for the value of -e', ['pull', '-e', ''], ['live', 'beta']],
      ['refs for the value of --changed-since', ['plan', '--changed-since', ''], ['HEAD', 'main', 'v1.0']],
      ['branches but no tags for the value of --branch', ['promote', '--branch', ''], ['main']],
      [
        'the schema names for the argument of schema',
        ['schema', ''],
        ['config', 'front-matter', 'report', 'bundle', 'doctor'],
      ],
      [
        'flag values if the flag, the equals sign and the value are a single word',
        ['plan', '--on-drift=f'],
        ['--on-drift=overwrite', '--on-drift=fail'],
      ],
      [
        'flag values if bash splits the flag, the equals sign and the value into three words',
        ['plan', '--on-drift', '=', 'f'],
        ['overwrite', 'fail'],
      ],
      ['flag values right after the equals sign', ['plan', '--on-drift', '='], ['overwrite', 'fail']],
      ['nothing for the value of a flag that takes a number', ['rollback', '--to', ''], []],
      ['nothing after an unknown command', ['toString', ''], []],
      ['the keys of all prompts after --orphans', ['status', '--orphans', ''], ['support/greeting', 'support/refund']],
    ];
    for (const [what, words, expected] of rows) {
      expect([what, await candidatesFor(folder, ...words)]).toEqual([what, expected]);
    }
  });

  test('Completion offers environments in the promotion order of the configuration', async () => {
    const config = 'prompts: ["prompts/**/*.md"]\nenvironments:\n  test: {}\n  beta: {}\n  live: {}\n';
    const folder = makeWorkspace(workspaceFiles({ greeting: { pins: { live: 'latest' } } }, config));
    expect(await candidatesFor(folder, 'promote', '--to', '')).toEqual(['test', 'beta', 'live']);
  });

  test('Completion uses the configuration file that -c names', async () => {
    const folder = makeFolder();
    writeFiles(join(folder, 'team'), files);
    expect(await candidatesFor(folder, 'plan', '')).toEqual([]);
    expect(await candidatesFor(folder, 'plan', '-c', 'team/promptsync.yaml', '')).toHaveLength(2);
  });

  test.each<[string, Files, readonly string[]]>([
    ['Completion prints nothing in a folder without a configuration', {}, []],
    ['Completion prints nothing if the configuration is invalid', { ...files, 'promptsync.yaml': 'prompts: [' }, []],
    [
      'Completion ignores invalid prompt files and offers the keys of the valid ones',
      { ...files, 'prompts/greeting.md': '---\n---\n' },
      ['support/refund'],
    ],
  ])('%s', async (_, broken, expected) => {
    const folder = makeWorkspace(broken);
    expect(await candidatesFor(folder, 'plan', '')).toEqual(expected);
    expect(await candidatesFor(folder, 'plan', '--base', '')).toEqual(expected.length === 0 ? [] : ['HEAD']);
  });
});
