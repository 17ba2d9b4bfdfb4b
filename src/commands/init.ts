import { appendFile, lstat, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { CONFIG_NAME, type Config } from '../config/config.ts';
import { type ConfigResult, findConfigFile, parseConfig } from '../config/load-config.ts';
import { findRepositoryProblem } from '../config/find-owner-problem.ts';
import { NO_ACCEPTED_WARNINGS } from '../domain/accepted-warnings.ts';
import type { WrittenFile } from '../domain/edits.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { Interview, World } from '../domain/world.ts';
import { findPromptPaths, makePromptMatcher } from '../files/find-prompt-paths.ts';
import { findRepositoryRoot, findFirstLink, isRepositoryRoot, toForwardSlashes } from '../files/paths.ts';
import type { GitSettings } from '../git/open-git.ts';
import { createFile, replaceFile } from '../files/read-write.ts';
import { readPrompts } from '../files/read-prompts.ts';
import { openRemote } from '../git/open-remote.ts';
import { isError, makeProblem, type Problem, getSystemCode } from '../problem.ts';
import { NAMED_PROVIDERS, type NamedProviderName, PROVIDERS } from '../providers/list.ts';
import { findIdentityConflict, makeImport, observePromptsToImport, indexByIdentity } from './import.ts';
import { gatherAnswers, type InitFlags } from './init-answers.ts';
import {
  type CiSystem,
  makeCiFiles,
  makeConfigFile,
  renderConfig,
  makeExamplePrompt,
  type InitAnswers,
  type InitFile,
  makeLineFiles,
  makePromptInitFile,
} from './init-files.ts';
import type { ServiceOptions } from './open-service.ts';
import { type CommandResult, type CommandRun, makeStoppedRun, makeCommandResult } from './result.ts';

export type InitOptions = InitFlags & ServiceOptions & { readonly force: boolean };

/** Begins a workspace in the working directory. What is there already is kept, unless somebody says otherwise. */
export async function init(options: InitOptions, world: World): Promise<CommandResult> {
  return makeCommandResult(await runInit(options, world), world);
}

async function runInit(options: InitOptions, world: World): Promise<CommandRun> {
  const giveUp = (problems: readonly Problem[]) => stopIn(null, problems);
  const start = makeInitGitStart(options, world);
  const foreign = isRepositoryRoot(start.root) ? await findRepositoryProblem(start) : null;
  if (foreign !== null) return giveUp([foreign]);
  const guesses = {
    guessCi: () => guessCi(start),
    guessUrl: (provider: NamedProviderName) => guessAddress(provider, world),
  };
  const answers = await gatherAnswers(options, world.interview, guesses);
  if (!answers.isSuccess) return giveUp(answers.problems);
  const { config, problems } = parseAnswers(answers.value, world);
  if (config === null) return giveUp(problems);
  const stop = (reasons: readonly Problem[]) => stopIn(config.folder, reasons);
  const nameProblems = checkFolderName(config, answers.value.ci);
  if (nameProblems.length > 0) return stop(nameProblems);
  const first = await makeFirstPrompt(answers.value, config, options, world);
  if (first.problems.some(isError)) return stop(first.problems);
  if (world.stopSignal.aborted) return stop([makeProblem('apply/interrupted')]);
  const others = [...first.files, ...makeCiFiles(answers.value, config), ...makeLineFiles(answers.value, config)];
  const target = { config, force: options.force, interview: world.interview };
  const { written, problems: obstacles } = await writeInitFiles(makeConfigFile(answers.value, config), others, target);
  const warnings = [...checkNesting(config), ...first.problems];
  return { ...stop([...warnings, ...obstacles]), service: first.service, written };
}

/** Makes the run of an `init` that wrote nothing. The folder is null until there is a configuration. */
function stopIn(folder: string | null, problems: readonly Problem[]): CommandRun {
  return makeStoppedRun('init', { folder, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems });
}

function makeInitGitStart({ apiKeyEnv }: InitOptions, { workingDirectory }: World): GitSettings {
  const defaults = Object.values(PROVIDERS).map(({ keys }) => keys.secret.defaultVariable);
  return {
    root: findRepositoryRoot(workingDirectory),
    keyVariables: apiKeyEnv === undefined ? defaults : [apiKeyEnv, ...defaults],
  };
}

/** Guesses the address of a service from the variable that its own tools read. */
function guessAddress(provider: NamedProviderName, { environment }: World): string {
  const { variable, url } = NAMED_PROVIDERS[provider].defaultAddress;
  return environment[variable] || url;
}

/** Guesses the CI from the host of the remote. Returns GitHub if the host does not tell, because most teams use it. */
async function guessCi(start: GitSettings): Promise<CiSystem> {
  const address = await openRemote(start)
    .readAddress()
    .catch(() => '');
  const host = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]*)/.exec(address)?.[1] ?? '';
  return /gitlab/i.test(host) ? 'gitlab' : 'github';
}

