import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/command-table.ts';

test('every flag name in the command table matches the attribute name used by commander', () => {
  const flags = COMMANDS.flatMap(({ flags }) => Object.entries(flags));
  const wrong = flags.filter(([name, flag]) => !flag.negate && flag.attributeName() !== name);
  expect(wrong.map(([name, flag]) => `${name}: ${flag.flags}`)).toEqual([]);
});

test.each(COMMANDS.map(({ name, flags }) => [name, flags] as const))(
  'no two flags of %s have the same spelling',
  (_, flags) => {
    const typed = Object.values(flags).flatMap(({ long, short }) => [long, short].filter((one) => one !== undefined));
    expect(typed.filter((one, index) => typed.indexOf(one) !== index)).toEqual([]);
  },
);
