import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeByteReader } from '../../src/files/read-write.ts';
import { makeWorkspace } from '../support/folder.ts';

const LIMIT = 200_000;
const NOT_A_FILE = { reason: 'it is not a regular file' };

describe('the bytes of a file', () => {
  test('are those that are in it, whatever was read before', () => {
    const sizes = fc.array(fc.oneof(fc.nat(300), fc.integer({ min: 65_530, max: 65_540 }), fc.constant(LIMIT)), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(sizes, (all) => {
        const files = all.map((size, index) => [`${index}`, Buffer.alloc(size, index + 1)] as const);
        const root = makeWorkspace(Object.fromEntries(files));
        const read = makeByteReader(LIMIT);
        for (const [name, bytes] of files) expect(Buffer.from(read(join(root, name)) as Uint8Array)).toEqual(bytes);
      }),
      { numRuns: 20 },
    );
  });

  test('are not read where there are too many', () => {
    const root = makeWorkspace({ a: Buffer.alloc(LIMIT + 1) });
    expect(makeByteReader(LIMIT)(join(root, 'a'))).toEqual({ tooLarge: LIMIT + 1 });
  });

  test('are those of a file alone: a pipe is not waited for, a folder not opened', () => {
    const root = makeWorkspace({ 'folder/a': '' });
    const read = makeByteReader(LIMIT);
    expect(read(join(root, 'folder'))).toEqual(NOT_A_FILE);
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(read(join(root, 'pipe'))).toEqual(NOT_A_FILE);
  });

  test('are not those that a link leads to', () => {
    const root = makeWorkspace({ a: 'x' });
    symlinkSync('a', join(root, 'link'));
    expect(() => makeByteReader(LIMIT)(join(root, 'link'))).toThrow('ELOOP');
    expect(() => makeByteReader(LIMIT)(join(root, 'none'))).toThrow('ENOENT');
  });
});
