import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runAction, runnerCommands, type ActionRun } from '../../support/action.ts';
import {
  commitAll,
  configure,
  git,
  initRepository,
  makeFolder,
  makeRepository,
  writeFiles,
} from '../../support/folder.ts';
import { startGitHub, TOKEN, type GitHubDouble, type GitHubOptions } from '../../support/github-api.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../../support/prompts.ts';
import { KEY, startTestService } from '../../support/service.ts';
import { runStep, type StepOptions } from './run-step.ts';
import { pullEvent, pushEvent, type PullOptions } from './support.ts';

/** The current state of a pull request: its head commit and the test merge that GitHub makes. */
export type Pull = { readonly number: number; readonly head: string; readonly merge: string; readonly event: object };

export type RunOptions = {
  readonly inputs?: Readonly<Record<string, string>>;
  readonly environment?: StepOptions['environment'];
  /** The input `fetch-depth` of actions/checkout. 0 means the whole history. */
  readonly depth?: number;
  /** Whether the run has no API key, like runs for forks. */
  readonly keyless?: boolean;
  readonly onSignal?: StepOptions['onSignal'];
  /** Whether a child process runs the committed bundle, as on a runner. By default, the sources run in this process. */
  readonly bundled?: boolean;
  /** Changes the workspace between the checkout and the action. */
  readonly prepare?: (workspace: string) => void;
};

export type Team = Awaited<ReturnType<typeof makeTeam>>;

/** Maps paths to contents. `null` deletes a file. */
export type Edits = Readonly<Record<string, string | null>>;

/** Returns an edit that gives the prompt `greeting` another text. */
export const greets = (text: string): Edits => ({ 'prompts/greeting.md': promptText('greeting', { text }) });

type At = { readonly ref: string; readonly commit: string };
type Prompts = Readonly<Record<string, PromptParts>>;

/** Makes a team with a remote, pull requests on a GitHub double, and the embedded service. */
export async function makeTeam(prompts: Prompts, config = CONFIG, options: GitHubOptions = {}) {
  const service = await startTestService(Object.keys(prompts));
  const desk = makeRepository(workspaceFiles(prompts, config));
  configure(desk, { 'uploadpack.allowAnySHA1InWant': 'true' });
  // The remote is the `.git` folder of the desk, so that nobody has to push.
  const origin = join(desk, '.git');
  const tipOf = (branch: string) => readTip(origin, branch);
  const github = await startGitHub({ ...options, tipOf });
  /** One name for each pull request, made of its head and base branches. The position gives its number. */
  const names: string[] = [];
  let runs = 0;
  const atMain = (commit: string): string => {
    github.setBranch('main', commit);
    return commit;
  };
  atMain(tipOf('main'));
  /** Runs the action for an event at a commit. */
  const run = async (name: string, event: object, at: At, options: RunOptions = {}): Promise<ActionRun> => {
    runs += 1;
    // The client keeps rate limits for each address. The segments give each run an address of its own, like a process.
    const apiUrl = `${github.apiUrl}${'/.'.repeat(runs)}`;
    const workspace = checkOut(origin, at.commit, options.depth ?? 0);
    return runAt(workspace, name, event, at, { github, service, apiUrl }, options);
  };
  /** Commits to a branch. Creates a missing branch from main. Returns the commit. */
  const push = (branch: string, files: Edits, message = 'Change') => commitTo(desk, branch, files, message);
  /** Opens the pull request of a head branch and a base branch, or updates it after a commit. */
  const openPull = (branch: string, from: PullOptions = {}): Pull => {
    const { into = 'main' } = from;
    const name = `${branch} into ${into}`;
    if (!names.includes(name)) names.push(name);
    const number = names.indexOf(name) + 1;
    const [head, base] = [tipOf(branch), tipOf(into)];
    const merge = mergeForTry(origin, head, base, number);
    github.addPull({ number, head, base: into, mergeCommit: merge });
    return { number, head, merge, event: pullEvent(number, head, base, from) };
  };
  const runPull = ({ event, number, merge }: Pull, options?: RunOptions) =>
    run('pull_request', event, { ref: `refs/pull/${number}/merge`, commit: merge }, options);
  return {
    ...{ github, service, origin, run, push, openPull, runPull },
    /** Commits files to the branch `change`, opens or updates its pull request, and runs the review. */
    review: (files: Edits, options?: RunOptions, from?: PullOptions) => {
      push('change', files);
      return runPull(openPull('change', from), options);
    },
    /** Commits to main and returns the commit. */
    pushMain: (files: Edits, message = 'Change main') => atMain(commitTo(desk, 'main', files, message)),
    /** Merges a pull request. Returns the new tip of main. */
    mergePull: ({ number, head, merge }: Pull, how: 'merge' | 'squash' | 'rebase' = 'merge') => {
      const before = tipOf('main');
      if (how === 'merge') git(desk, 'merge', '--quiet', '--ff-only', merge);
      if (how === 'squash') {
        git(desk, 'merge', '--quiet', '--squash', head);
        commitAll(desk, `Change (#${number})`);
      }
      if (how === 'rebase') git(desk, 'cherry-pick', '--keep-redundant-commits', `${before}..${head}`);
      const commits = git(desk, 'rev-list', `${before}..main`).split('\n');
      github.addPull({ number, head, base: 'main', merged: true, mergeCommit: commits[0]!, commits });
      return atMain(commits[0]!);
    },
    /** Merges a pull request that the action opened, and keeps its branch. */
    mergeProposed: (branch: string, how?: 'squash') => {
      const { number, head } = github.pulls().findLast((pull) => pull.branch === branch)!;
      git(desk, 'merge', '--quiet', ...(how === 'squash' ? ['--squash'] : ['--no-ff', '--no-commit']), head);
      git(desk, 'commit', '--quiet', '--message', `Merge pull request #${number}`);
      const mergeCommit = tipOf('main');
      github.addPull({ number, head, base: 'main', branch, merged: true, mergeCommit });
      return mergeCommit;
    },
    /** Runs the action for a push of a commit to main. */
    runPush: (commit: string, options?: RunOptions) => {
      const before = git(desk, 'rev-parse', `${commit}^`);
      return run('push', pushEvent(commit, before), { ref: 'refs/heads/main', commit }, options);
    },
  };
}

