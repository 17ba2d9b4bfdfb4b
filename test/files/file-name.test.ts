import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileNameOf } from '../../src/files/new-file.ts';

describe('the file of a key', () => {
  test.each([
    ['support/greeting', 'support/greeting.md'],
    ['summary', 'summary.md'],
    ['Größe/日本語/हिन्दी_2.0', 'Größe/日本語/हिन्दी_2.0.md'],
    ['e\u0301', '\u00e9.md'],
    ['first  message: hello!', 'first-message-hello.md'],
    ['a--b', 'a-b.md'],
    ['a..b', 'a.b.md'],
    ['../../etc/passwd', 'etc/passwd.md'],
    ['/etc//passwd/', 'etc/passwd.md'],
    ['C:\\windows\\system32', 'C-windows-system32.md'],
    ['-rf', 'rf.md'],
    ['.hidden/.env', 'hidden/env.md'],
    ['.git/config', 'git/config.md'],
    ['node_modules/x', '_node_modules/x.md'],
    ['Node_Modules', '_Node_Modules.md'],
    ['con', '_con.md'],
    ['AUX.txt/lpt1', '_AUX.txt/_lpt1.md'],
    ['com¹', '_com¹.md'],
    ['console', 'console.md'],
    ['a\u200bb\u202ec\u0000d', 'a-b-c-d.md'],
    ['a\ud800b', 'a-b.md'],
    ['x'.repeat(101), `${'x'.repeat(97)}.md`],
    [`${'ä'.repeat(60)}/x`, `${'ä'.repeat(50)}/x.md`],
    [`${'😀'.repeat(60)}/x`, 'x.md'],
  ])('%j: %s', (key, path) => {
    expect(fileNameOf(key, 'prm_1')).toBe(path);
  });

  test.each([
    ['', 'prm_1', 'prm_1.md'],
    ['..', 'prm_1', 'prm_1.md'],
    ['\u3164/!?', 'prm_1', 'prm_1.md'],
    ['a/'.repeat(300), 'prm_1', 'prm_1.md'],
    ['a'.repeat(1_000_000), 'prm_1', 'prm_1.md'],
    ['!', 'a/b', 'a-b.md'],
    ['!', '..', 'prompt.md'],
  ])('%j with the id %j: %s', (key, id, path) => {
    expect(fileNameOf(key, id)).toBe(path);
  });

  const SAFE = /^[^-.\p{Cc}\p{Cf}\p{Z}\\:*?"<>|][^\p{Cc}\p{Cf}\p{Z}\\:*?"<>|]*$/u;
  const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|^node_modules$|[-.]$/i;
  const isSafe = (segment: string): boolean =>
    SAFE.test(segment) &&
    !RESERVED.test(segment) &&
    segment.normalize('NFC') === segment &&
    Buffer.byteLength(segment) <= 100;

  test('any key gives a path that is safe everywhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (key) => {
        const segments = fileNameOf(key, 'prm_1').split('/');
        expect(segments.filter((segment) => !isSafe(segment))).toEqual([]);
      }),
    );
  });
});
