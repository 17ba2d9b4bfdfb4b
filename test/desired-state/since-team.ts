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
  /** The variables that point a command at the proxy in front of the service. */
  readonly environment: Readonly<Record<string, string>>;
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

/** Prompts in a repository, a service that knows them, and a front before it that can refuse. Nothing is synced yet. */
export async function makeTeam(names: readonly string[] = NAMES, config?: string): Promise<Team> {
  const folder = makeRepository(workspaceFiles(Object.fromEntries(names.map((name) => [name, {}])), config));
  const service = await startTestService(names);
  const front = await startFront({ target: service.baseUrl });
  const environment = { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
  return {
    ...{ folder, service, environment },
    run: (...words) => run(folder, words, { environment }),
    runJson: (...words) => runJson(folder, words, { environment }),
    write: (name, parts) => writeFiles(folder, { [pathOf(name)]: promptText(name, parts) }),
    commit: () => commitAll(folder, 'Change'),
    git: (...words) => git(folder, ...words),
    takePromptNames: () => [...new Set(front.requests.splice(0).map(({ path }) => nameIn(path)))].toSorted(),
    takeRequests: () => front.requests.splice(0).map(({ method, path }) => `${method} ${path}`),
  };
}

/** The same, after a sync that has completed all of them. */
export async function makeSyncedTeam(names?: readonly string[], config?: string): Promise<Team> {
  const team = await makeTeam(names, config);
  expect(await team.run('sync', '--yes')).toMatchObject({ exitCode: 0 });
  team.takeRequests();
  return team;
}

function nameIn(path: string): string {
  return /prm_([a-z]+)/.exec(path)?.[1] ?? '?';
}
