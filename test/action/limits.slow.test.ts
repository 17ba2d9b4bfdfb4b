import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { expectInert } from '../support/markdown.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam } from './team.ts';

/** Their diffs are three times what a summary holds, which has the most room. */
const COUNT = 60;
const names = [...Array(COUNT).keys()].map((index) => `prompt-${String(index).padStart(3, '0')}`);
const RUN = 'https://github.com/acme/prompts/actions/runs/4711';

/** 20 kB with fences and with characters of two to four bytes; every line of it changes. */
function longText(word: string): string {
  const line = `${word} ü € 👩 \`\`\`\n~~~\n`;
  return line.repeat(Math.ceil(20_000 / Buffer.byteLength(line)));
}

test('Changed prompts of 20 kB, far more than there is room for: comment and summary keep to their limits, and are whole in what they hold', async () => {
  const prompts = Object.fromEntries(names.map((name) => [name, { text: longText('old') }]));
  const { github, push, pushMain, openPull, mergePull, runPull, runPush } = await makeTeam(prompts);
  await runPush(pushMain({}));
  const files = names.map((name) => [`prompts/${name}.md`, promptText(name, { text: longText('new') })]);
  push('change', Object.fromEntries(files));
  const pull = openPull('change');
  const { summary, outputs } = await runPull(pull);
  const body = github.comments(1)[0]?.body ?? '';

  expect(body.length).toBeLessThanOrEqual(60_000);
  expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(900 * 1024);
  for (const page of [body, summary]) {
    expectInert(page, [RUN]);
    expect(page).toContain('not fit for approval');
    expect(page).toMatch(/Left out for want of room: \d+ diffs/);
    expect(page.match(/^\| `prompt-\d+` \| `staging: v1 → new version` \|$/gm)).toHaveLength(COUNT);
  }
  expect(summary.match(/^<details>/gm)?.length).toBeGreaterThan(10);
  expect(readFileSync(outputs['report-markdown'] ?? '', 'utf8').match(/^<details>/gm)).toHaveLength(COUNT);

  expect(body).not.toContain('<!-- plan');
  const refused = await runPush(mergePull(pull), { inputs: { 'require-reviewed-plan': 'true' } });
  expect(refused.outputs['failure-reason']).toBe('refused');
  expect(refused.stdout).toContain('has no comment of promptsync with a whole plan');
});
