import { describe, expect, test } from 'vitest';
import { quoteYamlValue } from '../../src/workspace/yaml-line.ts';

/** Returns the corrected line, or null if there is no correction. */
function correct(line: string): string | null {
  const corrected = quoteYamlValue(line);
  return corrected && corrected.start + corrected.value + corrected.end;
}

describe('quoteYamlValue', () => {
  test.each([
    ['quotes a value that contains a colon', 'name: Support: greeting', 'name: "Support: greeting"'],
    ['quotes a value that begins with braces', 'name: {{name}} asks', 'name: "{{name}} asks"'],
    ['quotes a value that begins with a reserved character', '  on: @support', '  on: "@support"'],
    ['keeps a comment outside the quotes', 'name: a: b  # why', 'name: "a: b"  # why'],
    ['adds a missing closing quotation mark', "name: 'Support", "name: 'Support'"],
    ['escapes the quotation marks in a value', 'name: "Hi" she said', 'name: "\\"Hi\\" she said"'],
    ['replaces the single quotes around a value that contains an apostrophe', "name: 'don't'", 'name: "don\'t"'],
    ['leaves a list without a closing bracket unchanged', 'variables: [name, order', null],
    ['leaves a mapping without a closing brace unchanged', 'pins: {staging: latest', null],
    ['quotes the value in a list item', '  - name: a: b', '  - name: "a: b"'],
    ['leaves a valid line unchanged', 'name: Support', null],
    ['leaves an invalid escape sequence unchanged', 'name: "\\q"', null],
    ['leaves a line without a value unchanged', '\tname:', null],
    ['quotes a value of any length', `name: a: ${'b'.repeat(20_000)}`, `name: "a: ${'b'.repeat(20_000)}"`],
  ])('quoteYamlValue %s', (_, line, corrected) => {
    expect(correct(line)).toBe(corrected);
  });
});
