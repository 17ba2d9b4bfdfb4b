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

describe('the pre-commit hook', () => {
  test('the only pre-commit hook is promptsync-validate, and it runs promptsync validate', async () => {
    expect(hooks.map(({ id }) => id)).toEqual(['promptsync-validate']);
    const [program, ...words] = hook('promptsync-validate')?.entry.split(' ') ?? [];
    expect(Object.keys(package_.bin)).toContain(program);
    expect(words).toEqual(['validate']);
    expect(await run(root, [...words, '--help'])).toMatchObject({ exitCode: 0 });
  });

  test('the file pattern of the pre-commit hook matches configurations and Markdown files', () => {
    const pattern = new RegExp(hook('promptsync-validate')?.files ?? '^$');
    const matched = [
      'promptsync.yaml',
      'apps/support/promptsync.yaml',
      'texts/deep/er/greeting.prompt.md',
      'README.md',
    ];
    const unmatched = ['xpromptsync.yaml', 'promptsync.yaml.orig', 'promptsync/yaml', 'a.md.bak', 'prompts/greetingmd'];
    expect([...matched, ...unmatched].filter((path) => pattern.test(path))).toEqual(matched);
  });

  test('the prepare script in package.json runs a file that exists', () => {
    const [, script = ''] = /^node (\S+)$/.exec(package_.scripts.prepare) ?? [];
    expect(existsSync(resolve(root, script))).toBe(true);
  });
});
