import { describe, expect, test } from 'vitest';
import { quoteYamlValue } from '../../src/files/quote-yaml-value.ts';

/** Returns the corrected line, or null. */
function correct(line: string): string | null {
  const corrected = quoteYamlValue(line);
  return corrected && corrected.start + corrected.value + corrected.end;
}

describe('quoteYamlValue', () => {
  test.each([
    ['quoteYamlValue quotes a value that contains a colon', 'name: Support: greeting', 'name: "Support: greeting"'],
    ['quoteYamlValue quotes a value that begins with braces', 'name: {{name}} asks', 'name: "{{name}} asks"'],
    ['quoteYamlValue quotes a value that begins with a reserved character', '  on: @support', '  on: "@support"'],
    ['quoteYamlValue keeps a comment outside the quotes', 'name: a: b  # why', 'name: "a: b"  # why'],
    ['quoteYamlValue closes a quotation mark', "name: 'Support", "name: 'Support'"],
    ['quoteYamlValue quotes quotation marks', 'name: "Hi" she said', 'name: "\\"Hi\\" she said"'],
    ['quoteYamlValue replaces single quotes around an apostrophe', "name: 'don't'", 'name: "don\'t"'],
    ['quoteYamlValue leaves a list without its end alone', 'variables: [name, order', null],
    ['quoteYamlValue leaves a mapping without its end alone', 'pins: {staging: latest', null],
    ['quoteYamlValue corrects an item of a list', '  - name: a: b', '  - name: "a: b"'],
    ['quoteYamlValue leaves a valid line alone', 'name: Support', null],
    ['quoteYamlValue leaves a wrong escape sequence alone', 'name: "\\q"', null],
    ['quoteYamlValue leaves a line without a value alone', '\tname:', null],
    ['quoteYamlValue leaves a long line alone', `name: a: ${'b'.repeat(200)}`, null],
  ])('%s', (_, line, corrected) => {
    expect(correct(line)).toBe(corrected);
  });
});
