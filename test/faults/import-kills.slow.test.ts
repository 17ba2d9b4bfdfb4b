import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import { KILLED, runCli, startCli } from '../support/cli.ts';
import { git, makeRepository } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { startTestService } from '../support/service.ts';
import { cover } from './cells.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];

/** Returns the words of an import of prompts. */
function importOf(names: readonly string[]): readonly string[] {
  return ['import', ...names.map((name) => `prm_${name}`), '--environment', 'staging'];
}

const IMPORT = importOf(NAMES);

/** A service with all prompts, as the environment variables of a command name it. */
type Started = { readonly environment: Readonly<Record<string, string>> };

/** Returns a text that is so long that writing a file with it takes several system calls. */
function makeLongText(name: string): string {
  return `Text of ${name}.\n`.repeat(80_000);
}

async function startWithTexts(): Promise<Started> {
  const service = await startTestService(NAMES);
  for (const name of NAMES) {
    const version = service.store.createVersion(`prm_${name}`, { content: makeLongText(name) });
    service.store.setActive(`prm_${name}`, { environment: 'staging', versionId: version?.id ?? '' });
  }
  return service;
}

async function startWithChatPrompts(): Promise<Started> {
  const langfuse = await startLangfuse();
  for (const name of NAMES) {
    const content = makeLongText(name);
    const history = { type: 'placeholder', name: 'history' } as const;
    const messages = [{ role: 'system', content }, history, { role: 'user', content: '{{question}}' }];
    langfuse.store.addVersion(`prm_${name}`, { messages, labels: ['staging'] });
  }
  return langfuse;
}

/** Reads the prompt files with their contents. */
function readPromptFiles(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(join(folder, 'prompts')).filter((name) => name.endsWith('.md'));
  return new Map(paths.map((name) => [name, readFileSync(join(folder, 'prompts', name), 'utf8')]));
}

/** Imports all prompts, and kills the process when `appeared` prompt files have appeared. */
async function importAndKill(folder: string, appeared: number, { environment }: Started): Promise<void> {
  const seen = new Set<string>();
  const { child, ended } = startCli(folder, IMPORT, { environment });
  const watcher = watch(join(folder, 'prompts'), (_, name) => {
    if (name?.endsWith('.md')) seen.add(name);
    if (seen.size >= appeared) child.kill('SIGKILL');
  });
  const { exitCode } = await ended;
  watcher.close();
  expect(exitCode).toBe(KILLED);
}

describe.each([
  { prompts: 'texts of the four-call service', settings: '', start: startWithTexts },
  {
    prompts: 'chat prompts of Langfuse',
    settings: 'service: { provider: langfuse }\n',
    start: startWithChatPrompts,
  },
])('promptsync import of $prompts', ({ prompts, settings, start }) => {
  /** Makes a repository with a folder for prompts, so that the test can watch the folder before the first prompt exists. */
  const makeClone = () => makeRepository({ 'promptsync.yaml': `${CONFIG}${settings}`, 'prompts/README.txt': '' });

  test(`import leaves no incomplete prompt files behind when its process is killed, and a second import writes the missing files (${prompts})`, async () => {
    const service = await start();
    const finished = makeClone();
    expect(await runCli(finished, IMPORT, service)).toMatchObject({ exitCode: 0 });
    const complete = readPromptFiles(finished);
    expect(complete.size).toBe(NAMES.length);
    for (const appeared of cover([1, 2, 3, 4, 5], () => ['one moment'])) {
      const folder = makeClone();
      await importAndKill(folder, appeared, service);
      const written = readPromptFiles(folder);
      expect(written.size).toBeGreaterThan(0);
      expect([...written].filter(([name, text]) => text !== complete.get(name)).map(([name]) => name)).toEqual([]);
      const untracked = git(folder, 'status', '--porcelain').split('\n');
      const expected = /^\?\? prompts\/(?:(?:prm_)?[a-j]\.md|\.promptsync-\w{6}\/)$/;
      expect(untracked.filter((line) => !expected.test(line))).toEqual([]);
      const left = NAMES.filter((name) => !written.has(`${name}.md`) && !written.has(`prm_${name}.md`));
      expect(await runCli(folder, importOf(left), service)).toMatchObject({ exitCode: 0 });
      expect(readPromptFiles(folder)).toEqual(complete);
    }
  });
});
