import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { openWorkspace, type Workspace } from '../desired/workspace.ts';
import { ownAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { EditedPrompt } from '../domain/edits.ts';
import { literalSelector } from '../domain/text.ts';
import { type Observation, readingOnly } from '../domain/observed.ts';
import type { Environment } from '../domain/policy.ts';
import type { Named, PromptFile } from '../domain/prompt-file.ts';
import type { Provider } from '../domain/provider.ts';
import { contentForFile } from '../domain/versions.ts';
import type { World } from '../domain/world.ts';
import { firstFolder, promptMatcher } from '../files/find.ts';
import { fileNameOf, writeNewFile } from '../files/new-file.ts';
import { firstLink, leaves, slashed } from '../files/paths.ts';
import type { WorkspaceLock } from '../files/lock-workspace.ts';
import { createFile } from '../files/read-write.ts';
import { observe } from '../observing/observe.ts';
import { chooseImport, type Chosen } from '../planning/choose-import.ts';
import { isError, makeProblem, messageOf, type Problem, systemCodeOf } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import { listPrompts, observing, openProvider, type ServiceOptions } from './open-service.ts';
import { environmentProblems } from './pin-edit.ts';
import { type CommandResult, notRun, resultOf } from './result.ts';
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
  const ids = configuration.config === null ? [] : await gatherIds(options, world);
  return withWorkspaceLock('import', { configuration, dryRun: options.dryRun }, world, async (_, lock) => {
    const workspace = await openWorkspace({ configuration, only: [] }, world);
    // Where there is no prompt file yet, the first one is imported; those that are there are not what it is about.
    const problems = workspace.problems.filter((one) => isError(one) && one.code !== 'prompt/none-found');
    return resultOf(await importInto({ ...workspace, problems }, ids, options, lock, world), world);
  });
}

async function importInto(
  workspace: Workspace,
  ids: readonly string[] | Problem,
  options: ImportOptions,
  lock: WorkspaceLock,
  world: World,
): Promise<Run> {
  const { config, files, problems } = workspace;
  const acceptedWarnings = ownAcceptedWarnings([], config);
  const giveUp = (more: readonly Problem[]) =>
    notRun('import', { files: [], acceptedWarnings, problems: [...problems, ...more] });
  if (config === null || problems.some(isError)) return giveUp([]);
  const rules = rulesOf(config, options);
  if ('code' in rules) return giveUp([rules]);
  if ('code' in ids) return giveUp([ids]);
  const read = await readToImport((provider) => expandPatterns(ids, files, provider), files, rules, options, world);
  if ('problems' in read) return giveUp(read.problems);
  const imports = await makeImports(read.ids, read.observation, files, rules);
  const loss = lock.lossProblem();
  if (loss !== null) return giveUp([loss]);
  const edited = options.dryRun ? imports.map(({ prompt }) => prompt) : await writeAll(imports, config, world);
  const warnings = imports.flatMap((one) => one.warnings);
  return { ...giveUp(warnings), service: read.service, edited };
}

/** The ids as arguments, file and standard input name them, each once. */
async function gatherIds(
  { ids, from, input }: ImportOptions,
  { workingDirectory, stop }: World,
): Promise<readonly string[] | Problem> {
  const typed = ids.includes('-') ? [input()] : [];
  const file = from === undefined ? [] : [createReadStream(resolve(workingDirectory, from))];
  try {
    const lines = await Promise.all([...typed, ...file].map((one) => readIds(addAbortSignal(stop, one))));
    const all = [...ids.filter((id) => id !== '-'), ...lines.flat()];
    const none = makeProblem('usage/invalid', { reason: 'No id is named: give ids, - for standard input, or --from.' });
    return all.length === 0 ? none : [...new Set(all)];
  } catch (error) {
    return makeProblem('usage/invalid', { reason: `The ids cannot be read: ${messageOf(error)}.` });
  }
}

/**
 * The ids, with the names that patterns match in place of these; what has a file already is not what a pattern was meant
 * for. Where prompts can be listed, a name that is not there is known before anything is read.
 */
