import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openStore } from '../embedded/store.ts';
import { openGit, type RunGit } from '../git/open-git.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { fitLine, makeStyle } from '../report/style.ts';
import type { Host, Main, SafeHost } from './host.ts';
import { chooseStyle } from './terminal.ts';

/**
 * Demonstrates promptsync in a temporary repository, and resolves to the exit code. Deletes the repository at the end,
 * unless `keep` is true.
 */
export async function runDemo({ keep }: { readonly keep: boolean }, host: SafeHost, main: Main): Promise<number> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-demo-')));
  const removeFolder = (): void => {
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  const { stop, onSignal } = handleSignals(host, removeFolder);
  const { run: runGit } = openGit({ root: folder, keyVariables: [] });
  const runPromptsync = (words: readonly string[]) =>
    main(makeHostInside(folder, { ...host, arguments: words, onSignal }));
  const programs = makePrograms(folder, runGit, runPromptsync);
  try {
    const narrate = await makeNarrator(host);
    await createRepository(folder, runGit);
    for (const [comment, command, prepare] of makeDemoSteps(folder, host)) {
      if (stop.aborted) return 130;
      await prepare?.();
      narrate(comment, command);
      const [program = '', ...words] = command.split(' ');
      host.output.write((await programs[program]?.(...words)) ?? '');
    }
    narrate(
      keep ? `The repository stays in ${folder}: edit the prompt, commit the edit, and run a sync.` : CLOSING_WORDS,
    );
    return 0;
  } catch (error) {
    // Ctrl-C also kills a running git process, which then fails. The user caused this, so it is not a failure of the
    // demo.
    if (stop.aborted) return 130;
    throw error;
  } finally {
    removeFolder();
  }
}

const CLOSING_WORDS =
  'The demo has removed its repository. Next, run `promptsync init` in your own repository, or `promptsync demo --keep` to ' +
  'get a demo repository that stays.';

/**
 * Handles SIGINT and SIGTERM during the demo. The first signal aborts `stop` and interrupts the running command. The
 * second signal removes the folder of the demo and ends the process immediately.
 */
function handleSignals(
  { onSignal, exit }: Host,
  removeFolder: () => void,
): { readonly stop: AbortSignal } & Pick<Host, 'onSignal'> {
  const controller = new AbortController();
  let interrupt = (): void => {};
  onSignal(() => {
    if (controller.signal.aborted) {
      removeFolder();
      return exit(130);
    }
    controller.abort();
    interrupt();
  });
  return { stop: controller.signal, onSignal: (handle) => void (interrupt = handle) };
}

/**
 * Creates the host for the commands of the demo. They run in the folder of the demo, read an empty standard input, and
 * do not see the user's `PROMPTSYNC_*` variables.
 */
function makeHostInside(workingDirectory: string, host: Host): Host {
  const variables = Object.entries(host.environment).filter(([name]) => !name.startsWith('PROMPTSYNC_'));
  // Disable hyperlinks, because the demo deletes the files that they would open.
  const hyperlinks = async () => ({ output: false, errors: false });
  return {
    ...host,
    workingDirectory,
    hyperlinks,
    environment: Object.fromEntries(variables),
    input: () => Readable.from([]),
  };
}

/** Writes a comment and then the command line. Omits an empty comment and a missing command line. */
type Narrate = (comment: string, command?: string) => void;

/** Creates the function that writes the comments and the command lines of the demo to standard output. */
async function makeNarrator(host: SafeHost): Promise<Narrate> {
  const style = makeStyle(await chooseStyle('output', host, { color: true, folder: null }));
  const { bold, cyan } = style.colors;
  return (comment, command) => {
    const commentLines = comment === '' ? [] : ['', ...fitLine(cyan(comment), style, 0)];
    const commandLines = command === undefined ? [] : [bold(`$ ${command}`)];
    const lines = [...commentLines, ...commandLines];
    host.output.write(lines.map((line) => `${line}\n`).join(''));
  };
}

/**
 * The programs that the demo can run, by the first word of the command line. Each function receives the other words. It
 * resolves to the output that the caller must print, and throws if the program fails.
 */
type Programs = Readonly<Record<string, (...words: readonly string[]) => Promise<string>>>;

