import { expect, test } from 'vitest';
import { showHidden } from '../../../src/text.ts';
import type { ActionRun } from '../../support/action.ts';
import { expectInert } from '../../support/markdown.ts';
import { CONFIG, promptText } from '../../support/prompts.ts';
import { scheduleEvent } from './support.ts';
import { makeTeam, type Team } from './team.ts';

/** Texts with a special meaning for a runner, Markdown, HTML, GitHub or the reader's eye. */
const texts = [
  '::error::gotcha',
  '  ::set-env name=NODE_OPTIONS::--require=./evil.js',
  '##[command]gotcha ##[add-path]x',
  '::stop-commands::token',
  '%0A::error::gotcha%0D',
  '<img src=x onerror=alert(1)><script>alert(1)</script>',
  '``` ~~~ ```` </details> `````',
  '<!-- promptsync --> --> <!--',
  '@octocat @acme/owners',
  'over\u202eride\u2066 zero\u200bwidth tag\u{e0041}\u{e007f} bom\ufeff',
  '${{ secrets.KEY }} $(touch pwned) `touch pwned`',
];

/** Returns a file name that contains the text, except for its slashes. */
const nameOf = (text: string, index: number) => `prompts/${index}-${text.replaceAll('/', '∕')}.md`;
const promptOf = (text: string, index: number, more: string) =>
  promptText(String(index), {
    ...{ key: `${text} ${index}`, name: text, description: text, pins: { [text]: 'latest', staging: 'latest' } },
    metadata: { [text]: text },
    text: `${text}${more}\n\`\`\`\n${text}\n~~~\n</details>\n- ${text}`,
  });
const filesOf = (more: string) =>
  Object.fromEntries(texts.map((text, index) => [nameOf(text, index), promptOf(text, index, more)]));

/** The only address that promptsync may link to. */
const RUN = ['https://github.com/acme/prompts/actions/runs/4711'];

function expectInertRun({ stdout, stderr, summary }: ActionRun, team: Team): void {
  for (const log of [stdout, stderr]) expect(showHidden(log)).toBe(log);
  expectInert(summary, RUN);
  for (const { body } of [...team.github.comments(1), ...team.github.issues()]) expectInert(body, RUN);
}

test('The action shows hostile text from prompt files, file names and commit messages as inert text in every output', async () => {
  const team = await makeTeam(Object.fromEntries(texts.map((_, index) => [String(index), {}])), CONFIG);
  const none = Object.fromEntries(texts.map((_, index) => [`prompts/${index}.md`, null]));
  const first = team.pushMain({ ...none, ...filesOf('') }, texts.join(' '));
  expect((await team.runPush(first)).outputs['failure-reason']).toBe('');
  team.push('change', filesOf(' {{added}}'), texts.join(' '));
  const pull = team.openPull('change');
  const planned = await team.runPull(pull);
  expect(planned.exitCode).toBe(0);
  expectInertRun(planned, team);
  expectInertRun(await team.runPull(pull, { keyless: true }), team);
  const at = { ref: 'refs/heads/main', commit: pull.merge };
  const drifted = await team.run('schedule', scheduleEvent(), at, { inputs: { 'drift-issue': 'true' } });
  expect(drifted.outputs['failure-reason']).toBe('drift');
  expectInertRun(drifted, team);
  expectInertRun(await team.runPush(team.mergePull(pull)), team);
});
