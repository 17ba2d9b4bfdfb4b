import { expect, test } from 'vitest';
import { readPage } from './pages.ts';

const page = readPage('docs/commands.md');

test.each([
  ['schema', '`config`, `front-matter`, `report`'],
  ['completion', '`bash`, `zsh`, `fish`'],
])('what %s can be given is said', (command, choices) => {
  expect(section(command)).toContain(choices);
});

test('what is to be typed stands line by line', () => {
  const typed = [...section('completion').matchAll(/^```text\n([\s\S]*?)^```$/gm)].at(-1)?.[1]?.trim().split('\n');

  expect(typed?.map((line) => line.split(' ')[0])).toEqual(['bash', 'zsh', 'fish']);
});

test('no line of a help becomes a heading', () => {
  expect(outsideFences(page).match(/^# .*$/gm)).toEqual(['# Commands']);
});

function section(command: string): string {
  return new RegExp(`^## promptsync ${command}$([\\s\\S]*?)(?=^## |^<!-- end )`, 'm').exec(page)?.[1] ?? '';
}

function outsideFences(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '');
}
