import { describe, expect, test } from 'vitest';
import { changeOutside, makeSynced, PATH, pull, settle, source, TEXT, writeSource } from './pulling.ts';

const two = (text: string) => TEXT.replace('Two.', text);
const conflict = (ours: string, theirs: string) => `<<<<<<< ${PATH}\n${ours}\n=======\n${theirs}\n>>>>>>> staging v2`;

describe('a file stays as it is but for the text', () => {
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');
  const commented = `---\n# who owns it\nid: prm_greeting   # never change\n\nkey: 'greeting'\nname: "greeting"\npins: { staging: latest } # soon production\n---\n\n${TEXT}\n`;

  test.each<[string, string]>([
    ['with comments and quotes', commented],
    ['with CRLF', crlf(commented)],
    ['with a byte order mark', `\ufeff${commented}`],
    ['with a byte order mark and CRLF', `\ufeff${crlf(commented)}`],
    ['without a blank line and a final newline', commented.replace('---\n\n', '---\n').replace(/\n$/, '')],
  ])('%s', async (_, before) => {
    const scene = await makeSynced(before);
    changeOutside(scene, { content: two('2.\n2b.') });
    expect((await pull(scene)).exitCode).toBe(0);
    const newline = before.includes('\r\n') ? '\r\n' : '\n';
    expect(source(scene)).toBe(before.replace('Two.', `2.${newline}2b.`));
    await settle(scene);
  });

  test.each<[string, string]>([
    ['with a conflict in LF', commented],
    ['with a conflict in CRLF and a byte order mark', `\ufeff${crlf(commented)}`],
  ])('%s', async (_, before) => {
    const scene = await makeSynced(before);
    changeOutside(scene, { content: two('Theirs.') });
    writeSource(scene, before.replace('Two.', 'Ours.'));
    expect((await pull(scene)).exitCode).toBe(4);
    const both = conflict('Ours.', 'Theirs.');
    expect(source(scene)).toBe(before.replace('Two.', before.includes('\r\n') ? crlf(both) : both));
  });

  test('where the service has CRLF', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: crlf(two('2.')) });
    const before = source(scene);
    expect((await pull(scene)).exitCode).toBe(0);
    expect(source(scene)).toBe(before.replace('Two.', '2.'));
  });
});
