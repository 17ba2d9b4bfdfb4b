import { expect } from 'vitest';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { startFrontFor } from '../support/front.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

export const NAMES: readonly string[] = ['billing', 'greeting', 'refund'];

export const pathOf = (name: string): string => `prompts/${name}.md`;

export type Team = Awaited<ReturnType<typeof makeSyncedTeam>>;

/** Makes prompts in a repository, all synced, and a service behind a front that records the requests. */
export async function makeSyncedTeam() {
  const folder = makeRepository(workspaceFiles(Object.fromEntries(NAMES.map((name) => [name, {}]))));
  const service = await startTestService(NAMES);
  const { environment, ...front } = await startFrontFor(service);
  expect(await run(folder, ['sync', '--yes'], { environment })).toMatchObject({ exitCode: 0 });
  front.requests.splice(0);
  return {
    ...{ folder, service },
    run: (...words: readonly string[]) => run(folder, words, { environment }),
    runJson: (...words: readonly string[]) => runJson(folder, words, { environment }),
    write: (name: string, parts: PromptParts) => writeFiles(folder, { [pathOf(name)]: promptText(name, parts) }),
    /** Commits all files. */
    commit: () => commitAll(folder, 'Change'),
    git: (...words: readonly string[]) => git(folder, ...words),
    /** Returns the sorted names of the prompts that were requested since the last call, without duplicates. */
    takePromptNames: () => [...new Set(front.requests.splice(0).map(({ path }) => nameIn(path)))].toSorted(),
  };
}

function nameIn(path: string): string {
  return /prm_([a-z]+)/.exec(path)?.[1] ?? '?';
}
