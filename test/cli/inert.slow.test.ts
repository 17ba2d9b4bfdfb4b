import { expect, test } from 'vitest';
import { makeRepository, makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, CONFIG, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { commandsIn, HOSTILE, HOSTILE_LINES, INVISIBLE } from '../report/corpus.ts';

// These tests run whole commands on hostile files, names and answers. Nothing in the output may act on a CI log.

const COMMANDS = [
  ...['plan', 'plan --format json', 'status', 'validate', 'sync --yes --allow-dirty'],
  ...['history **', 'history ** --format json'],
];
const IN_ACTIONS = { GITHUB_ACTIONS: 'true' };

type Options = Parameters<typeof run>[2];

/** Runs all commands as in a CI runner. Returns the printed lines that a runner or terminal would act on. */
async function unsafeLines(folder: string, options: Options): Promise<readonly string[]> {
  const outputs: string[] = [];
  for (const line of COMMANDS) {
    const environment = { ...options?.environment, ...IN_ACTIONS };
    const { stdout, stderr } = await run(folder, line.split(' '), { ...options, environment });
    expect(stdout).not.toBe('');
    outputs.push(stdout, stderr);
  }
  return outputs.flatMap((output) => [...commandsIn(output), ...invisibleIn(output)]);
}

/** Returns the lines with invisible characters, except for tabs in diffs. */
function invisibleIn(output: string): readonly string[] {
  return output
    .split('\n')
    .filter((line) => INVISIBLE.test(/^ {6}[-+ ]/.test(line) ? line.replaceAll('\t', ' ') : line));
}

const lines = HOSTILE_LINES.filter(([name]) => name !== 'half a character');

test.each(lines)(
  'promptsync neutralizes hostile text from every prompt file field in its output: %s',
  async (_, text) => {
    const parts = {
      key: text,
      name: text,
      description: text,
      pins: { [text]: 'latest', [`${text}2`]: `version:${text}` },
      metadata: { [text]: text },
      text: `${text}\n${text}`,
    };
    const service = await startTestService(['greeting']);
    expect(await unsafeLines(makeWorkspace(workspaceFiles({ greeting: parts })), service)).toEqual([]);
  },
);

test('promptsync neutralizes hostile file and folder names in its output', async () => {
  const names = lines.map(([, text]) => text).filter((text) => !/[/\0]/.test(text));
  const files = names.flatMap((name, index) => [
    [`prompts/${name}/${name}.md`, promptText(`p${index}`, { pins: { staging: 'git:HEAD' } })],
    [`bad/${name}.md`, 'no front matter'],
  ]);
  const config = { 'promptsync.yaml': CONFIG, 'bad.yaml': 'prompts: ["bad/*"]\n' };
  const folder = makeRepository({ ...config, ...Object.fromEntries(files) });
  const service = await startTestService(names.map((_, index) => `p${index}`));
  expect(await unsafeLines(folder, service)).toEqual([]);
  const { exitCode, stdout } = await run(folder, ['validate', '-c', 'bad.yaml'], { environment: IN_ACTIONS });
  expect({ exitCode, unsafe: [...commandsIn(stdout), ...invisibleIn(stdout)] }).toEqual({ exitCode: 1, unsafe: [] });
});

test('promptsync neutralizes hostile fields of service responses in its output', async () => {
  const texts = Object.values(HOSTILE);
  const front = await startFront({
    answer: ({ path }) => {
      const index = /prm_p(\d+)/.exec(path)?.[1] ?? '0';
      const [id, text] = [`prm_p${index}`, texts[Number(index)]!];
      const version = { id: text, prompt_id: id, version_number: 1, content: text, metadata_: { [text]: text } };
      const prompt = { id, project_id: text, key: text, name: text, description: text };
      const body = JSON.stringify({ ...prompt, latest_version_id: text, active_version: version });
      return { status: 200, body };
    },
  });
  const environment = { PROMPTSYNC_BASE_URL: front.baseUrl, PROMPTSYNC_API_KEY: 'k' };
  const prompts = Object.fromEntries(texts.map((_, index) => [`p${index}`, { description: 'd' }]));
  expect(await unsafeLines(makeWorkspace(workspaceFiles(prompts)), { environment })).toEqual([]);
});

test.each(Object.entries(HOSTILE))(
  'promptsync neutralizes hostile command-line arguments in its output: %s',
  async (_, text) => {
    for (const words of [['plan', '--format', text], ['plan', text], [text], ['plan', '-c', text]]) {
      const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
      const { stdout, stderr, exitCode } = await run(folder, words, { environment: IN_ACTIONS });
      expect(exitCode).toBe(1);
      expect((stdout + stderr).replaceAll('\t', ' ')).not.toMatch(INVISIBLE);
      expect(commandsIn(stdout + stderr)).toEqual([]);
    }
  },
);