/** Returns the tip of a branch, or an empty string if there is no such branch. Starts no process for this. */
export function readTip(origin: string, branch: string): string {
  const file = join(origin, 'refs/heads', branch);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}

function commitTo(desk: string, branch: string, edits: Edits, message: string): string {
  const isKnown = readTip(join(desk, '.git'), branch) !== '';
  if (branch !== 'main') git(desk, 'checkout', '--quiet', ...(isKnown ? [branch] : ['-b', branch, 'main']));
  for (const [path, content] of Object.entries(edits)) {
    if (content === null) rmSync(join(desk, path));
    else writeFiles(desk, { [path]: content });
  }
  const commit = commitAll(desk, message);
  if (branch !== 'main') git(desk, 'checkout', '--quiet', 'main');
  return commit;
}

/** Makes the test merge of a pull request, like GitHub. */
function mergeForTry(origin: string, head: string, base: string, number: number): string {
  const tree = git(origin, 'merge-tree', '--write-tree', base, head);
  const merge = git(origin, 'commit-tree', tree, '-p', base, '-p', head, '-m', `Merge pull request #${number}`);
  writeFiles(origin, { [`refs/pull/${number}/merge`]: `${merge}\n` });
  return merge;
}

/**
 * Makes a workspace in the same way as actions/checkout. A whole clone borrows the objects of the remote, because a
 * fetch starts four processes.
 */
export function checkOut(origin: string, commit: string, depth: number): string {
  const workspace = makeFolder();
  initRepository(workspace);
  configure(workspace, { 'remote.origin.url': `file://${origin}`, 'remote.origin.fetch': REFSPEC });
  if (depth === 0) {
    const folder = existsSync(join(origin, '.git')) ? join(origin, '.git') : origin;
    const refs = git(
      origin,
      'for-each-ref',
      '--format=%(objectname) refs/remotes/origin/%(refname:lstrip=2)',
      'refs/heads',
    );
    writeFiles(join(workspace, '.git'), {
      'objects/info/alternates': `${join(folder, 'objects')}\n`,
      'packed-refs': `${refs}\n`,
    });
  } else {
    git(workspace, 'fetch', '--quiet', '--no-tags', `--depth=${depth}`, 'origin', commit);
  }
  git(workspace, 'checkout', '--quiet', '--detach', commit);
  return workspace;
}

const REFSPEC = '+refs/heads/*:refs/remotes/origin/*';

async function runAt(
  workspace: string,
  eventName: string,
  event: object,
  { ref, commit }: At,
  { github, service, apiUrl }: Pick<Team, 'github' | 'service'> & { readonly apiUrl: string },
  { inputs, environment, keyless = false, prepare, onSignal, bundled = false }: RunOptions,
): Promise<ActionRun> {
  prepare?.(workspace);
  const step = {
    ...{ eventName, event },
    inputs: {
      ...{ 'base-url': service.baseUrl, 'github-token': TOKEN },
      ...(keyless ? {} : { 'api-key': KEY }),
      ...inputs,
    },
    environment: { GITHUB_API_URL: apiUrl, GITHUB_REF: ref, GITHUB_SHA: commit, ...environment },
  };
  const ran = bundled ? await runAction(workspace, step) : await runStep(workspace, { ...step, onSignal });
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
