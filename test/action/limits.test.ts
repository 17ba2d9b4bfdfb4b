import { expect, test } from 'vitest';
import { promptText } from '../support/prompts.ts';
import { makeTeam } from './team.ts';

const names = [...Array(500).keys()].map((index) => `prompt-${String(index).padStart(3, '0')}`);
/** 20 kB, with fences, characters of two to four bytes, and lines that all change. */
const longText = (word: string) =>
  `${word} ü € 👩 \`\`\`\n~~~\n`.repeat(20_000 / Buffer.byteLength(`${word} ü € 👩 \`\`\`\n~~~\n`));

test('500 changed prompts of 20 kB stay within the limits, whole sections and all', async () => {
  const prompts = Object.fromEntries(names.map((name) => [name, { text: longText('old') }]));
  const { github, push, openPull, runPull } = await makeTeam(prompts);
  const files = names.map((name) => [`prompts/${name}.md`, promptText(name, { text: longText('new') })]);
  push('change', Object.fromEntries(files));
  const ran = await runPull(openPull('change', { repository: 'stranger/prompts' }), { keyless: true });
  expect(ran.exitCode).toBe(0);
  const [comment] = github.comments(1);
  console.log(comment?.body.length, Buffer.byteLength(ran.summary), comment?.body.slice(0, 1500));
});
