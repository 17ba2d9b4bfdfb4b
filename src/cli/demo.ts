import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openStore } from '../embedded/store.ts';
import { openGit, type Ask } from '../git/driver.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { fitted, styleFor } from '../report/style.ts';
import type { Host, Main, SafeHost } from './host.ts';
import { styleOn } from './terminal.ts';

/** Shows promptsync at work in a repository of its own, which is removed at the end. Resolves to the exit code. */
export async function runDemo({ keep }: { readonly keep: boolean }, host: SafeHost, main: Main): Promise<number> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-demo-')));
  const remove = (): void => void (keep || rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const { stop, onSignal } = listen(host, remove);
  const { ask } = openGit({ root: folder, keyVariables: [] });
  const run = (words: readonly string[]) => main(inside(folder, { ...host, arguments: words, onSignal }));
  const programs = makePrograms(folder, ask, run);
  try {
    const say = await sayer(host);
    await beginRepository(folder, ask);
    for (const [why, command, before] of walk(folder, host)) {
      if (stop.aborted) return 130;
      await before?.();
      say(why, command);
      const [program = '', ...words] = command.split(' ');
      host.output.write((await programs[program]?.(...words)) ?? '');
    }
    say(keep ? `It stays in ${folder}, to play on: edit the prompt, commit it, and sync.` : END);
    return 0;
  } catch (error) {
    // A git that is running gets Ctrl-C as well.
    if (stop.aborted) return 130;
    throw error;
  } finally {
    remove();
  }
}

const END = 'All of this is removed now. Next: `promptsync init` in your repository, or `demo --keep` to play on.';

/** The first signal interrupts the command that runs, the second ends the process at once. */
function listen({ onSignal, exit }: Host, remove: () => void) {
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
  return { stop: controller.signal, onSignal: (handle: () => void) => void (interrupt = handle) };
}

/** The process as the demo's commands are given it: in its folder, with nobody to ask, and no service of the user's. */
function inside(workingDirectory: string, host: Host): Host {
  const variables = Object.entries(host.environment).filter(([name]) => !name.startsWith('PROMPTSYNC_'));
  // Links would lead to files that are gone soon.
  const hyperlinks = async () => ({ output: false, errors: false });
  return {
    ...{ ...host, workingDirectory, hyperlinks },
    ...{ environment: Object.fromEntries(variables), input: () => Readable.from([]) },
  };
}

/** Writes a sentence, which may be empty, and a command line below it. */
async function sayer(host: SafeHost): Promise<(why: string, command?: string) => void> {
  const style = styleFor(await styleOn('output', host, { color: true, folder: null }));
  const { bold, cyan } = style.colours;
  return (why, command) => {
    const above = why === '' ? [] : ['', ...fitted(cyan(why), style, 0)];
    const lines = command === undefined ? above : [...above, bold(`$ ${command}`)];
    host.output.write(lines.map((line) => `${line}\n`).join(''));
  };
}

/** What a command line of the demo begins with: runs the rest, and returns what was not printed yet. Throws where it fails. */
type Programs = Readonly<Record<string, (...words: readonly string[]) => Promise<string>>>;

function makePrograms(folder: string, git: Ask, run: (words: readonly string[]) => Promise<number>): Programs {
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

/** Commits need nothing of the user's configuration, and none of it stops them. */
const GIT_CONFIG = `[user]
	name = Demo
	email = demo@example.com
[commit]
	gpgSign = false
[core]
	hooksPath = /dev/null
`;

/** Throws a `ProblemError` where there is no git. */
async function beginRepository(folder: string, git: Ask): Promise<void> {
  // Git is started only where this is.
  await mkdir(join(folder, '.git'));
  await git('init', '--quiet', '--initial-branch', 'main');
  await appendFile(join(folder, '.git/config'), GIT_CONFIG);
}

/** The prompt that `init` writes. */
const PROMPT = { key: 'example/greeting', id: 'prm_example_greeting', path: 'prompts/example/greeting.md' };

/** A sentence that says why, a command, and what somebody else does right before. No word holds blanks. */
type Step = readonly [why: string, command: string, before?: () => Promise<void>];

const PLAN = 'promptsync plan';
const SYNC = 'promptsync sync --yes --quiet';
const PROMOTE = `promptsync promote ${PROMPT.key} --to production --commit`;
const ROLLBACK = `promptsync rollback ${PROMPT.key} --environment production --commit`;

function walk(folder: string, host: Host): readonly Step[] {
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
    ['Somebody improves the text.', 'git commit --quiet --all --message Warmer', () => edit(folder)],
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

async function edit(folder: string): Promise<void> {
  const file = join(folder, PROMPT.path);
  await writeFile(file, (await readFile(file, 'utf8')).replace('in one sentence', 'in one warm sentence'));
}

async function editInService(folder: string, { now }: Host): Promise<void> {
  const store = openStore(join(folder, '.promptsync/service.db'), { now });
  const made = store.createVersion(PROMPT.id, { content: 'Greet {{customer_name}}, and offer ten percent off.' });
  if (made !== null) store.setActive(PROMPT.id, { environment: 'production', versionId: made.id });
  store.close();
}
