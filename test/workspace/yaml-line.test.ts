import { expect, test } from 'vitest';
import { quoteYamlValue } from '../../src/workspace/yaml-line.ts';

/** Returns the corrected line, or null if there is no correction. */
function correct(line: string): string | null {
  const corrected = quoteYamlValue(line);
  return corrected && corrected.start + corrected.value + corrected.end;
}

test.each([
  ['quoteYamlValue quotes a value that contains a colon', 'name: Support: greeting', 'name: "Support: greeting"'],
  ['quoteYamlValue quotes a value that begins with braces', 'name: {{name}} asks', 'name: "{{name}} asks"'],
  ['quoteYamlValue quotes a value that begins with a reserved character', '  on: @support', '  on: "@support"'],
  ['quoteYamlValue keeps a comment outside the quotes', 'name: a: b  # why', 'name: "a: b"  # why'],
  ['quoteYamlValue adds a missing closing quotation mark', "name: 'Support", "name: 'Support'"],
  ['quoteYamlValue escapes the quotation marks in a value', 'name: "Hi" she said', 'name: "\\"Hi\\" she said"'],
  [
    'quoteYamlValue replaces the single quotes around a value that contains an apostrophe',
    "name: 'don't'",
    'name: "don\'t"',
  ],
  ['quoteYamlValue leaves a list without a closing bracket unchanged', 'variables: [name, order', null],
  ['quoteYamlValue leaves a mapping without a closing brace unchanged', 'pins: {staging: latest', null],
  ['quoteYamlValue quotes the value in a list item', '  - name: a: b', '  - name: "a: b"'],
  ['quoteYamlValue leaves a valid line unchanged', 'name: Support', null],
  ['quoteYamlValue leaves an invalid escape sequence unchanged', 'name: "\\q"', null],
  ['quoteYamlValue leaves a line without a value unchanged', '\tname:', null],
  ['quoteYamlValue quotes a value of any length', `name: a: ${'b'.repeat(20_000)}`, `name: "a: ${'b'.repeat(20_000)}"`],
])('%s', (_, line, corrected) => {
  expect(correct(line)).toBe(corrected);
});
