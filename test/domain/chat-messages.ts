import fc from 'fast-check';
import type { ChatMessage } from '../../src/domain/chat.ts';
import { normalizeText } from '../../src/domain/content.ts';

const INDENTS = ['', ' ', '\t', '\u00a0'];
const BACKSLASHES = ['', '\\', '\\\\', '\\\\\\'];
const MARKER_PARTS = [
  ...['{{role "user"}}', '{{role "x"}} ', '{{role "x', "{{role 'x'}}", '{{ role "x"}}', '{{placeholder "h"}}'],
  ...['{{placeholder\t"h"}}', '{{role}}', '{{role user}}', '{{Role "user"}}', '{{role “user”}}', '{{roles "x"}}'],
];
const OTHER_LINES = [
  ...['', '', ' ', 'a', '---', '```', '<<<<<<<x', '{{name}}', 'e\u0301', 'é', 'a\rb', '\u2028', '\u0085'],
];

const lines = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...OTHER_LINES) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...INDENTS), fc.constantFrom(...BACKSLASHES), fc.constantFrom(...MARKER_PARTS))
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);

/** Generates contents that a prompt file can hold, in the form in which promptsync compares them. */
export const contents: fc.Arbitrary<string> = fc
  .array(lines, { maxLength: 5 })
  .map((all) => normalizeText(all.join('\n').replaceAll('\0', '')))
  .filter((content) => !/\r(?=\n|$)/.test(content));

const roles = fc.oneof(
  fc.constantFrom('system', 'user', 'assistant', 'tool', '', 'a b', '"', '\\', '{{name}}', 'history*', 'é'),
  fc.string({ unit: 'binary', maxLength: 4 }).filter((role) => !role.includes('\0')),
);

const placeholderNames = fc.constantFrom('history', 'h', 'A_1', 'examples');

/** Generates the messages of chat prompts that a prompt file can hold. */
export const messageLists: fc.Arbitrary<readonly ChatMessage[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ role: roles, content: contents }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('placeholder' as const), name: placeholderNames }) },
  ),
  { minLength: 1, maxLength: 5 },
);
