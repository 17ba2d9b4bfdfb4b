import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { completeOnTerminal, isInstalled } from '../support/pty.ts';
import { makeStage } from './completing.ts';

const TYPED: readonly (readonly [string, string])[] = [
  ['pla', 'plan '],
  ['plan --format=j', '--format=json '],
  ['promote x --to p', '--to production '],
  ['history my', 'history my\\ key '],
  ['history \\$', 'history \\$\\(touch\\ pwned\\) '],
  ['history "my', 'history "my key" '],
  ['history team:', 'history team:greeting '],
  ['init --dir=my', '--dir=my\\ report/'],
];

// zsh is what has a terminal for both.
describe.skipIf(!isInstalled('zsh'))('on a terminal', () => {
  test.each(TYPED)('bash completes: promptsync %s', (line, expected) => {
    const stage = makeStage();
    expect(completeOnTerminal('bash', `promptsync ${line}`, stage)).toMatch(endingWith(expected));
    expect(existsSync(join(stage.cwd, 'pwned'))).toBe(false);
  });

  test.each(TYPED)('zsh completes: promptsync %s', (line, expected) => {
    const stage = makeStage();
    expect(completeOnTerminal('zsh', `promptsync ${line}`, stage)).toMatch(endingWith(expected));
    expect(existsSync(join(stage.cwd, 'pwned'))).toBe(false);
  });
});

function endingWith(text: string): RegExp {
  return new RegExp(`${text.trimEnd().replaceAll(/[^\w\s]/g, '\\$&')}\\s?$`);
}
