import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/command-table.ts';

test('every non-negated flag in the command table has the same name as its attribute in commander', () => {
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
