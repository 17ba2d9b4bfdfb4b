import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KILLED, runCli, startCli } from '../support/cli.ts';
import { git, makeRepository } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { startTestService, type TestService } from '../support/service.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const IMPORT = ['import', ...NAMES.map((name) => `prm_${name}`), '--environment', 'staging'];

/** Starts a service whose texts are so long that writing a file takes several system calls. */
async function startService(): Promise<TestService> {
  const service = await startTestService(NAMES);
  for (const name of NAMES) {
    const version = service.store.createVersion(`prm_${name}`, { content: `Text of ${name}.\n`.repeat(200_000) });
    service.store.setActive(`prm_${name}`, { environment: 'staging', versionId: version?.id ?? '' });
  }
  return service;
}

/** Makes a repository with a folder for prompts, so that the test can watch the folder before the first prompt exists. */
const makeClone = () => makeRepository({ 'promptsync.yaml': CONFIG, 'prompts/README.txt': '' });

/** Reads the prompt files with their contents. */
function readPromptFiles(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(join(folder, 'prompts')).filter((name) => name.endsWith('.md'));
  return new Map(paths.map((name) => [name, readFileSync(join(folder, 'prompts', name), 'utf8')]));
}

/** Imports all prompts, and kills the process when `appeared` prompt files have appeared. */
async function importAndKill(folder: string, appeared: number, { environment }: TestService): Promise<void> {
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

describe('promptsync import', () => {
  test('import leaves no incomplete prompt files behind when its process is killed', async () => {
    const service = await startService();
    const finished = makeClone();
    expect(await runCli(finished, IMPORT, service)).toMatchObject({ exitCode: 0 });
    const complete = readPromptFiles(finished);
    expect(complete.size).toBe(NAMES.length);
    const torn: string[] = [];
    for (const appeared of [1, 2, 3, 4, 5]) {
      const folder = makeClone();
      await importAndKill(folder, appeared, service);
      for (const [name, text] of readPromptFiles(folder)) if (text !== complete.get(name)) torn.push(name);
    }
    expect(torn).toEqual([]);
  });

  test('a second import writes the prompt files that are missing after the first import was killed', async () => {
    const service = await startService();
    const folder = makeClone();
    await importAndKill(folder, 2, service);
    const written = [...readPromptFiles(folder).keys()];
    expect(written.length).toBeGreaterThan(0);
    expect(await runCli(folder, ['validate'])).toMatchObject({ exitCode: 0 });
    const untracked = git(folder, 'status', '--porcelain').split('\n');
    const expected = /^\?\? prompts\/(?:[a-j]\.md|\.promptsync-\w{6}\/)$/;
    expect(untracked.filter((line) => !expected.test(line))).toEqual([]);
    const left = NAMES.filter((name) => !written.includes(`${name}.md`));
    const words = ['import', ...left.map((name) => `prm_${name}`), '--environment', 'staging'];
    expect(await runCli(folder, words, service)).toMatchObject({ exitCode: 0 });
    expect(readPromptFiles(folder).size).toBe(NAMES.length);
  });
});
