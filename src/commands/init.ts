import { appendFile, lstat, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { CONFIG_NAME, type Config, DEFAULTS } from '../config/config.ts';
import { findConfigFile, parseConfig } from '../config/load.ts';
import { findRepositoryProblem } from '../config/owner.ts';
import { LANGFUSE_URL_VARIABLE } from '../config/service.ts';
import { NO_ACCEPTED_WARNINGS } from '../domain/accepted-warnings.ts';
import type { WrittenFile } from '../domain/edits.ts';
import type { Interview, World } from '../domain/world.ts';
import { findPromptPaths, promptMatcher } from '../files/find.ts';
import { findRoot, firstLink, isRoot, slashed } from '../files/paths.ts';
import type { GitStart } from '../git/driver.ts';
import { createFile, replaceFile } from '../files/read-write.ts';
import { readPrompts } from '../files/read.ts';
import { openRemote } from '../git/remote.ts';
import { isError, makeProblem, type Problem, systemCodeOf } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import { conflictWith, newFileOf, readToImport, takenBy } from './import.ts';
import { gatherAnswers, type InitFlags } from './init-answers.ts';
import {
  type Ci,
  ciFiles,
  configFile,
  configText,
  examplePrompt,
  type InitAnswers,
  type InitFile,
  lineFiles,
  promptFile,
} from './init-files.ts';
import type { ServiceOptions } from './open-service.ts';
import { type CommandResult, notRun, resultOf } from './result.ts';

export type InitOptions = InitFlags & ServiceOptions & { readonly force: boolean };

/** Begins a workspace in the working directory. What is there already is kept, unless somebody says otherwise. */
export async function init(options: InitOptions, world: World): Promise<CommandResult> {
  return resultOf(await begin(options, world), world);
}

async function begin(options: InitOptions, world: World): Promise<Run> {
  const giveUp = (problems: readonly Problem[]) =>
    notRun('init', { files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems });
  const start = gitStartFor(options, world);
  const foreign = isRoot(start.root) ? await findRepositoryProblem(start) : null;
  if (foreign !== null) return giveUp([foreign]);
  const langfuseUrl = world.environment[LANGFUSE_URL_VARIABLE] || 'https://cloud.langfuse.com';
  const guesses = { ci: () => guessCi(start), langfuseUrl };
  const answers = await gatherAnswers(options, world.interview, guesses);
  if (!('folder' in answers)) return giveUp(answers);
  const { config, problems } = parseAnswers(answers, world);
  if (config === null) return giveUp(problems);
  world.keepFolder(config.folder);
  const nameProblems = folderNameProblems(config, answers.ci);
  if (nameProblems.length > 0) return giveUp(nameProblems);
  const first = await firstPrompt(answers, config, options, world);
  if (first.problems.some(isError)) return giveUp(first.problems);
  if (world.stop.aborted) return giveUp([makeProblem('apply/interrupted')]);
  const others = [...first.files, ...ciFiles(answers, config), ...lineFiles(answers, config)];
  const target = { config, force: options.force, interview: world.interview };
  const { written, problems: obstacles } = await writeAll(configFile(answers, config), others, target);
  const warnings = [...nestedIn(config), ...first.problems];
  return { ...giveUp([...warnings, ...obstacles]), service: first.service, written };
}

function gitStartFor({ apiKeyEnv }: InitOptions, { workingDirectory }: World): GitStart {
  const keyVariables = [apiKeyEnv ?? DEFAULTS.api_key_env, DEFAULTS.secret_key_env];
  return { root: findRoot(workingDirectory), keyVariables };
}

/** Guesses the CI from the host of the remote. Returns GitHub if the host does not tell, because most teams use it. */
async function guessCi(start: GitStart): Promise<Ci> {
  const address = await openRemote(start)
    .address()
    .catch(() => '');
  const host = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]*)/.exec(address)?.[1] ?? '';
  return /gitlab/i.test(host) ? 'gitlab' : 'github';
}

