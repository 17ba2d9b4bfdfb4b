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

/** Deletes the repository of the demo at the end, unless `keep` is true. Resolves to the exit code. */
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
    // Ctrl-C also kills a running git process. Its failure is not a failure of the demo.
    if (stop.aborted) return 130;
    throw error;
  } finally {
    removeFolder();
  }
}

const OPENING_WORDS = 'promptsync deploys LLM prompts from git. This demo runs in a temporary folder.';

const CLOSING_WORDS =
  'Next, run `promptsync init` in your repository. To keep the demo repository, run the demo again with `--keep`.';

const SILENT_OUTPUT: ProcessInterface['output'] = { write: () => {} };

/** The first signal aborts `stop`. The second one removes the folder of the demo and ends the process immediately. */
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

/** The commands of the demo read an empty standard input and do not see the user's `PROMPTSYNC_*` variables. */
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

/** Writes to standard output. A blank line precedes every comment except the first. */
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

/** The programs of the demo, by the first word of the command line. Each resolves to output that the caller prints. */
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

/** Creates a workspace with an embedded service and one prompt that is live in both environments. */
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

/** `prepare` runs right before the command. No argument may contain a space, because the demo splits at spaces. */
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

async function makeDemoEdit(folder: string, git: RunGit): Promise<void> {
  const file = join(folder, PROMPT.path);
  await writeFile(file, (await readFile(file, 'utf8')).replace('in one sentence', 'in one warm sentence'));
  await git('commit', '--quiet', '--all', '--message', 'Make the greeting warmer');
}

async function simulateEditInService(folder: string, { now }: ProcessInterface): Promise<void> {
  const store = openStore(join(folder, '.promptsync/service.db'), { now });
  const version = store.createVersion(PROMPT.id, { content: 'Greet {{name}} and offer ten percent off.' });
  if (version !== null) store.setActive(PROMPT.id, { environment: 'production', versionId: version.id });
  store.close();
}
