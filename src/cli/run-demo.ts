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

/** Demonstrates promptsync in a temporary repository. Resolves to the exit code. */
export async function runDemo({ keep }: { readonly keep: boolean }, host: SafeHost, main: Main): Promise<number> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-demo-')));
  const remove = (): void => void (keep || rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const { stop, onSignal } = removeOnSignal(host, remove);
  const { run: runGit } = openGit({ root: folder, keyVariables: [] });
  const run = (words: readonly string[]) => main(makeHostInside(folder, { ...host, arguments: words, onSignal }));
  const programs = makePrograms(folder, runGit, run);
  try {
    const say = await makeNarrator(host);
    await createRepository(folder, runGit);
    for (const [why, command, before] of makeDemoSteps(folder, host)) {
      if (stop.aborted) return 130;
      await before?.();
      say(why, command);
      const [program = '', ...words] = command.split(' ');
      host.output.write((await programs[program]?.(...words)) ?? '');
    }
    say(keep ? `It stays in ${folder}, to play on: edit the prompt, commit it, and sync.` : CLOSING_WORDS);
    return 0;
  } catch (error) {
    // Ctrl-C also ends a running git, whose error is not the demo's.
    if (stop.aborted) return 130;
    throw error;
  } finally {
    remove();
  }
}

const CLOSING_WORDS =
  'All of this is removed now. Next: `promptsync init` in your repository, or `demo --keep` to play on.';

/** The first signal interrupts the running command. The second one ends the process at once. */
function removeOnSignal(
  { onSignal, exit }: Host,
  remove: () => void,
): { readonly stop: AbortSignal } & Pick<Host, 'onSignal'> {
  const controller = new AbortController();
  let interrupt = (): void => {};
  onSignal(() => {
    if (controller.signal.aborted) {
      remove();
      return exit(130);
    }
    controller.abort();
    interrupt();
  });
  return { stop: controller.signal, onSignal: (handle) => void (interrupt = handle) };
}

/** Returns the host for the commands of the demo: in its folder, without questions, and without the user's service. */
function makeHostInside(workingDirectory: string, host: Host): Host {
  const variables = Object.entries(host.environment).filter(([name]) => !name.startsWith('PROMPTSYNC_'));
  // No hyperlinks, because the demo deletes the files that they lead to.
  const hyperlinks = async () => ({ output: false, errors: false });
  return {
    ...host,
    workingDirectory,
    hyperlinks,
    environment: Object.fromEntries(variables),
    input: () => Readable.from([]),
  };
}

/** Returns a function that writes a sentence, which may be empty, and a command line below it. */
async function makeNarrator(host: SafeHost): Promise<(why: string, command?: string) => void> {
  const style = makeStyle(await chooseStyle('output', host, { color: true, folder: null }));
  const { bold, cyan } = style.colors;
  return (why, command) => {
    const above = why === '' ? [] : ['', ...fitLine(cyan(why), style, 0)];
    const lines = command === undefined ? above : [...above, bold(`$ ${command}`)];
    host.output.write(lines.map((line) => `${line}\n`).join(''));
  };
}

/**
 * The programs of the demo, by the first word of a command line. Each runs the other words and returns output that was
 * not printed yet. It throws on failure.
 */
type Programs = Readonly<Record<string, (...words: readonly string[]) => Promise<string>>>;

function makePrograms(folder: string, git: RunGit, run: (words: readonly string[]) => Promise<number>): Programs {
  return {
    git,
    cat: (path = '') => readFile(join(folder, path), 'utf8'),
    promptsync: async (...words) => {
      const exitCode = await run(words);
      if (exitCode === 0) return '';
      const reason = `in the demo, \`promptsync ${words.join(' ')}\` ended with ${exitCode}. It says above why.`;
      throw new ProblemError(makeProblem('internal/unexpected', { reason }));
    },
  };
}

/** A git configuration that makes commits independent of the user's own configuration. */
const GIT_CONFIG = `[user]
	name = Demo
	email = demo@example.com
[commit]
	gpgSign = false
[core]
	hooksPath = /dev/null
`;

/** Creates the repository of the demo. Throws a `ProblemError` if git is not installed. */
async function createRepository(folder: string, git: RunGit): Promise<void> {
  // promptsync starts git only in a folder with `.git`.
  await mkdir(join(folder, '.git'));
  await git('init', '--quiet', '--initial-branch', 'main');
  await appendFile(join(folder, '.git/config'), GIT_CONFIG);
}

/** The prompt that `init` writes. */
const PROMPT = { key: 'example/greeting', id: 'prm_example_greeting', path: 'prompts/example/greeting.md' };

/** A sentence with the reason, a command, and optionally what another person does right before. No word contains blanks. */
type DemoStep = readonly [why: string, command: string, before?: () => Promise<void>];

const PLAN = 'promptsync plan';
const SYNC = 'promptsync sync --yes --quiet';
const PROMOTE = `promptsync promote ${PROMPT.key} --to production --commit`;
const ROLLBACK = `promptsync rollback ${PROMPT.key} --environment production --commit`;

function makeDemoSteps(folder: string, host: Host): readonly DemoStep[] {
  return [
    [
      `A new repository, ${folder}, and in it a workspace with a service to try.`,
      'promptsync init --embedded --ci none',
    ],
    ['A prompt is a file. Its pins say what is served where: in staging this very text.', `cat ${PROMPT.path}`],
    ['A sync writes what is committed.', 'git add --all'],
    ['', 'git commit --quiet --message Begin'],
    ['What would a sync do? A plan only reads.', PLAN],
    ['A sync makes the service match the files. Without --yes it asks first.', SYNC],
    ['Production gets it by an edit of the file, reviewed and merged like any other.', PROMOTE],
    ['Here is no remote to push to. With one, a sync takes only what is merged.', SYNC],
    ['Somebody improves the text.', 'git commit --quiet --all --message Warmer', () => editPromptFiles(folder)],
    ['Staging follows the file, production stays where its pin is.', PLAN],
    ['Synced, it is version 2.', SYNC],
    ['It does well in staging, and is to go live.', PROMOTE],
    ['Once more a sync after the merge.', SYNC],
    ['Not that well after all: production has to go back to what it served before.', ROLLBACK],
    ['The old version is active again, and none is made for it.', SYNC],
    [
      'Somebody edits production in the service itself: drift.',
      'promptsync plan --base HEAD',
      () => editInService(folder, host),
    ],
    ['A sync puts back what was merged; `promptsync pull` takes it into the file.', SYNC],
    ['In the end, what is served where?', 'promptsync status'],
  ];
}

async function editPromptFiles(folder: string): Promise<void> {
  const file = join(folder, PROMPT.path);
  await writeFile(file, (await readFile(file, 'utf8')).replace('in one sentence', 'in one warm sentence'));
}

async function editInService(folder: string, { now }: Host): Promise<void> {
  const store = openStore(join(folder, '.promptsync/service.db'), { now });
  const made = store.createVersion(PROMPT.id, { content: 'Greet {{customer_name}}, and offer ten percent off.' });
  if (made !== null) store.setActive(PROMPT.id, { environment: 'production', versionId: made.id });
  store.close();
}