/** The configuration that is about to be written, as it will be read; the variable with the address is left aside. */
function parseAnswers(answers: InitAnswers, { workingDirectory, environment }: World) {
  return parseConfig(configText(answers), {
    file: join(workingDirectory, CONFIG_NAME),
    shownPath: CONFIG_NAME,
    root: findRoot(workingDirectory),
    environment: { ...environment, PROMPTSYNC_BASE_URL: '' },
  });
}

/**
 * Refuses a path of the workspace that would not stay data in the files that contain it. A line break would begin a new
 * line, also in .prettierignore. GitHub evaluates `${{ … }}` and GitLab replaces `$NAME`, whatever YAML quotes surround
 * them.
 */
function folderNameProblems({ folder, root }: Config, ci: Ci): readonly Problem[] {
  const path = slashed(relative(root, folder));
  if (/[\p{Cc}\u2028\u2029]/u.test(path))
    return [makeProblem('init/folder-name', { path, what: 'a line break or another control character' })];
  if (ci === 'none' || !path.includes('$')) return [];
  return [makeProblem('init/folder-name', { path, what: 'a dollar sign, which the CI would take for an expression' })];
}

/** Somebody may not know that there is a workspace already. */
function nestedIn({ folder, root }: Config): readonly Problem[] {
  const above = folder === root ? null : findConfigFile(dirname(folder));
  return above === null ? [] : [makeProblem('init/nested', { path: slashed(relative(folder, above)) })];
}

/**
 * Makes the first prompt file: an imported prompt, which shows whether address and key are right, or an example. None
 * with an error among the problems, or where there are some already; the service is null where it was not asked.
 */
async function firstPrompt(answers: InitAnswers, config: Config, options: ServiceOptions, world: World) {
  if (answers.id !== null) return importFirst(answers.id, answers.folder, config, options, world);
  const example = examplePrompt(answers);
  const { paths } = findPromptPaths(config);
  const files = paths.length === 0 || paths.includes(example.path) ? [example] : [];
  return { files, service: null, problems: [] };
}

async function importFirst(id: string, folder: string, config: Config, options: ServiceOptions, world: World) {
  const environments = config.environments ?? [];
  const { files } = await readPrompts({ ...config, environments: null });
  const rules = { config, folder, environments, environment: null };
  const read = await readToImport(async () => ({ ids: [id], refused: new Map() }), files, rules, options, world);
  if ('problems' in read) return { files: [], service: null, problems: read.problems };
  const { prompt, source, warnings } = newFileOf(id, read.observation, rules);
  const others = files.filter(({ path }) => path !== prompt.path);
  const conflict = source === null ? null : conflictWith(prompt, takenBy(others));
  const problems = [...prompt.problems, ...warnings, ...(conflict === null ? [] : [conflict])];
  const written = source === null || conflict !== null ? [] : [promptFile(prompt.path, source)];
  return { files: written, service: read.service, problems };
}

/** Where files are written, and what is done about one that is there and differs. */
type Target = {
  readonly config: Config;
  /** Overwrite without a question. */
  readonly force: boolean;
  readonly interview: Interview | null;
};

/** What is to be done with one file. */
type Decided = {
  readonly file: InitFile;
  readonly status: WrittenFile['status'];
  /** Empty where there is none. */
  readonly before: string;
};

