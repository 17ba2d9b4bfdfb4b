import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openStore } from '../embedded/prompt-store.ts';
import { openGit, type RunGit } from '../git/run-git.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { fitLine, makeOutputStyle } from '../report/output-style.ts';
import type { ProcessInterface, Main, SafeProcess } from './process-interface.ts';
import { chooseStyle } from './terminal.ts';

/**
 * Demonstrates promptsync in a temporary repository, and resolves to the exit code. Deletes the repository at the end,
 * unless `keep` is true.
 */
export async function runDemo({ keep }: { readonly keep: boolean }, host: SafeProcess, main: Main): Promise<number> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-demo-')));
  const removeFolder = (): void => {
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  const { stop, onSignal } = handleSignals(host, removeFolder);
  const { run: runGit } = openGit({ root: folder, keyVariables: [] });
  const makeRunner = (output: ProcessInterface['output']) =>
    makePromptsyncRunner((words) => main(makeHostInside(folder, { ...host, output, arguments: words, onSignal })));
  const programs = makePrograms(folder, runGit, makeRunner(host.output));
  try {
    const narrate = await makeNarrator(host);
    narrate(OPENING_WORDS);
    await createRepository(folder, runGit);
    await prepareWorkspace(folder, runGit, makeRunner(SILENT_OUTPUT));
    for (const [comment, command, prepare] of makeDemoSteps(folder, runGit, host)) {
      if (stop.aborted) return 130;
      await prepare?.();
      narrate(comment, command);
      const [program = '', ...words] = command.split(' ');
      host.output.write((await programs[program]?.(...words)) ?? '');
    }
    narrate(
      keep ? `The repository is kept in ${folder}. Edit the prompt, commit the change, and run a sync.` : CLOSING_WORDS,
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

const OPENING_WORDS = 'promptsync deploys LLM prompts from git. This demo runs in a temporary folder.';

const CLOSING_WORDS =
  'Next, run `promptsync init` in your repository. To keep the demo repository, run the demo again with `--keep`.';

/** An output for the commands that prepare the demo. The demo does not show them. */
const SILENT_OUTPUT: ProcessInterface['output'] = { write: () => {} };

/**
 * Handles SIGINT and SIGTERM during the demo. The first signal aborts `stop` and interrupts the running command. The
 * second signal removes the folder of the demo and ends the process immediately.
 */
function handleSignals(
  { onSignal, exit }: ProcessInterface,
  removeFolder: () => void,
): { readonly stop: AbortSignal } & Pick<ProcessInterface, 'onSignal'> {
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
function makeHostInside(workingDirectory: string, host: ProcessInterface): ProcessInterface {
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

/**
 * Creates the function that writes the comments and the command lines of the demo to standard output. A blank line
 * precedes every comment except the first.
 */
async function makeNarrator(host: SafeProcess): Promise<Narrate> {
  const style = makeOutputStyle(await chooseStyle('output', host, { color: true, folder: null }));
  const { bold, cyan } = style.colors;
  let blankLines: readonly string[] = [];
  return (comment, command) => {
    const commentLines = comment === '' ? [] : [...blankLines, ...fitLine(cyan(comment), style, 0)];
    blankLines = [''];
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

function makePrograms(folder: string, git: RunGit, promptsync: RunPromptsync): Programs {
  return { git, cat: (path = '') => readFile(join(folder, path), 'utf8'), promptsync };
}

/** Runs promptsync with the given arguments. Resolves to an empty string, because promptsync writes its own output. */
type RunPromptsync = (...words: readonly string[]) => Promise<string>;

/** Creates a function that runs promptsync and throws if the exit code is not 0. */
function makePromptsyncRunner(run: (words: readonly string[]) => Promise<number>): RunPromptsync {
  return async (...words) => {
    const exitCode = await run(words);
    if (exitCode === 0) return '';
    const reason = `in the demo, \`promptsync ${words.join(' ')}\` exited with code ${exitCode}. See the errors above.`;
    throw new ProblemError(makeProblem('internal/unexpected', { reason }));
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

/** The prompt of the demo. */
const PROMPT = { id: 'prm_greeting', path: 'prompts/greeting.md' };

const PROMPT_FILE = `---
id: ${PROMPT.id}
key: greeting
name: Greeting
pins:
  staging: latest
---

Greet {{name}} in one sentence.
`;

/**
 * Prepares the repository: promptsync.yaml with an embedded service, and one prompt that is live in both environments.
 */
async function prepareWorkspace(folder: string, git: RunGit, runQuietly: RunPromptsync): Promise<void> {
  await runQuietly('init', '--embedded', '--ci', 'none');
  await rm(join(folder, 'prompts/example'), { recursive: true });
  await writeFile(join(folder, PROMPT.path), PROMPT_FILE);
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Add the greeting');
  await runQuietly('sync', '--yes');
  await runQuietly('promote', 'greeting', '--to', 'production', '--commit');
  await runQuietly('sync', '--yes');
}

/**
 * One step of the demo: a comment, a command line, and optionally an edit that the demo makes right before the command.
 * The demo splits the command line at spaces, so no argument may contain a space.
 */
type DemoStep = readonly [comment: string, command: string, prepare?: () => Promise<void>];

const SYNC = 'promptsync sync --yes --quiet';

function makeDemoSteps(folder: string, git: RunGit, host: ProcessInterface): readonly DemoStep[] {
  return [
    [
      'A prompt is a file. Its pins say which version each environment serves. Here, staging serves the text in the file, and production serves version 1.',
      `cat ${PROMPT.path}`,
    ],
    [
      'Someone edits the text and commits it. A plan shows what a sync would change.',
      'promptsync plan',
      () => makeDemoEdit(folder, git),
    ],
    ['The sync updates staging. Production keeps version 1.', SYNC],
    [
      'Promote the new text to production. Your team reviews the change to the pin.',
      'promptsync promote greeting --to production --commit --quiet',
    ],
    ['', SYNC],
    [
      'Users are complaining. A rollback pins the version that production previously served.',
      'promptsync rollback greeting --environment production --commit --quiet',
    ],
    ['', SYNC],
    [
      'Someone bypasses git and changes production. The next sync undoes this drift.',
      'promptsync sync --yes',
      () => simulateEditInService(folder, host),
    ],
    ['Finally, check what each environment serves.', 'promptsync status'],
  ];
}

/** Changes the text of the prompt file and commits the edit, as an author would. */
async function makeDemoEdit(folder: string, git: RunGit): Promise<void> {
  const file = join(folder, PROMPT.path);
  await writeFile(file, (await readFile(file, 'utf8')).replace('in one sentence', 'in one warm sentence'));
  await git('commit', '--quiet', '--all', '--message', 'Make the greeting warmer');
}

/** Creates a version in the embedded service and makes it active in production, as a user of the service would. */
async function simulateEditInService(folder: string, { now }: ProcessInterface): Promise<void> {
  const store = openStore(join(folder, '.promptsync/service.db'), { now });
  const version = store.createVersion(PROMPT.id, { content: 'Greet {{name}} and offer ten percent off.' });
  if (version !== null) store.setActive(PROMPT.id, { environment: 'production', versionId: version.id });
  store.close();
}
