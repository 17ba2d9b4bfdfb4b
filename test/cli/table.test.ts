import { expect, test } from 'vitest';
import { COMMAND_EXAMPLES } from '../../src/cli/command-examples.ts';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { FLAG_GROUPS } from '../../src/cli/flag-groups.ts';
import { makeFolder } from '../support/folder.ts';
import { run } from '../support/run.ts';

test('every non-negated flag in the command table has the same name as its attribute in commander', () => {
  const flags = COMMANDS.flatMap(({ flags }) => Object.entries(flags));
  const wrong = flags.filter(([name, flag]) => !flag.negate && flag.attributeName() !== name);
  expect(wrong.map(([name, flag]) => `${name}: ${flag.flags}`)).toEqual([]);
});

test.each(COMMANDS.map(({ name, flags }) => [name, flags] as const))(
  'no two flags of %s have the same spelling, and its examples use only its flags',
  (name, flags) => {
    const known = Object.values(flags).flatMap(({ long, short }) => [long, short].filter((one) => one !== undefined));
    expect(known.filter((one, index) => known.indexOf(one) !== index)).toEqual([]);
    for (const { line } of COMMAND_EXAMPLES[name]) {
      expect(line).toContain(`promptsync ${name}`);
      const typed = line.split(' ').filter((word) => /^--?[a-z]/.test(word));
      expect(typed.filter((word) => !known.includes(word))).toEqual([]);
    }
  },
);

test('every flag in a help group exists in the command table', () => {
  const names = COMMANDS.flatMap(({ flags }) => Object.values(flags).map((flag) => flag.attributeName()));
  const grouped = Object.values<readonly string[]>(FLAG_GROUPS).flat();
  expect(grouped.filter((name) => !names.includes(name))).toEqual([]);
});

test.each(['help', ...COMMANDS.map(({ name }) => name)])(
  'the help of promptsync %s fits into 80 columns',
  async (name) => {
    const { stdout } = await run(makeFolder(), name === 'help' ? ['help'] : [name, '--help']);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  },
);

test.each([
  ['promptsync suggests its own command if the user types a command of another tool', 'apply', 'Did you mean sync?'],
  ['promptsync explains how to retire a prompt if the user types rm', 'rm', 'git rm prompts/greeting.md'],
])('%s', async (_, name, hint) => {
  for (const words of [
    [name, 'greeting', '--yes'],
    ['help', name],
  ]) {
    const { stdout, stderr, exitCode } = await run(makeFolder(), words);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toContain(`unknown command '${name}'`);
    expect(stderr).toContain(hint);
  }
});

test.each([
  ['production', 'promptsync rollback KEY -e production'],
  ['v7', ''],
  ['$(x)', ''],
])('rollback rejects --to %s because the value is not a version number, and suggests "%s"', async (to, hint) => {
  const { stderr, exitCode } = await run(makeFolder(), ['rollback', 'greeting', '--to', to]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('Expected a version number.');
  expect(/promptsync rollback KEY -e .*/.exec(stderr)?.[0] ?? '').toBe(hint);
});