/** Decides on everything before anything is written. What a configuration that stays has no use for is left out. */
async function writeAll(configuration: InitFile, others: readonly InitFile[], target: Target) {
  const first = await decideOn(configuration, target);
  const isOfUse = 'code' in first ? () => true : useBeside(first, target);
  const all = [first];
  for (const file of others.filter(isOfUse)) all.push(await decideOn(file, target));
  const obstacles = all.filter((one) => 'code' in one);
  if (obstacles.length > 0) return { written: [], problems: obstacles };
  const written: WrittenFile[] = [];
  const problems: Problem[] = [];
  for (const one of all.filter((decided) => 'file' in decided)) {
    const problem = await write(one, target);
    if (problem === null) written.push({ path: one.file.path, status: one.status });
    problems.push(...(problem === null ? keptNote(one) : [problem]));
  }
  const left = others.filter((file) => !isOfUse(file) && file.kind === 'whole');
  return { written, problems: [...problems, ...left.map(({ path }) => makeProblem('init/not-selected', { path }))] };
}

/** A configuration of somebody's own may have its prompts elsewhere; one that cannot be read selects nothing. */
function useBeside({ file, status, before }: Decided, { config }: Target): (file: InitFile) => boolean {
  if (status !== 'kept' || before === file.content) return () => true;
  const around = { file: config.file, shownPath: CONFIG_NAME, root: config.root, environment: {} };
  const kept = parseConfig(before, around).config;
  const selects = kept === null ? () => false : promptMatcher(kept);
  return ({ prompts }) => prompts === undefined || prompts.some(selects);
}

/** Looks at what is there, and asks where something would be lost. Throws a `ProblemError` when somebody gives up. */
async function decideOn(file: InitFile, target: Target): Promise<Decided | Problem> {
  const before = await readRegular(file.path, target.config);
  if (before === null) return { file, status: 'created', before: '' };
  return typeof before === 'object' ? before : { file, status: await statusOf(file, before, target), before };
}

/** Null when there is no file. Links are not followed: they may lead out of the repository. */
async function readRegular(path: string, { folder, root }: Config): Promise<string | Problem | null> {
  const full = resolve(folder, path);
  const link = firstLink(root, dirname(full));
  const shown = link === null ? path : slashed(relative(folder, link));
  const stats = await lstat(full).catch(() => null);
  if (link !== null || stats?.isSymbolicLink() === true) {
    return makeProblem('init/in-the-way', { path: shown, what: 'it is a symbolic link' });
  }
  if (stats === null) return null;
  if (!stats.isFile()) return makeProblem('init/in-the-way', { path, what: 'it is not a regular file' });
  try {
    return await readFile(full, 'utf8');
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: systemCodeOf(error) }, { path });
  }
}

async function statusOf(
  { path, kind, content }: InitFile,
  before: string,
  { force, interview }: Target,
): Promise<WrittenFile['status']> {
  if (kind === 'line') return before.split('\n').some((line) => line.trim() === content) ? 'kept' : 'extended';
  if (before === content || kind === 'include') return 'kept';
  const message = `${path} is there and differs. Overwrite it?`;
  return force || (await interview?.confirm({ message, initial: false })) === true ? 'overwritten' : 'kept';
}

/** Writes what was decided. What stands in the way is returned. */
async function write({ file, status, before }: Decided, { config }: Target): Promise<Problem | null> {
  const { path, kind, content } = file;
  const full = resolve(config.folder, path);
  const whole = { whole: content, line: `${content}\n`, include: `include:\n  - local: ${content}\n` }[kind];
  try {
    if (status === 'extended') await appendFile(full, before === '' || before.endsWith('\n') ? whole : `\n${whole}`);
    if (status === 'overwritten') await replaceFile(full, whole);
    if (status !== 'created' || (await createFile(full, whole))) return null;
    return makeProblem('init/in-the-way', { path, what: 'it has come into being meanwhile' });
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: systemCodeOf(error) }, { path });
  }
}

/** A file that is kept as it is may be another than was asked for. */
function keptNote({ file: { path, kind, content }, status, before }: Decided): readonly Problem[] {
  const isSo = kind === 'include' ? before.includes(content) : before === content;
  if (status !== 'kept' || kind === 'line' || isSo) return [];
  const about = { path, include: content };
  return [kind === 'include' ? makeProblem('init/include', about) : makeProblem('init/kept', about)];
}
