import type { BundledPrompt } from '../../src/bundle/prompt-bundle.ts';
import type { ChatMessage } from '../../src/domain/chat.ts';
import type { JsonValue } from '../../src/domain/json.ts';

/** The properties of a bundled prompt that most tests do not set. */
type SharedParts = Partial<Pick<BundledPrompt, 'id' | 'version' | 'config'>>;

export function makeTextPrompt(key: string, prompt: string, parts: SharedParts = {}): BundledPrompt {
  return { key, id: 'prm', version: 1, config: {}, ...parts, type: 'text', prompt };
}

export function makeChatPrompt(key: string, prompt: readonly ChatMessage[], parts: SharedParts = {}): BundledPrompt {
  return { key, id: 'prm', version: 1, config: {}, ...parts, type: 'chat', prompt };
}

/** Parses JSON into an object with own properties, even for the key `__proto__`. */
export const HOSTILE_CONFIG = JSON.parse(
  '{ "__proto__": { "__proto__": [1, "x", null, { "a": true }, [], {}] }, "10": 1, "9": -1e21, "a\\"b": "\\\\", "": 0.1 }',
);

/** Nests a value in lists and objects. */
export function nest(levels: number): JsonValue {
  return levels === 0 ? 1 : levels % 2 === 0 ? [nest(levels - 1)] : { a: nest(levels - 1) };
}

const HOSTILE_TEXT =
  'a"b\\c\'d`${e}*/ """ \'\'\' #{f} \u0000\r\n\u2028\u202e\u{e0001}\ud800 ##[error]x\n::warning::y é 😀';

const HOSTILE_KEYS = [
  ...'__proto__ constructor toString class None default await 10 9 a/b a_b a-b a_2f_b a.b A/B'.split(' '),
  ...['a b', "it's", 'say "hi"', 'back\\slash', '`${x}`', '*/', 'é', 'e\u0301', '😀', '\u202e', ' '],
];

/** Prompts whose keys, texts, names and metadata are hard to write in any language. */
export const HOSTILE_PROMPTS: readonly BundledPrompt[] = [
  ...HOSTILE_KEYS.map((key) => makeTextPrompt(key, HOSTILE_TEXT, { id: key })),
  makeTextPrompt('variables', '{{class}} {{__proto__}} {{constructor}} {{é}} {{a-b.c}} {{1}} {{None}}', {
    config: HOSTILE_CONFIG,
  }),
  makeTextPrompt('offline', '', { version: null, config: null }),
  makeTextPrompt('list', '', { config: [1, 'x', [true], { a: null }] }),
  makeTextPrompt('scalar', '', { config: 'x' }),
  makeTextPrompt('deep', '', { config: nest(64) }),
  makeChatPrompt('chat', [
    { role: HOSTILE_TEXT, content: '{{ history }} {{class}}' },
    { type: 'placeholder', name: 'history' },
    { role: '', content: HOSTILE_TEXT },
    { type: 'placeholder', name: 'constructor' },
    { type: 'placeholder', name: 'history' },
  ]),
  makeChatPrompt('empty chat', []),
];
