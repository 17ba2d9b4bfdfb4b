import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import package_ from '../package.json' with { type: 'json' };
import { run } from './support/run.ts';

const root = resolve(import.meta.dirname, '..');

const HookShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  language: z.literal('node'),
  entry: z.string(),
  files: z.string(),
  pass_filenames: z.literal(false),
  require_serial: z.literal(true),
});

const hooks = z.array(HookShape).parse(parse(readFileSync(resolve(root, '.pre-commit-hooks.yaml'), 'utf8')));
const hook = (id: string) => hooks.find((one) => one.id === id);

describe('the hook for pre-commit', () => {
  test('is called promptsync-validate, and starts a command that there is', async () => {
    expect(hooks.map(({ id }) => id)).toEqual(['promptsync-validate']);
    const [program, ...words] = hook('promptsync-validate')?.entry.split(' ') ?? [];
    expect(Object.keys(package_.bin)).toContain(program);
    expect(words).toEqual(['validate']);
    expect(await run(root, [...words, '--help'])).toMatchObject({ exitCode: 0 });
  });

  // pre-commit searches with Python's `re`, which reads this pattern alike.
  test.each([
    ['promptsync.yaml', true],
    ['apps/support/promptsync.yaml', true],
    ['prompts/greeting.md', true],
    ['texts/deep/er/greeting.prompt.md', true],
    ['README.md', true],
    ['xpromptsync.yaml', false],
    ['promptsync.yaml.orig', false],
    ['promptsync/yaml', false],
    ['prompts/greeting.md.bak', false],
    ['prompts/greetingmd', false],
    ['src/index.ts', false],
  ])('looks at %s: %s', (path, expected) => {
    expect(new RegExp(hook('promptsync-validate')?.files ?? '^$').test(path)).toBe(expected);
  });

  test('can be built from a clone: what npm calls is there', () => {
    const [, script = ''] = /^node (\S+)$/.exec(package_.scripts.prepare) ?? [];
    expect(existsSync(resolve(root, script))).toBe(true);
  });
});