async function expandPatterns(all: readonly string[], files: readonly PromptFile[], provider: Provider): Promise<Ids> {
  const ids = all.filter((id) => !isPattern(id));
  if (provider.list === null && ids.length === all.length) return { ids, refused: new Map() };
  const { files: matching, problems } = await listPrompts(provider, all);
  const known = new Set(files.map(({ id }) => id));
  const found = matching.map(({ name }) => name).filter((name) => !known.has(name));
  const refused = new Map(
    matching.flatMap(({ name, problem }) => (problem === null ? [] : [[name, problem] as const])),
  );
  return problems.length > 0 ? { problems } : { ids: [...new Set([...ids, ...found])], refused };
}

function isPattern(id: string): boolean {
  return /[*?[{]/.test(id);
}

/** Of a list of ids, in bytes. */
const LONGEST_LIST = 1024 * 1024;

/** One id in a line. Blank lines and those that begin with # are none. */
async function readIds(chunks: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > LONGEST_LIST) throw new Error('they are more than 1 MiB');
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
  readonly environment: string | null;
};

/** What is imported from where and to where, or what forbids it. */
function rulesOf(config: Config, { environment, dir }: ImportOptions): ImportRules | Problem {
  const folder = importFolder(config, dir);
  if (typeof folder !== 'string') return folder;
  const environments = environmentsOf(config, environment);
  if ('code' in environments) return environments;
  return { config, folder, environments, environment: environment ?? null };
}

/** Those to pin: the configured ones, else the one that was asked for. */
function environmentsOf(config: Config, wanted: string | undefined): readonly Environment[] | Problem {
  const configured = config.environments ?? [];
  if (wanted === undefined) return configured.length > 0 ? configured : makeProblem('import/environment-needed');
  const [problem] = environmentProblems('--environment', wanted, config);
  if (problem !== undefined) return problem;
  return config.environments === null ? [{ name: wanted, allowLatest: true }] : configured;
}

/** The folder for new files, relative to the configuration's; by default the one that the first pattern begins with. */
function importFolder(config: Config, dir: string | undefined): string | Problem {
  const { folder, root } = config;
  const way = dir === undefined ? firstFolder(config) : slashed(relative(folder, resolve(folder, dir)));
  const outside = leaves(slashed(relative(root, resolve(folder, way))));
  return outside ? makeProblem('import/outside', { folder: dir ?? way }) : way;
}

/** What is to be imported, or why that is not known. */
type Ids =
  | {
      readonly ids: readonly string[];
      /** The ids that promptsync does not read, with the problem of each. */
      readonly refused: ReadonlyMap<string, Problem>;
    }
  | { readonly problems: readonly Problem[] };

/** Reads prompts that may have no file yet, beside those that have one. Sends nothing but GET. */
export async function readToImport(
  choose: (provider: Provider) => Promise<Ids>,
  files: readonly PromptFile[],
  { config, environments }: ImportRules,
  options: ServiceOptions,
  world: World,
) {
  const opened = await openProvider({ config, files, repository: null }, world, options);
  if ('problems' in opened) return opened;
  const names = environments.map(({ name }) => name);
  try {
    const chosen = await choose(opened.provider);
    if ('problems' in chosen) return chosen;
    const { ids, refused: unread } = chosen;
    const wanted = ids.filter((id) => !unread.has(id)).map((id) => readingOnly(id, names, 'record'));
    const { observed, failed } = await observe(opened.provider, wanted, observing(config, world));
    const observation = { observed, failed: new Map([...unread, ...failed]) };
    return { ids, observation, service: opened.name };
  } finally {
    await opened.close();
  }
}

/** A new file that may be written, or why there is none. */
type Import = {
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
  existing: readonly Named[],
  rules: ImportRules,
): Promise<readonly Import[]> {
  const made: Import[] = [];
  const taken = takenBy(existing);
  for (const id of ids) {
    const one = newFileOf(id, observation, rules);
    const { prompt, source } = one;
    const obstacle = source === null ? null : (conflictWith(prompt, taken) ?? (await obstacleAt(prompt.path, rules)));
    made.push(obstacle === null ? one : refused(prompt, 'blocked', obstacle));
    if (source !== null && obstacle === null) namesOf(prompt).forEach((name) => taken.set(name, prompt));
  }
  return made;
}

/** The new file of one prompt, wherever it goes. A prompt that could not be read has no key and no path that are known. */
export function newFileOf(id: string, { observed, failed }: Observation, rules: ImportRules): Import {
  const read = observed.get(id);
  if (read === undefined) {
    const problem = failed.get(id) ?? makeProblem('internal/unexpected', { reason: 'the prompt was not read' });
    return refused({ path: '', id, key: id }, 'failed', problem);
  }
  const { key, name, description } = read.fields ?? { key: id, name: undefined, description: '' };
  const path = posix.join(rules.folder, fileNameOf(key, id));
  const named = { id, key, path };
  const { environments, environment } = rules;
  const chosen = chooseImport(read, environments, environment);
  if (chosen === null) {
    const asked = environment === null ? environments.map((one) => one.name) : [environment];
    const evidence = { environments: asked, named: environment !== null };
    return refused(named, 'blocked', makeProblem('import/nothing-active', evidence));
  }
  const { text, metadata = {} } = contentForFile(chosen.content);
  const fields = { id, key, path, name, description };
  const { source, problems } = writeNewFile({ ...fields, text, metadata, pins: chosen.pins }, rules.config.rules);
  if (source === null) return refused(named, 'blocked', ...problems);
  return { prompt: { ...named, status: 'pending', edits: editsOf(chosen), problems: [] }, source, warnings: problems };
}

function editsOf({ pins }: Chosen): EditedPrompt['edits'] {
  const pinned = pins.map(({ environment, value }) => ({
    kind: 'set-pin' as const,
    ...{ environment, before: null, after: String(value) },
  }));
  return [{ kind: 'create-file' }, ...pinned];
}

function refused(named: Named, status: 'blocked' | 'failed', ...problems: readonly Problem[]): Import {
  return { prompt: { ...named, status, edits: [], problems }, source: null, warnings: [] };
}

/** Why a new file cannot be where it would be, below a folder for new files; null where it can. */
async function obstacleAt(path: string, { config, folder: below }: ImportRules): Promise<Problem | null> {
  const { folder, root } = config;
  if (!promptMatcher(config)(path)) {
    return makeProblem('import/not-matched', { path, pattern: posix.join(literalSelector(below), '**/*.md') });
  }
  const full = resolve(folder, path);
  const link = firstLink(root, dirname(full));
  if (link !== null) return makeProblem('import/symbolic-link', { path: slashed(relative(folder, link)) });
  const there = await lstat(full).catch(() => null);
  return there === null ? null : makeProblem('import/path-taken', { path });
}

/** What a file that is there, or is about to be, has of a new one: its id, its key or its path. */
export function conflictWith(one: Named, taken: ReadonlyMap<string, Named>): Problem | null {
  const { id, key } = one;
  const [sameId, sameKey, samePath] = namesOf(one).map((name) => taken.get(name));
  if (sameId !== undefined) {
    return makeProblem('import/known', { what: 'id', value: id, key: sameId.key, other: sameId.path });
  }
  if (sameKey !== undefined) return makeProblem('import/known', { what: 'key', value: key, key, other: sameKey.path });
  return samePath === undefined ? null : makeProblem('import/path-taken', { path: samePath.path });
}

/** Files by all that no other may have. */
export function takenBy(files: readonly Named[]): Map<string, Named> {
  return new Map(files.flatMap((file) => namesOf(file).map((name) => [name, file])));
}

/** Many file systems ignore the case of a path. */
function namesOf({ id, key, path }: Named): readonly string[] {
  return [`id ${id}`, `key ${key}`, `path ${path.toLowerCase()}`].map((name) => name.normalize('NFC'));
}

/** One after the other: one that cannot be written does not stop the others. */
async function writeAll(imports: readonly Import[], config: Config, { stop }: World): Promise<readonly EditedPrompt[]> {
  const written: EditedPrompt[] = [];
  for (const { prompt, source } of imports) {
    if (source === null) written.push(prompt);
    else written.push({ ...prompt, ...(await write(prompt.path, source, config, stop)) });
  }
  return written;
}

type Written = Pick<EditedPrompt, 'status' | 'problems'>;

async function write(path: string, source: string, { folder }: Config, stop: AbortSignal): Promise<Written> {
  if (stop.aborted) return { status: 'failed', problems: [makeProblem('apply/interrupted')] };
  try {
    if (await createFile(join(folder, path), source)) return { status: 'applied', problems: [] };
    return { status: 'blocked', problems: [makeProblem('import/path-taken', { path })] };
  } catch (error) {
    return { status: 'failed', problems: [makeProblem('edit/unwritable', { reason: systemCodeOf(error) }, { path })] };
  }
}
