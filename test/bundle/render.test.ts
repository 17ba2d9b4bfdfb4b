import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { spawnSync } from 'node:child_process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BUNDLE_FORMATS } from '../../src/bundle/bundle-formats.ts';
import { makeBundle, type BundledPrompt } from '../../src/bundle/prompt-bundle.ts';
import { renderBundle } from '../../src/bundle/render-bundle.ts';
import { BundleShape } from '../../src/bundle/bundle-schema.ts';
import type { JsonValue } from '../../src/domain/json.ts';
import { findHidden } from '../../src/text.ts';
import { messageLists } from '../domain/chat-messages.ts';
import {
  checkPythonTypes,
  hasMypy,
  hasPython,
  compilePython,
  compileTypeScript,
  NO_ERRORS,
} from '../support/compilers.ts';
import { makeWorkspace } from '../support/folder.ts';
import { runs, SEED } from '../support/seed.ts';
import { HOSTILE_PROMPTS, makeChatPrompt, makeTextPrompt } from './support.ts';

const HOSTILE_BUNDLE = makeBundle('prod "x" */ coding=latin-1\u2028', HOSTILE_PROMPTS);

/** Returns what every format must contain for a prompt, in the order of the contract. */
function toEntry({ key: _, ...prompt }: BundledPrompt, variables: readonly string[], placeholders: readonly string[]) {
  const { id, version, type, prompt: content, config } = prompt;
  return { id, version, type, prompt: content, config, variables, placeholders };
}

function parseJson(prompts: readonly BundledPrompt[]) {
  const json = renderBundle(makeBundle('production', prompts), 'json');
  const parsed: { readonly prompts: Readonly<Record<string, JsonValue>> } = JSON.parse(json);
  return { json, parsed };
}

/** Returns the keys of the prompts in the order in which a JSON bundle lists them. */
function listKeys(json: string): readonly unknown[] {
  return [...json.matchAll(/^ {4}("(?:[^"\\]|\\.)*"): \{$/gm)].map(([, key = '']) => JSON.parse(key));
}

describe('a JSON bundle', () => {
  test("a JSON bundle lists each prompt's properties in a fixed order", () => {
    const text = makeTextPrompt('b', 'Hi {{name}} from {{city}}, {{name}}.', {
      id: 'p1',
      version: 7,
      config: { a: [1] },
    });
    const chat = makeChatPrompt('a', [
      { role: 'system', content: 'Hi {{ name }}.' },
      { type: 'placeholder', name: 'history' },
    ]);
    const { json } = parseJson([text, chat]);
    const expected = {
      schema_version: 1,
      environment: 'production',
      prompts: { a: toEntry(chat, ['name'], ['history']), b: toEntry(text, ['name', 'city'], []) },
    };
    expect(json).toBe(`${JSON.stringify(expected, null, 2)}\n`);
  });

  test('a JSON bundle sorts the prompts by the UTF-16 code units of their keys', () => {
    const keys = ['b', 'a/b', 'a', 'B', '10', '9', '😀', '\uffee', 'é', '__proto__'];
    const { json } = parseJson(keys.map((key) => makeTextPrompt(key, 'x')));
    expect(listKeys(json)).toEqual(['10', '9', 'B', '__proto__', 'a', 'a/b', 'b', 'é', '😀', '\uffee']);
  });

  test('a JSON bundle matches its published JSON Schema', () => {
    const schema: object = JSON.parse(readFileSync('schemas/bundle.schema.json', 'utf8'));
    const validate = new Ajv2020({ strict: false }).compile(schema);
    const bundle: unknown = JSON.parse(renderBundle(HOSTILE_BUNDLE, 'json'));
    expect({ valid: validate(bundle), errors: validate.errors }).toEqual({ valid: true, errors: null });
    expect(BundleShape.safeParse(bundle).error?.issues ?? []).toEqual([]);
  });

  test('a JSON bundle parses to exactly the given texts, keys and metadata, whatever they contain', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 40 });
    const bodies = fc.oneof(
      texts.map((text) => makeTextPrompt('', text)),
      messageLists.map((messages) => makeChatPrompt('', messages)),
    );
    const prompts = fc.uniqueArray(fc.tuple(texts, bodies, fc.jsonValue()), { selector: ([key]) => key, maxLength: 5 });
    fc.assert(
      fc.property(prompts, (entries) => {
        const bundled = entries.map(([key, body, config]): BundledPrompt => {
          return { ...body, key, id: key, config: JSON.parse(JSON.stringify(config)) };
        });
        const { prompts: parsed } = parseJson(bundled).parsed;
        const expected = bundled.map(({ key, ...prompt }): [string, object] => [key, prompt]);
        expect(parsed).toMatchObject(Object.fromEntries(expected));
        expect(Object.keys(parsed)).toHaveLength(bundled.length);
      }),
      { numRuns: runs(400), seed: SEED },
    );
  });
});

