import { join } from 'node:path';
import { type Import, importFolder, type ImportRules, makeImports } from './import-file.ts';
import { openProvider, type ServiceOptions } from './open-service.ts';
import { environmentProblems } from './pin-edit.ts';
import { type CommandResult, exitCodeOf, notRun } from './result.ts';
import type { Config } from '../config/config.ts';
import { openWorkspace, type Workspace } from '../desired/workspace.ts';
import type { EditedPrompt } from '../domain/edits.ts';
import { type Observation, readingOnly } from '../domain/observed.ts';
import type { Environment } from '../domain/policy.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { createFile } from '../files/read-write.ts';
import { observe } from '../observing/observe.ts';
import { isError, makeProblem, type Problem, systemCodeOf } from '../problem.ts';
import type { Run } from '../report/make-report.ts';

export type ImportOptions = ServiceOptions & {
  /** As given with --config, relative to the working directory. */
  readonly config?: string | undefined;
  readonly ids: readonly string[];
  /** Whose text becomes the file's. */
  readonly environment?: string | undefined;
  /** For the new files, relative to the configuration's folder. */
  readonly dir?: string | undefined;
  readonly dryRun: boolean;
};

/** Makes prompt files of prompts that the service has. Sends nothing but GET, and overwrites nothing. */
export async function importPrompts(options: ImportOptions, world: World): Promise<CommandResult> {
  const workspace = await openWorkspace({ config: options.config, only: [] }, world);
  // Where there is no prompt file yet, the first one is imported.
  const problems = workspace.problems.filter(({ code }) => code !== 'prompt/none-found');
  const run = await importInto({ ...workspace, problems }, options, world);
  const exitCode = exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted });
  return { run, exitCode };
}

async function importInto(workspace: Workspace, options: ImportOptions, world: World): Promise<Run> {
  const { config, files, problems } = workspace;
  const giveUp = (further: readonly Problem[]) => notRun('import', { files: [], problems: [...problems, ...further] });
  if (config === null || problems.some(isError)) return giveUp([]);
  const rules = rulesOf(config, options);
  if ('code' in rules) return giveUp([rules]);
  const ids = [...new Set(options.ids)];
  const environments = rules.environments.map(({ name }) => name);
  const read = await readToImport({ config, files, ids, environments }, options, world);
  if (read.observation === null) return giveUp(read.problems);
  const imports = await makeImports(ids, read.observation, files, rules);
  const edited = options.dryRun ? imports.map(({ prompt }) => prompt) : await writeAll(imports, config, world);
  const warnings = imports.flatMap((one) => one.warnings);
  return { ...giveUp(warnings), service: read.service, edited };
}

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

/** One after the other: one that cannot be written does not stop the others. */
async function writeAll(imports: readonly Import[], config: Config, { stop }: World): Promise<readonly EditedPrompt[]> {
  const written: EditedPrompt[] = [];
  for (const { prompt, source } of imports) {
    const problem = source === null ? null : await write(prompt.path, source, config, stop);
    const status = problem === null ? 'applied' : problem.code === 'import/path-taken' ? 'blocked' : 'failed';
    written.push(source === null ? prompt : { ...prompt, status, problems: problem === null ? [] : [problem] });
  }
  return written;
}

async function write(path: string, source: string, { folder }: Config, stop: AbortSignal): Promise<Problem | null> {
  if (stop.aborted) return makeProblem('apply/interrupted');
  try {
    const created = await createFile(join(folder, path), source);
    return created ? null : makeProblem('import/path-taken', { path });
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: systemCodeOf(error) }, { path });
  }
}

export type ImportRequest = {
  readonly config: Config;
  /** Those that the workspace has. */
  readonly files: readonly PromptFile[];
  readonly ids: readonly string[];
  readonly environments: readonly string[];
};

export type ReadToImport = {
  /** Null where the service cannot be asked; the problems say why. */
  readonly observation: Observation | null;
  /** How reports call the service. */
  readonly service: string | null;
  readonly problems: readonly Problem[];
};

/** Reads prompts that may have no file yet. Sends nothing but GET. */
export async function readToImport(
  { config, files, ids, environments }: ImportRequest,
  options: ServiceOptions,
  world: World,
): Promise<ReadToImport> {
  const opened = await openProvider({ config, files, repository: null }, world, options);
  if ('problems' in opened) return { observation: null, service: null, problems: opened.problems };
  const wanted = ids.map((id) => readingOnly(id, environments));
  try {
    const observation = await observe(opened.provider, wanted, {
      concurrency: config.concurrency,
      onObserved: (done, all) => world.onProgress({ what: 'Observing', done, all }),
    });
    return { observation, service: opened.name, problems: [] };
  } finally {
    await opened.close();
  }
}