/** The configuration that is about to be written, as it will be read; the variable with the address is left aside. */
function parseAnswers(answers: InitAnswers, { workingDirectory, environment }: World): ConfigResult {
  return parseConfig(renderConfig(answers), {
    file: join(workingDirectory, CONFIG_NAME),
    shownPath: CONFIG_NAME,
    root: findRepositoryRoot(workingDirectory),
    environment: { ...environment, PROMPTSYNC_BASE_URL: '' },
  });
}

/**
 * Refuses a path of the workspace that would not stay data in the files that contain it. A line break would begin a new
 * line, also in .prettierignore. GitHub evaluates `${{ … }}` and GitLab replaces `$NAME`, whatever YAML quotes surround
 * them.
 */
function checkFolderName({ folder, root }: Config, ci: CiSystem): readonly Problem[] {
  const path = toForwardSlashes(relative(root, folder));
  if (/[\p{Cc}\u2028\u2029]/u.test(path))
    return [makeProblem('init/folder-name', { path, what: 'a line break or another control character' })];
  if (ci === 'none' || !path.includes('$')) return [];
  return [makeProblem('init/folder-name', { path, what: 'a dollar sign, which the CI would take for an expression' })];
}

/** Somebody may not know that there is a workspace already. */
function checkNesting({ folder, root }: Config): readonly Problem[] {
  const above = folder === root ? null : findConfigFile(dirname(folder));
  return above === null ? [] : [makeProblem('init/nested', { path: toForwardSlashes(relative(folder, above)) })];
}

type FirstPrompt = {
  /** The new prompt file. Empty if a problem prevents it, or if the workspace has prompt files already. */
  readonly files: readonly InitFile[];
  /** The name of the service in reports; null if promptsync did not ask the service. */
  readonly service: string | null;
  readonly problems: readonly Problem[];
};

/** Makes the first prompt file: an imported prompt, which shows whether address and key are right, or an example. */
async function makeFirstPrompt(
  answers: InitAnswers,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  if (answers.id !== null) return importFirstPrompt(answers.id, answers.folder, config, options, world);
  const example = makeExamplePrompt(answers);
  const { paths } = findPromptPaths(config);
  const files = paths.length === 0 || paths.includes(example.path) ? [example] : [];
  return { files, service: null, problems: [] };
}

async function importFirstPrompt(
  id: string,
  folder: string,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  const environments = config.environments ?? [];
  const { files } = await readPrompts({ ...config, environments: null });
  const rules = { config, folder, environments, ownEnvironment: null };
  const read = await observePromptsToImport(
    async () => makeSuccess({ ids: [id], refused: new Map() }),
    files,
    rules,
    options,
    world,
  );
  if (!read.isSuccess) return { files: [], service: null, problems: read.problems };
  const { prompt, source, warnings } = makeImport(id, read.value.observation, rules);
  const others = files.filter(({ path }) => path !== prompt.path);
  const conflict = source === null ? null : findIdentityConflict(prompt, indexByIdentity(others));
  const problems = [...prompt.problems, ...warnings, ...(conflict === null ? [] : [conflict])];
  const written = source === null || conflict !== null ? [] : [makePromptInitFile(prompt.path, source)];
  return { files: written, service: read.value.service, problems };
}

/** Where files are written, and what is done about one that is there and differs. */
type InitTarget = {
  readonly config: Config;
  /** Overwrite without a question. */
  readonly force: boolean;
  readonly interview: Interview | null;
};

/** What is to be done with one file. */
type FileDecision = {
  readonly file: InitFile;
  readonly status: WrittenFile['status'];
  /** Empty where there is none. */
  readonly before: string;
};

