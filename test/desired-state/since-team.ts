import { expect } from 'vitest';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, runJson, type Ran, type Reported } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

export const NAMES: readonly string[] = ['billing', 'greeting', 'refund'];

export const pathOf = (name: string): string => `prompts/${name}.md`;

export type Team = {
  readonly folder: string;
  readonly service: TestService;
  readonly run: (...words: readonly string[]) => Promise<Ran>;
  readonly runJson: (...words: readonly string[]) => Promise<Reported>;
  readonly write: (name: string, parts: PromptParts) => void;
  /** Commits all files. */
  readonly commit: () => string;
  readonly git: (...words: readonly string[]) => string;
  /** Returns the sorted names of the prompts that were requested since the last call, without duplicates. */
  readonly takePromptNames: () => readonly string[];
  /** Returns the requests since the last call. */
  readonly takeRequests: () => readonly string[];
};

/** Makes prompts in a repository, all synced, and a service behind a front that records the requests. */
export async function makeSyncedTeam(): Promise<Team> {
  const folder = makeRepository(workspaceFiles(Object.fromEntries(NAMES.map((name) => [name, {}]))));
  const service = await startTestService(NAMES);
  const front = await startFront({ target: service.baseUrl });
  const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
  expect(await run(folder, ['sync', '--yes'], { environment })).toMatchObject({ exitCode: 0 });
  front.requests.splice(0);
  return {
    ...{ folder, service },
    run: (...words) => run(folder, words, { environment }),
    runJson: (...words) => runJson(folder, words, { environment }),
    write: (name, parts) => writeFiles(folder, { [pathOf(name)]: promptText(name, parts) }),
    commit: () => commitAll(folder, 'Change'),
    git: (...words) => git(folder, ...words),
    takePromptNames: () => [...new Set(front.requests.splice(0).map(({ path }) => nameIn(path)))].toSorted(),
    takeRequests: () => front.requests.splice(0).map(({ method, path }) => `${method} ${path}`),
  };
}

function nameIn(path: string): string {
  return /prm_([a-z]+)/.exec(path)?.[1] ?? '?';
}