test.each(BUNDLE_FORMATS)('the format %s hides nothing, gives a runner no command, and sorts the prompts', (format) => {
  const text = renderBundle(HOSTILE_BUNDLE, format);
  expect(findHidden(text)).toEqual([]);
  expect(text).not.toMatch(/##\[|^\s*::|\r/m);
  expect(renderBundle(makeBundle(HOSTILE_BUNDLE.environment, HOSTILE_PROMPTS.toReversed()), format)).toBe(text);
});

describe('a TypeScript bundle', () => {
  /** Writes the bundle and a file that uses it, and compiles both. */
  function compileUse(use: string, prompts: readonly BundledPrompt[] = HOSTILE_PROMPTS, ...options: readonly string[]) {
    const bundle = renderBundle(makeBundle('production', prompts), 'typescript');
    const folder = makeWorkspace({ 'package.json': '{ "type": "module" }', 'prompts.ts': bundle, 'use.ts': use });
    return { folder, compiled: compileTypeScript(folder, 'use.ts', '--types', '', ...options) };
  }

  test('a TypeScript bundle of hostile prompts compiles under the strictest options and contains the same data as the JSON bundle', async () => {
    const strictest = ['isolatedDeclarations', 'declaration', 'exactOptionalPropertyTypes', 'noUncheckedIndexedAccess'];
    const use = "export { prompts } from './prompts.js';";
    const { folder, compiled } = compileUse(use, HOSTILE_PROMPTS, ...strictest.map((option) => `--${option}`));
    expect(compiled).toEqual(NO_ERRORS);
    const { prompts } = await import(pathToFileURL(join(folder, 'prompts.js')).href);
    const { json } = parseJson(HOSTILE_PROMPTS);
    expect(JSON.stringify(prompts)).toBe(JSON.stringify(JSON.parse(json).prompts));
  });

  test('the types of a TypeScript bundle accept valid values, keys and metadata, and reject all others', () => {
    const shapes = (count: number) => Array.from({ length: count }, (_, index) => ({ [`k${index}`]: index }));
    const halves = Array.from({ length: 3000 }, (_, index) => (index < 1500 ? { a: index } : { b: 'x' }));
    const prompts = [
      makeTextPrompt('greeting', 'Hi {{name}}', { config: { model: 'gpt', tools: [{ name: 'a' }, { cost: 1 }] } }),
      makeTextPrompt('plain', 'Hi', { config: { few: shapes(50), many: shapes(51), most: shapes(1500), halves } }),
      makeChatPrompt('agent', [
        { role: 'user', content: '{{question}}' },
        { type: 'placeholder', name: 'history' },
      ]),
    ];
    const accepted = `
      import { environment, prompts, type PromptKey, type PromptMessage, type PromptVariables } from './prompts.js';
      export const label: string = environment;
      export const key: PromptKey = 'greeting';
      export const model: string = prompts.greeting.config.model;
      const mutable: { role: string; content: string }[] = [];
      const history: PromptMessage[] = mutable;
      export const values: PromptVariables['agent'] = { question: 'Why?', history };
      export const none: PromptVariables['plain'] = {};
      export const texts: Record<string, string> = { name: 'Ada' } satisfies PromptVariables['greeting'];
      export const items: ({ role: string; content: string } | { type: 'placeholder'; name: string })[] = prompts.agent.prompt;
      export const version: number | null = prompts[key].version;
      const { few, many, most, halves } = prompts.plain.config;
      export const unknowns: unknown[][] = [many, most];
      const [half] = halves;
      export const value: number | undefined = half !== undefined && 'a' in half ? half.a : undefined;
      export const first = few.map((item) => ('k0' in item ? item.k0 : 0));`;
    const rejected = [
      "export const a: PromptVariables['greeting'] = {};",
      "export const b: PromptVariables['greeting'] = { name: '', x: '' };",
      "export const c: PromptVariables['greeting'] = { name: 1 };",
      "export const d: PromptVariables['plain'] = { x: '' };",
      "export const e: PromptKey = 'greting';",
      'export const f = prompts.plain.config.model;',
      // A long list of different shapes names no types, so its items have no known members.
      'export const g = many[0]?.k0;',
    ];
    const { compiled } = compileUse([accepted, ...rejected].join('\n'), prompts);
    const start = accepted.split('\n').length;
    expect(compiled.printed.match(/(?<=^use\.ts\()\d+(?=,\d+\): error TS)/gm)?.map(Number)).toEqual(
      rejected.map((_, index) => start + index + 1),
    );
  });
});

describe('a Python bundle', () => {
  const writeBundle = (prompts: readonly BundledPrompt[], use = '') =>
    makeWorkspace({ 'prompts.py': renderBundle(makeBundle('production', prompts), 'python'), 'use.py': use });

  test.skipIf(!hasPython)(
    'a Python bundle of hostile prompts compiles and contains the same data as the JSON bundle',
    () => {
      const folder = writeBundle(HOSTILE_PROMPTS);
      expect(compilePython(folder, 'prompts.py')).toEqual(NO_ERRORS);
      const print = 'import json, prompts; print(json.dumps(prompts.PROMPTS))';
      const { stdout } = spawnSync('python3', ['-c', print], { cwd: folder, encoding: 'utf8' });
      expect(JSON.parse(stdout)).toEqual(JSON.parse(parseJson(HOSTILE_PROMPTS).json).prompts);
    },
  );

  test.skipIf(!hasMypy)(
    'a Python bundle of hostile prompts passes mypy --strict, and its types accept valid values only',
    () => {
      const folder = writeBundle(
        [
          ...HOSTILE_PROMPTS,
          makeTextPrompt('support/greeting', 'Hi {{name}}'),
          makeChatPrompt('agent', [{ type: 'placeholder', name: 'history' }]),
        ],
        `from prompts import PROMPTS, ENVIRONMENT, Prompt_agent, Prompt_support_2f_greeting, PromptKey
key: PromptKey = "support/greeting"
text: str = PROMPTS["support/greeting"]["prompt"]
values: Prompt_support_2f_greeting = {"name": ENVIRONMENT}
chat: Prompt_agent = {"history": [{"role": "user", "content": "Hi"}]}
missing: Prompt_support_2f_greeting = {}
unknown: PromptKey = "support/greting"
`,
      );
      const { printed } = checkPythonTypes(folder, 'prompts.py', 'use.py');
      expect(printed.match(/^[^:]+:\d+: error/gm)).toEqual(['use.py:6: error', 'use.py:7: error']);
    },
  );

  test("a Python bundle names each prompt's type after its key, and no two types have the same name", () => {
    const names = (keys: readonly string[]) => {
      const prompts = keys.map((key) => makeTextPrompt(key, ''));
      return renderBundle(makeBundle('x', prompts), 'python').match(/^Prompt_\w* (?==)/gm);
    };
    expect(names(['support/greeting', 'a_b', '😀', 'Ab9'])).toEqual([
      'Prompt_Ab9 ',
      'Prompt_a_5f_b ',
      'Prompt_support_2f_greeting ',
      'Prompt__1f600_ ',
    ]);
    const keys = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', '_', '2', 'f', '/', '😀', 'é') }), {
      minLength: 2,
    });
    fc.assert(
      fc.property(keys, (some) => new Set(names(some)).size === some.length),
      { numRuns: runs(500), seed: SEED },
    );
  });
});
