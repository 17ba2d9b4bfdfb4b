import type { Config } from '../../config/config.ts';
import { isError, type Problem } from '../../problem.ts';
import { findPromptPaths } from '../../files/find.ts';
import { readPrompts } from '../../files/read.ts';
import { conflictWith } from '../importing/import-path.ts';
import type { InitAnswers } from './init-answers.ts';
import { examplePrompt, promptFile, type InitFile } from './init-files.ts';
import { newFileOf } from '../importing/make-import.ts';
import type { ServiceOptions } from '../open-service.ts';
import { readToImport } from '../importing/read-to-import.ts';
import type { World } from '../world.ts';

/** The first prompt file of a workspace: none with an error among the problems, or where there are some already. */
export type FirstPrompt = {
  readonly files: readonly InitFile[];
  /** How reports call the service; null when it was not asked. */
  readonly service: string | null;
  readonly problems: readonly Problem[];
};

/** Makes the first prompt file: an imported prompt, which tells whether address and key are right, or an example. */
export async function firstPrompt(
  answers: InitAnswers,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  if (answers.id !== null) return importFirst(answers.id, answers.folder, config, options, world);
  const example = examplePrompt(answers);
  const { paths } = findPromptPaths(config);
  const files = paths.length === 0 || paths.includes(example.path) ? [example] : [];
  return { files, service: null, problems: [] };
}

async function importFirst(
  id: string,
  folder: string,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  const environments = config.environments ?? [];
  const { files } = await readPrompts(config, { known: null, reserved: [] });
  const names = environments.map(({ name }) => name);
  const read = await readToImport({ config, files, ids: [id], environments: names }, options, world);
  const observed = read.observation?.observed.get(id);
  const { service } = read;
  if (observed === undefined) {
    const failed = read.observation?.failed.get(id);
    return { files: [], service, problems: [...read.problems, ...(failed === undefined ? [] : [failed])] };
  }
  const { prompt, source, warnings } = newFileOf(observed, { config, folder, environments, environment: null });
  const others = files.filter(({ path }) => path !== prompt.path);
  const conflict = source === null ? null : conflictWith(prompt, others);
  const problems = [...prompt.problems, ...warnings, ...(conflict === null ? [] : [conflict])];
  if (source === null || problems.some(isError)) return { files: [], service, problems };
  return { files: [promptFile(prompt.path, source)], service, problems };
}