/** Decides about all files before it writes the first one. Leaves out files that a kept configuration does not select. */
async function writeInitFiles(
  configuration: InitFile,
  others: readonly InitFile[],
  target: InitTarget,
): Promise<{ readonly written: readonly WrittenFile[]; readonly problems: readonly Problem[] }> {
  const first = await decideAboutFile(configuration, target);
  const isOfUse = first.isSuccess ? makeUsefulnessCheck(first.value, target) : () => true;
  const all = [first];
  for (const file of others.filter(isOfUse)) all.push(await decideAboutFile(file, target));
  const obstacles = all.flatMap((one) => (one.isSuccess ? [] : one.problems));
  if (obstacles.length > 0) return { written: [], problems: obstacles };
  const written: WrittenFile[] = [];
  const problems: Problem[] = [];
  for (const decided of all.flatMap((one) => (one.isSuccess ? [one.value] : []))) {
    const problem = await writeInitFile(decided, target);
    if (problem === null) written.push({ path: decided.file.path, status: decided.status });
    problems.push(...(problem === null ? noteKeptFile(decided) : [problem]));
  }
  const left = others.filter((file) => !isOfUse(file) && file.kind === 'whole');
  return { written, problems: [...problems, ...left.map(({ path }) => makeProblem('init/not-selected', { path }))] };
}

/** A configuration of somebody's own may have its prompts elsewhere; one that cannot be read selects nothing. */
function makeUsefulnessCheck(
  { file, status, before }: FileDecision,
  { config }: InitTarget,
): (file: InitFile) => boolean {
  if (status !== 'kept' || before === file.content) return () => true;
  const around = { file: config.file, shownPath: CONFIG_NAME, root: config.root, environment: {} };
  const kept = parseConfig(before, around).config;
  const selects = kept === null ? () => false : makePromptMatcher(kept);
  return ({ promptPaths: prompts }) => prompts === undefined || prompts.some(selects);
}

/** Looks at what is there, and asks where something would be lost. Throws a `ProblemError` when somebody gives up. */
async function decideAboutFile(file: InitFile, target: InitTarget): Promise<Result<FileDecision>> {
  const read = await readRegularFile(file.path, target.config);
  if (!read.isSuccess) return read;
  const before = read.value;
  if (before === null) return makeSuccess({ file, status: 'created', before: '' });
  return makeSuccess({ file, status: await chooseFileStatus(file, before, target), before });
}

/** Returns null if there is no file. Refuses symbolic links, because they may lead out of the repository. */
async function readRegularFile(path: string, { folder, root }: Config): Promise<Result<string | null>> {
  const full = resolve(folder, path);
  const link = findFirstLink(root, dirname(full));
  const shown = link === null ? path : toForwardSlashes(relative(folder, link));
  const stats = await lstat(full).catch(() => null);
  if (link !== null || stats?.isSymbolicLink() === true) {
    return makeFailure(makeProblem('init/in-the-way', { path: shown, what: 'it is a symbolic link' }));
  }
  if (stats === null) return makeSuccess(null);
  if (!stats.isFile()) return makeFailure(makeProblem('init/in-the-way', { path, what: 'it is not a regular file' }));
  try {
    return makeSuccess(await readFile(full, 'utf8'));
  } catch (error) {
    return makeFailure(makeProblem('edit/unwritable', { reason: getSystemCode(error) }, { path }));
  }
}

async function chooseFileStatus(
  { path, kind, content }: InitFile,
  before: string,
  { force, interview }: InitTarget,
): Promise<WrittenFile['status']> {
  if (kind === 'line') return before.split('\n').some((line) => line.trim() === content) ? 'kept' : 'extended';
  if (before === content || kind === 'include') return 'kept';
  const message = `${path} is there and differs. Overwrite it?`;
  return force || (await interview?.confirm({ message, initial: false })) === true ? 'overwritten' : 'kept';
}

/** Writes what was decided. What stands in the way is returned. */
async function writeInitFile({ file, status, before }: FileDecision, { config }: InitTarget): Promise<Problem | null> {
  const { path, kind, content } = file;
  const full = resolve(config.folder, path);
  const whole = { whole: content, line: `${content}\n`, include: `include:\n  - local: ${content}\n` }[kind];
  try {
    if (status === 'extended') await appendFile(full, before === '' || before.endsWith('\n') ? whole : `\n${whole}`);
    if (status === 'overwritten') await replaceFile(full, whole);
    if (status !== 'created' || (await createFile(full, whole))) return null;
    return makeProblem('init/in-the-way', { path, what: 'it has come into being meanwhile' });
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: getSystemCode(error) }, { path });
  }
}

/** A file that is kept as it is may be another than was asked for. */
function noteKeptFile({ file: { path, kind, content }, status, before }: FileDecision): readonly Problem[] {
  const isSo = kind === 'include' ? before.includes(content) : before === content;
  if (status !== 'kept' || kind === 'line' || isSo) return [];
  const about = { path, include: content };
  return [kind === 'include' ? makeProblem('init/include', about) : makeProblem('init/kept', about)];
}
