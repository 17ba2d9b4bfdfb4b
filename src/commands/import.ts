import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { openWorkspace, type Workspace } from '../desired/open-workspace.ts';
import { collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { EditedPrompt } from '../domain/edits.ts';
import { escapeSelector } from '../text.ts';
import { type Observation, makePlainReadRequest } from '../domain/observed-prompt.ts';
import type { Environment } from '../domain/policy.ts';
import type { PromptIdentity, PromptFile } from '../domain/prompt-file.ts';
import type { Provider } from '../domain/provider.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { toFileContent } from '../domain/content.ts';
import type { World } from '../domain/world.ts';
import { findFirstFolder, makePromptMatcher } from '../files/find-prompt-paths.ts';
import { makeFilePath, renderNewFile } from '../files/render-new-file.ts';
import { findFirstLink, leavesFolder, toForwardSlashes } from '../files/paths.ts';
import type { WorkspaceLock } from '../files/lock-workspace.ts';
import { createFile } from '../files/read-write.ts';
import { observePrompts } from '../observing/observe-prompts.ts';
import { chooseImport, type ImportChoice } from '../planning/choose-import.ts';
import { isError, makeProblem, getErrorMessage, type Problem, getSystemCode } from '../problem.ts';
import { listPrompts, makeObserveOptions, openProvider, type ServiceOptions } from './open-service.ts';
import { checkEnvironmentFlag } from './pin-edit.ts';
import { type CommandResult, type CommandRun, makeStoppedRun, makeCommandResult } from './result.ts';
import { withWorkspaceLock } from './with-workspace-lock.ts';

type ImportOptions = ServiceOptions & {
  /** As given with --config, relative to the working directory. */
  readonly config?: string | undefined;
  /** Or patterns of names. `-` stands for those that standard input names. */
  readonly ids: readonly string[];
  /** A file that names more. */
  readonly from?: string | undefined;
  readonly input: () => Readable;
  /** Whose text becomes the file's. */
  readonly environment?: string | undefined;
  /** For the new files, relative to the configuration's folder. */
  readonly dir?: string | undefined;
  readonly dryRun: boolean;
};

/** Makes prompt files of prompts that the service has. Sends nothing but GET, and overwrites nothing. */
export async function importPrompts(options: ImportOptions, world: World): Promise<CommandResult> {
  const { workingDirectory, environment } = world;
  const configuration = await loadConfig({ workingDirectory, file: options.config, environment });
  // Standard input can stay open for long. It is read before the lock, so that other commands do not wait for it.
  const ids = configuration.config === null ? makeSuccess([]) : await readPromptIds(options, world);
  return withWorkspaceLock('import', { configuration, dryRun: options.dryRun }, world, async (_, lock) => {
    const workspace = await openWorkspace({ configuration, only: [] }, world);
    // Where there is no prompt file yet, the first one is imported; those that are there are not what it is about.
    const problems = workspace.problems.filter((one) => isError(one) && one.code !== 'prompt/none-found');
    return makeCommandResult(await importInto({ ...workspace, problems }, ids, options, lock, world), world);
  });
}

async function importInto(
  workspace: Workspace,
  ids: Result<readonly string[]>,
  options: ImportOptions,
  lock: WorkspaceLock,
  world: World,
): Promise<CommandRun> {
  const { config, files, problems } = workspace;
  const acceptedWarnings = collectAcceptedWarnings([], config);
  const giveUp = (more: readonly Problem[]) =>
    makeStoppedRun('import', {
      folder: config?.folder ?? null,
      files: [],
      acceptedWarnings,
      problems: [...problems, ...more],
    });
  if (config === null || problems.some(isError)) return giveUp([]);
  const rules = makeImportRules(config, options);
  if (!rules.isSuccess) return giveUp(rules.problems);
  if (!ids.isSuccess) return giveUp(ids.problems);
  const choose = (provider: Provider) => expandPatterns(ids.value, files, provider);
  const read = await observePromptsToImport(choose, files, rules.value, options, world);
  if (!read.isSuccess) return giveUp(read.problems);
  const { service, observation } = read.value;
  const imports = await makeImports(read.value.ids, observation, files, rules.value);
  const loss = lock.lossProblem();
  if (loss !== null) return giveUp([loss]);
  const edited = options.dryRun ? imports.map(({ prompt }) => prompt) : await writeImports(imports, config, world);
  const warnings = imports.flatMap((one) => one.warnings);
  return { ...giveUp(warnings), service, edited };
}

/** Collects the ids from the arguments, the file and standard input, each once. Fails if there is none. */
async function readPromptIds(
  { ids, from, input }: ImportOptions,
  { workingDirectory, stopSignal }: World,
): Promise<Result<readonly string[]>> {
  const typed = ids.includes('-') ? [input()] : [];
  const file = from === undefined ? [] : [createReadStream(resolve(workingDirectory, from))];
  try {
    const lines = await Promise.all([...typed, ...file].map((one) => readIdLines(addAbortSignal(stopSignal, one))));
    const all = [...ids.filter((id) => id !== '-'), ...lines.flat()];
    const none = makeProblem('usage/invalid', { reason: 'No id is named: give ids, - for standard input, or --from.' });
    return all.length === 0 ? makeFailure(none) : makeSuccess([...new Set(all)]);
  } catch (error) {
    return makeFailure(makeProblem('usage/invalid', { reason: `The ids cannot be read: ${getErrorMessage(error)}.` }));
  }
}

/**
 * Replaces each pattern with the names that it matches, except those that have a file already. If the service can list
 * prompts, this fails for a name that the service does not have, before anything is read.
 */
async function expandPatterns(
  all: readonly string[],
  files: readonly PromptFile[],
  provider: Provider,
): Promise<Result<ImportIds>> {
  const ids = all.filter((id) => !isPattern(id));
  if (provider.list === null && ids.length === all.length) return makeSuccess({ ids, refused: new Map() });
  const { files: matching, problems } = await listPrompts(provider, all);
  const known = new Set(files.map(({ id }) => id));
  const found = matching.map(({ name }) => name).filter((name) => !known.has(name));
  const refused = new Map(
    matching.flatMap(({ name, problem }) => (problem === null ? [] : [[name, problem] as const])),
  );
  return problems.length > 0
    ? makeFailure(...problems)
    : makeSuccess({ ids: [...new Set([...ids, ...found])], refused });
}

function isPattern(id: string): boolean {
  return /[*?[{]/.test(id);
}

/** Of a list of ids, in bytes. */
const MAX_ID_LIST_BYTES = 1024 * 1024;

/** One id in a line. Blank lines and those that begin with # are none. */
async function readIdLines(chunks: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_ID_LIST_BYTES) throw new Error('they are more than 1 MiB');
    all.push(chunk);
  }
  const lines = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(all)).split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

/** How prompts are imported into a workspace. */
type ImportRules = {
  readonly config: Config;
  /** For new files, relative to the configuration's folder. */
  readonly folder: string;
  /** Those to pin, in promotion order. */
  readonly environments: readonly Environment[];
  /** Where the text comes from; null: the first environment that serves one. */
  readonly ownEnvironment: string | null;
};

/** Makes the rules of an import from the flags and the configuration. Fails if they contradict each other. */
function makeImportRules(config: Config, { environment, dir }: ImportOptions): Result<ImportRules> {
  const folder = resolveImportFolder(config, dir);
  if (!folder.isSuccess) return folder;
  const environments = chooseEnvironments(config, environment);
  if (!environments.isSuccess) return environments;
  return makeSuccess({
    config,
    folder: folder.value,
    environments: environments.value,
    ownEnvironment: environment ?? null,
  });
}

/** Returns the environments to pin: the configured ones, or the one of the flag if the configuration lists none. */
function chooseEnvironments(config: Config, wanted: string | undefined): Result<readonly Environment[]> {
  const configured = config.environments ?? [];
  if (wanted === undefined) {
    return configured.length > 0 ? makeSuccess(configured) : makeFailure(makeProblem('import/environment-needed'));
  }
  const [problem] = checkEnvironmentFlag('--environment', wanted, config);
  if (problem !== undefined) return makeFailure(problem);
  return makeSuccess(config.environments === null ? [{ name: wanted, allowLatest: true }] : configured);
}

/**
 * Returns the folder for new files, relative to the configuration's folder. Without a flag, it is the folder that the
 * first pattern begins with. Fails if the folder is outside of the repository.
 */
function resolveImportFolder(config: Config, dir: string | undefined): Result<string> {
  const { folder, root } = config;
  const way = dir === undefined ? findFirstFolder(config) : toForwardSlashes(relative(folder, resolve(folder, dir)));
  const outside = leavesFolder(toForwardSlashes(relative(root, resolve(folder, way))));
  return outside ? makeFailure(makeProblem('import/outside', { folder: dir ?? way })) : makeSuccess(way);
}

/** The ids of the prompts to import. */
type ImportIds = {
  readonly ids: readonly string[];
  /** The ids that promptsync does not read, with the problem of each. */
  readonly refused: ReadonlyMap<string, Problem>;
};

/** What the service has of the prompts to import. */
type ImportRead = {
  readonly ids: readonly string[];
  readonly observation: Observation;
  /** How reports name the service. */
  readonly service: string;
};

/** Reads prompts that may have no file yet, beside those that have one. Sends nothing but GET. */
export async function observePromptsToImport(
  choose: (provider: Provider) => Promise<Result<ImportIds>>,
  files: readonly PromptFile[],
  { config, environments }: ImportRules,
  options: ServiceOptions,
  world: World,
): Promise<Result<ImportRead>> {
  const opened = await openProvider({ config, files, repository: null }, world, options);
  if (!opened.isSuccess) return opened;
  const { provider, name: service, close } = opened.value;
  const names = environments.map(({ name }) => name);
  try {
    const chosen = await choose(provider);
    if (!chosen.isSuccess) return chosen;
    const { ids, refused: unread } = chosen.value;
    const wanted = ids.filter((id) => !unread.has(id)).map((id) => makePlainReadRequest(id, names, 'listed'));
    const { observed, failed } = await observePrompts(provider, wanted, makeObserveOptions(config, world));
    const observation = { observed, failed: new Map([...unread, ...failed]) };
    return makeSuccess({ ids, observation, service });
  } finally {
    await close();
  }
}

/** A new file that may be written, or why there is none. */
type PromptImport = {
  readonly prompt: EditedPrompt;
  /** Null unless the prompt is pending. */
  readonly source: string | null;
  readonly warnings: readonly Problem[];
};

/**
 * Makes the new files of prompts that were read. None takes the place of a file that is there, nor of another new one:
 * the first of two comes in. What else there is in its place is looked at as well.
 */
async function makeImports(
  ids: readonly string[],
  observation: Observation,
  existing: readonly PromptIdentity[],
  rules: ImportRules,
): Promise<readonly PromptImport[]> {
  const made: PromptImport[] = [];
  const taken = indexByIdentity(existing);
  for (const id of ids) {
    const one = makeImport(id, observation, rules);
    const { prompt, source } = one;
    const obstacle =
      source === null ? null : (findIdentityConflict(prompt, taken) ?? (await findImportObstacle(prompt.path, rules)));
    made.push(obstacle === null ? one : refuseImport(prompt, 'blocked', obstacle));
    if (source !== null && obstacle === null) listIdentityKeys(prompt).forEach((name) => taken.set(name, prompt));
  }
  return made;
}

/** The new file of one prompt, wherever it goes. A prompt that could not be read has no key and no path that are known. */
export function makeImport(id: string, { observed, failed }: Observation, rules: ImportRules): PromptImport {
  const read = observed.get(id);
  if (read === undefined) {
    const problem = failed.get(id) ?? makeProblem('internal/unexpected', { reason: 'the prompt was not read' });
    return refuseImport({ path: '', id, key: id }, 'failed', problem);
  }
  const { key, name, description } = read.fields ?? { key: id, name: undefined, description: '' };
  const path = posix.join(rules.folder, makeFilePath(key, id));
  const named = { id, key, path };
  const { environments, ownEnvironment: environment } = rules;
  const chosen = chooseImport(read, environments, environment);
  if (chosen === null) {
    const asked = environment === null ? environments.map((one) => one.name) : [environment];
    const evidence = { environments: asked, named: environment !== null };
    return refuseImport(named, 'blocked', makeProblem('import/nothing-active', evidence));
  }
  const content = toFileContent(chosen.content);
  const wanted = { id, key, path, name, description, content, pins: chosen.pins };
  const { source, problems } = renderNewFile(wanted, rules.config.rules);
  if (source === null) return refuseImport(named, 'blocked', ...problems);
  return {
    prompt: { ...named, status: 'pending', edits: makeImportEdits(chosen), problems: [] },
    source,
    warnings: problems,
  };
}

function makeImportEdits({ pins }: ImportChoice): EditedPrompt['edits'] {
  const pinned = pins.map(({ environment, value }) => ({
    kind: 'set-pin' as const,
    environment,
    before: null,
    after: String(value),
  }));
  return [{ kind: 'create-file' }, ...pinned];
}

function refuseImport(
  named: PromptIdentity,
  status: 'blocked' | 'failed',
  ...problems: readonly Problem[]
): PromptImport {
  return { prompt: { ...named, status, edits: [], problems }, source: null, warnings: [] };
}

/** Why a new file cannot be where it would be, below a folder for new files; null where it can. */
async function findImportObstacle(path: string, { config, folder: below }: ImportRules): Promise<Problem | null> {
  const { folder, root } = config;
  if (!makePromptMatcher(config)(path)) {
    return makeProblem('import/not-matched', { path, pattern: posix.join(escapeSelector(below), '**/*.md') });
  }
  const full = resolve(folder, path);
  const link = findFirstLink(root, dirname(full));
  if (link !== null) return makeProblem('import/symbolic-link', { path: toForwardSlashes(relative(folder, link)) });
  const there = await lstat(full).catch(() => null);
  return there === null ? null : makeProblem('import/path-taken', { path });
}

/** What a file that is there, or is about to be, has of a new one: its id, its key or its path. */
export function findIdentityConflict(one: PromptIdentity, taken: ReadonlyMap<string, PromptIdentity>): Problem | null {
  const { id, key } = one;
  const [sameId, sameKey, samePath] = listIdentityKeys(one).map((name) => taken.get(name));
  if (sameId !== undefined) {
    return makeProblem('import/known', { what: 'id', value: id, key: sameId.key, other: sameId.path });
  }
  if (sameKey !== undefined) return makeProblem('import/known', { what: 'key', value: key, key, other: sameKey.path });
  return samePath === undefined ? null : makeProblem('import/path-taken', { path: samePath.path });
}

/** Files by all that no other may have. */
export function indexByIdentity(files: readonly PromptIdentity[]): Map<string, PromptIdentity> {
  return new Map(files.flatMap((file) => listIdentityKeys(file).map((name) => [name, file])));
}

/** Many file systems ignore the case of a path. */
function listIdentityKeys({ id, key, path }: PromptIdentity): readonly string[] {
  return [`id ${id}`, `key ${key}`, `path ${path.toLowerCase()}`].map((name) => name.normalize('NFC'));
}

/** One after the other: one that cannot be written does not stop the others. */
async function writeImports(
  imports: readonly PromptImport[],
  config: Config,
  { stopSignal }: World,
): Promise<readonly EditedPrompt[]> {
  const written: EditedPrompt[] = [];
  for (const { prompt, source } of imports) {
    if (source === null) written.push(prompt);
    else written.push({ ...prompt, ...(await writeImport(prompt.path, source, config, stopSignal)) });
  }
  return written;
}

type ImportOutcome = Pick<EditedPrompt, 'status' | 'problems'>;

async function writeImport(
  path: string,
  source: string,
  { folder }: Config,
  stop: AbortSignal,
): Promise<ImportOutcome> {
  if (stop.aborted) return { status: 'failed', problems: [makeProblem('apply/interrupted')] };
  try {
    if (await createFile(join(folder, path), source)) return { status: 'applied', problems: [] };
    return { status: 'blocked', problems: [makeProblem('import/path-taken', { path })] };
  } catch (error) {
    return { status: 'failed', problems: [makeProblem('edit/unwritable', { reason: getSystemCode(error) }, { path })] };
  }
}