function makePrograms(
  folder: string,
  git: RunGit,
  runPromptsync: (words: readonly string[]) => Promise<number>,
): Programs {
  return {
    git,
    cat: (path = '') => readFile(join(folder, path), 'utf8'),
    promptsync: async (...words) => {
      const exitCode = await runPromptsync(words);
      if (exitCode === 0) return '';
      const reason = `the command \`promptsync ${words.join(' ')}\` of the demo exited with ${exitCode}. See its errors above.`;
      throw new ProblemError(makeProblem('internal/unexpected', { reason }));
    },
  };
}

/** The git configuration of the demo. It overrides the user's name, commit signing and hooks. */
const GIT_CONFIG = `[user]
	name = Demo
	email = demo@example.com
[commit]
	gpgSign = false
[core]
	hooksPath = /dev/null
`;

/** Creates the git repository of the demo. Throws a `ProblemError` if git is not installed. */
async function createRepository(folder: string, git: RunGit): Promise<void> {
  // Create `.git` before `git init`, because promptsync starts git only in a folder that contains `.git`.
  await mkdir(join(folder, '.git'));
  await git('init', '--quiet', '--initial-branch', 'main');
  await appendFile(join(folder, '.git/config'), GIT_CONFIG);
}

/** The example prompt that `promptsync init` writes. */
const PROMPT = { key: 'example/greeting', id: 'prm_example_greeting', path: 'prompts/example/greeting.md' };

/**
 * One step of the demo: a comment, a command line, and optionally an edit that the demo makes right before the command.
 * The demo splits the command line at spaces, so no argument may contain a space.
 */
type DemoStep = readonly [comment: string, command: string, prepare?: () => Promise<void>];

const PLAN = 'promptsync plan';
const SYNC = 'promptsync sync --yes --quiet';
const PROMOTE = `promptsync promote ${PROMPT.key} --to production --commit`;
const ROLLBACK = `promptsync rollback ${PROMPT.key} --environment production --commit`;

function makeDemoSteps(folder: string, host: Host): readonly DemoStep[] {
  return [
    [
      `This is a new repository in ${folder}. \`init\` creates a workspace with an embedded service.`,
      'promptsync init --embedded --ci none',
    ],
    [
      'Each prompt is a file. Its pins declare the active version of each environment: staging serves the text of this file.',
      `cat ${PROMPT.path}`,
    ],
    ['A sync writes only committed files, so commit the prompt.', 'git add --all'],
    ['', 'git commit --quiet --message Begin'],
    ['A plan shows what a sync would change. It writes nothing.', PLAN],
    ['A sync makes the service match the files. Without --yes, it asks for confirmation first.', SYNC],
    ['A promotion is an edit of the file, which a team reviews and merges like any other edit.', PROMOTE],
    ['This repository has no remote. In a repository with a remote, a sync writes only merged commits.', SYNC],
    [
      'Somebody improves the text and commits it.',
      'git commit --quiet --all --message Warmer',
      () => rewriteExampleFile(folder),
    ],
    ['Staging follows the file. Production stays at its pinned version.', PLAN],
    ['The sync creates version 2.', SYNC],
    ['The new text works well in staging, so promote it to production.', PROMOTE],
    ['After the merge, a sync applies the promotion.', SYNC],
    ['Production has a problem. A rollback pins the version that production served before.', ROLLBACK],
    ['The sync makes the old version active again. It creates no new version.', SYNC],
    [
      'Somebody changes production directly in the service. This is drift.',
      'promptsync plan --base HEAD',
      () => simulateEditInService(folder, host),
    ],
    ['A sync restores the merged state. `promptsync pull` would copy the change into the file.', SYNC],
    ['Finally, show which version each environment serves.', 'promptsync status'],
  ];
}

/** Changes the text of the prompt file, as an author would. */
async function rewriteExampleFile(folder: string): Promise<void> {
  const file = join(folder, PROMPT.path);
  await writeFile(file, (await readFile(file, 'utf8')).replace('in one sentence', 'in one warm sentence'));
}

/** Creates a version in the embedded service and makes it active in production, as a user of the service would. */
async function simulateEditInService(folder: string, { now }: Host): Promise<void> {
  const store = openStore(join(folder, '.promptsync/service.db'), { now });
  const version = store.createVersion(PROMPT.id, { content: 'Greet {{customer_name}}, and offer ten percent off.' });
  if (version !== null) store.setActive(PROMPT.id, { environment: 'production', versionId: version.id });
  store.close();
}
