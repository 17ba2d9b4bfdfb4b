import { dirname, join, relative } from 'node:path';
import { CONFIG_NAME, type Config } from '../config/config.ts';
import { findConfigFile, parseConfig } from '../config/load.ts';
import type { WrittenFile } from '../domain/edits.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { findRoot, slashed } from '../files/paths.ts';
import type { Run } from '../report/make-report.ts';
import { decideAll, faultsIn, gatherAnswers, type InitAnswers, type InitFlags } from './init-answers.ts';
import {
  configText,
  type Decided,
  firstPrompt,
  type InitFile,
  type InitTarget,
  lineFiles,
  schemaPath,
  workflowFiles,
  writeDecided,
} from './init-files.ts';
import type { ServiceOptions } from './open-service.ts';
import { exitCodeOf, notRun, type CommandResult } from './result.ts';
import type { World } from '../domain/world.ts';

export type InitOptions = InitFlags & ServiceOptions & { readonly force: boolean };

/** Begins a workspace in the working directory. What is there already is kept, unless somebody says otherwise. */
export async function init(options: InitOptions, world: World): Promise<CommandResult> {
  const run = await begin(options, world);
  const exitCode = exitCodeOf(run, { tellPending: false, interrupted: world.stop.aborted });
  return { run, texts: new Map(), exitCode };
}

async function begin(options: InitOptions, world: World): Promise<Run> {
  const giveUp = (problems: readonly Problem[]) => notRun('init', { files: [], problems });
  const answers = await gatherAnswers(options, world.interview);
  if ('code' in answers) return giveUp([answers]);
  const faults = faultsIn(answers);
  if (faults.length > 0) return giveUp(faults);
  const { config, problems } = configOf(answers, world);
  if (config === null) return giveUp(problems);
  world.keepFolder(config.folder);
  const first = await firstPrompt(answers, config, options, world);
  if (first.problems.some(isError)) return giveUp(first.problems);
  if (world.stop.aborted) return giveUp([makeProblem('apply/interrupted')]);
  const files = filesOf(answers, config, first.files);
  const { written, problems: obstacles } = await writeAll(configFile(answers, config), files, {
    ...{ workspace: config.folder, root: config.root, force: options.force, interview: world.interview },
  });
  const warnings = [...nestedIn(config), ...first.problems];
  return { ...giveUp([...warnings, ...obstacles]), service: first.service, written };
}

/** The configuration that is about to be written, as it will be read; the variable with the address is left aside. */
function configOf(answers: InitAnswers, { workingDirectory, environment }: World) {
  return parseConfig(configText(answers), {
    file: join(workingDirectory, CONFIG_NAME),
    shownPath: CONFIG_NAME,
    root: findRoot(workingDirectory),
    environment: { ...environment, PROMPTSYNC_BASE_URL: '' },
  });
}

/** With a comment that tells editors where its schema is. */
function configFile(answers: InitAnswers, { folder, root }: Config): InitFile {
  const comment = `# yaml-language-server: $schema=${schemaPath(folder, root)}\n`;
  return { path: CONFIG_NAME, kind: 'whole', content: comment + configText(answers) };
}

/** What there is beside the configuration. */
function filesOf(answers: InitAnswers, { folder, root }: Config, prompts: readonly InitFile[]): readonly InitFile[] {
  return [...prompts, ...(answers.workflows ? workflowFiles(folder, root, answers) : []), ...lineFiles(answers)];
}

async function writeAll(config: InitFile, files: readonly InitFile[], target: InitTarget) {
  const { decided, obstacles, warnings } = await decideAll(config, files, target);
  if (obstacles.length > 0) return { written: [], problems: obstacles };
  const written: WrittenFile[] = [];
  const problems: Problem[] = [];
  for (const one of decided) {
    const problem = await writeDecided(one, target);
    if (problem === null) written.push({ path: one.file.path, status: one.status });
    problems.push(...(problem === null ? keptNote(one) : [problem]));
  }
  return { written, problems: [...problems, ...warnings] };
}

/** A file that is kept as it is may be another than was asked for. */
function keptNote({ file: { path, kind, content }, status, before }: Decided): readonly Problem[] {
  const differs = status === 'kept' && kind === 'whole' && before !== content;
  return differs ? [makeProblem('init/kept', { path })] : [];
}

/** Somebody may not know that there is a workspace already. */
function nestedIn({ folder, root }: Config): readonly Problem[] {
  const above = folder === root ? null : findConfigFile(dirname(folder));
  return above === null ? [] : [makeProblem('init/nested', { path: slashed(relative(folder, above)) })];
}
