import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runAction, runnerCommands, type ActionRun } from '../../support/action.ts';
import type { CliOptions } from '../../support/cli.ts';
import { commitAll, type Files, git, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import { startGitHub, TOKEN, type GitHubDouble, type GitHubOptions } from '../../support/github-api.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../../support/prompts.ts';
import { KEY, startTestService, type TestService } from '../../support/service.ts';
import { pullEvent, pushEvent, type PullOptions } from './support.ts';

/** The current state of a pull request: its head commit and the test merge that GitHub makes. */
export type Pull = { readonly number: number; readonly head: string; readonly merge: string; readonly event: object };

export type RunOptions = {
  readonly inputs?: Readonly<Record<string, string>>;
  readonly environment?: CliOptions['environment'];
  /** The input `fetch-depth` of actions/checkout. 0 means the whole history. */
  readonly depth?: number;
  /** Whether the run has no API key, like runs for forks. */
  readonly keyless?: boolean;
  readonly onOutput?: CliOptions['onOutput'];
  /** Changes the workspace between the checkout and the action. */
  readonly prepare?: (workspace: string) => void;
};

/** A team with a bare remote, pull requests on a GitHub stand-in, and the embedded service. */
export type Team = {
  readonly github: GitHubDouble;
  readonly service: TestService;
  readonly origin: string;
  /** Commits to a branch and pushes it. Creates a missing branch from main. Returns the commit. */
  readonly push: (branch: string, files: Edits, message?: string) => string;
  /** Opens the pull request of a head branch and a base branch, or updates it after a push. */
  readonly openPull: (branch: string, from?: PullOptions) => Pull;
  /** Pushes files to the branch `change`, opens or updates its pull request, and runs the review. */
  readonly review: (files: Edits, options?: RunOptions, from?: PullOptions) => Promise<ActionRun>;
  /** Commits to main, pushes it and returns the commit. */
  readonly pushMain: (files: Edits, message?: string) => string;
  /** Merges a pull request, by default with a merge commit. Returns the new tip of main. */
  readonly mergePull: (pull: Pull, how?: 'merge' | 'squash' | 'rebase') => string;
  /** Merges a pull request that the action opened, and keeps its branch. */
  readonly mergeProposed: (branch: string, how?: 'squash') => string;
  readonly runPull: (pull: Pull, options?: RunOptions) => Promise<ActionRun>;
  /** Runs the action for a push of a commit to main. */
  readonly runPush: (commit: string, options?: RunOptions) => Promise<ActionRun>;
  /** Runs the action for any other event at a commit. */
  readonly run: (name: string, event: object, at: At, options?: RunOptions) => Promise<ActionRun>;
};

/** Maps paths to contents. `null` deletes a file. */
export type Edits = Readonly<Record<string, string | null>>;

/** Returns an edit that gives the prompt `greeting` another text. */
export const greets = (text: string): Edits => ({ 'prompts/greeting.md': promptText('greeting', { text }) });

type At = { readonly ref: string; readonly commit: string };
type Prompts = Readonly<Record<string, PromptParts>>;

export async function makeTeam(prompts: Prompts, config = CONFIG, options: GitHubOptions = {}): Promise<Team> {
  const service = await startTestService(Object.keys(prompts));
  const { origin, desk } = makeRemote(workspaceFiles(prompts, config));
  const tipOf = (branch: string) => git(origin, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
  const github = await startGitHub({ ...options, tipOf });
  /** One name for each pull request, made of its head and base branches. The position gives its number. */
  const names: string[] = [];
  const atMain = (commit: string): string => {
    github.setBranch('main', commit);
    return commit;
  };
  atMain(git(desk, 'rev-parse', 'main'));
  const run: Team['run'] = async (name, event, at, options = {}) =>
    runAt(checkOut(origin, at.commit, options.depth ?? 0), name, event, at, { github, service }, options);
  const push: Team['push'] = (branch, files, message = 'Change') => pushTo(desk, branch, files, message);
  const openPull: Team['openPull'] = (branch, from = {}) => {
    const { into = 'main' } = from;
    const name = `${branch} into ${into}`;
    if (!names.includes(name)) names.push(name);
    const number = names.indexOf(name) + 1;
    const [head, base] = [git(desk, 'rev-parse', branch), git(desk, 'rev-parse', into)];
    const merge = mergeForTry(desk, branch, into, number);
    github.addPull({ number, head, base: into, mergeCommit: merge });
    return { number, head, merge, event: pullEvent(number, head, base, from) };
  };
  const runPull: Team['runPull'] = ({ event, number, merge }, options) =>
    run('pull_request', event, { ref: `refs/pull/${number}/merge`, commit: merge }, options);
  return {
    ...{ github, service, origin, run, push, openPull, runPull },
    review: (files, options, from) => {
      push('change', files);
      return runPull(openPull('change', from), options);
    },
    pushMain: (files, message = 'Change main') => atMain(pushTo(desk, 'main', files, message)),
    mergePull: ({ number, head, merge }, how = 'merge') => {
      const before = git(desk, 'rev-parse', 'main');
      if (how === 'merge') git(desk, 'merge', '--quiet', '--ff-only', merge);
      if (how === 'squash') commitSquashed(desk, head, number);
      if (how === 'rebase') git(desk, 'cherry-pick', '--keep-redundant-commits', `${before}..${head}`);
      git(desk, 'push', '--quiet', 'origin', 'main');
      const commits = git(desk, 'rev-list', `${before}..main`).split('\n');
      github.addPull({ number, head, base: 'main', merged: true, mergeCommit: commits[0]!, commits });
      return atMain(commits[0]!);
    },
    mergeProposed: (branch, how) => {
      const { number, head } = github.pulls().findLast((pull) => pull.branch === branch)!;
      git(desk, 'fetch', '--quiet', 'origin', branch);
      if (how === 'squash') git(desk, 'merge', '--quiet', '--squash', head);
      else git(desk, 'merge', '--quiet', '--no-ff', '--no-commit', head);
      git(desk, 'commit', '--quiet', '--message', `Merge pull request #${number}`);
      git(desk, 'push', '--quiet', 'origin', 'main');
      const mergeCommit = git(desk, 'rev-parse', 'main');
      github.addPull({ number, head, base: 'main', branch, merged: true, mergeCommit });
      return mergeCommit;
    },
    runPush: (commit, options) => {
      const before = git(desk, 'rev-list', '--parents', '--max-count=1', commit).split(' ')[1];
      return run('push', pushEvent(commit, before), { ref: 'refs/heads/main', commit }, options);
    },
  };
}

/** Makes a bare remote and a clone of it. */
function makeRemote(files: Files): { readonly origin: string; readonly desk: string } {
  const folder = makeFolder();
  const [origin, desk] = [join(folder, 'origin.git'), join(folder, 'desk')];
  git(folder, 'init', '--quiet', '--bare', '--initial-branch', 'main', origin);
  git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  git(folder, 'init', '--quiet', '--initial-branch', 'main', desk);
  git(desk, 'remote', 'add', 'origin', origin);
  pushTo(desk, 'main', files, 'First prompts');
  return { origin, desk };
}

function pushTo(desk: string, branch: string, edits: Edits | Files, message: string): string {
  const known = branch === 'main' || git(desk, 'branch', '--list', branch) !== '';
  if (branch !== 'main') git(desk, 'checkout', '--quiet', ...(known ? [branch] : ['-b', branch, 'main']));
  for (const [path, content] of Object.entries(edits)) {
    if (content === null) rmSync(join(desk, path));
    else writeFiles(desk, { [path]: content });
  }
  const commit = commitAll(desk, message);
  git(desk, 'push', '--quiet', '--force', 'origin', branch);
  if (branch !== 'main') git(desk, 'checkout', '--quiet', 'main');
  return commit;
}

function commitSquashed(desk: string, head: string, number: number): void {
  git(desk, 'merge', '--quiet', '--squash', head);
  commitAll(desk, `Change (#${number})`);
}

function mergeForTry(desk: string, branch: string, into: string, number: number): string {
  git(desk, 'checkout', '--quiet', '--detach', into);
  git(desk, 'merge', '--quiet', '--no-ff', '--message', `Merge pull request #${number}`, branch);
  const merge = git(desk, 'rev-parse', 'HEAD');
  git(desk, 'push', '--quiet', '--force', 'origin', `HEAD:refs/pull/${number}/merge`);
  git(desk, 'checkout', '--quiet', 'main');
  return merge;
}

/** Makes a workspace in the same way as actions/checkout. */
export function checkOut(origin: string, commit: string, depth: number): string {
  const workspace = makeFolder();
  initRepository(workspace);
  git(workspace, 'remote', 'add', 'origin', `file://${origin}`);
  const fetch = (...words: readonly string[]) => git(workspace, 'fetch', '--quiet', '--no-tags', ...words);
  if (depth === 0) fetch('origin', '+refs/heads/*:refs/remotes/origin/*', commit);
  else fetch(`--depth=${depth}`, 'origin', commit);
  git(workspace, 'checkout', '--quiet', '--detach', commit);
  return workspace;
}

async function runAt(
  workspace: string,
  eventName: string,
  event: object,
  { ref, commit }: At,
  { github, service }: Pick<Team, 'github' | 'service'>,
  { inputs, environment, keyless = false, prepare, onOutput }: RunOptions,
): Promise<ActionRun> {
  prepare?.(workspace);
  const ran = await runAction(workspace, {
    ...{ eventName, event, onOutput },
    inputs: {
      ...{ 'base-url': service.baseUrl, 'github-token': TOKEN },
      ...(keyless ? {} : { 'api-key': KEY }),
      ...inputs,
    },
    environment: { GITHUB_API_URL: github.apiUrl, GITHUB_REF: ref, GITHUB_SHA: commit, ...environment },
  });
  expectNoSecrets(ran, github);
  return ran;
}

/** Expects secrets only in the mask commands for the runner, and only annotations as other commands. */
function expectNoSecrets({ stdout, stderr, summary, outputs }: ActionRun, github: GitHubDouble): void {
  const log = stdout.replaceAll(/^::add-mask::.*$/gm, '');
  const sent = github.requests.map(({ path, body }) => JSON.stringify([path, body]));
  for (const text of [log, stderr, summary, JSON.stringify(outputs), ...sent]) {
    for (const secret of [KEY, TOKEN]) expect(text).not.toContain(secret);
  }
  expect(runnerCommands(`${log}\n${stderr}`).filter((line) => !/^::(error|warning|notice) /.test(line))).toEqual([]);
}
