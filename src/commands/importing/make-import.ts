import type { Config } from '../../config/config.ts';
import type { EditedPrompt } from '../../domain/edits.ts';
import type { Observation, Observed } from '../../domain/observed.ts';
import type { Environment } from '../../domain/policy.ts';
import { chooseImport, type Chosen } from '../../planning/choose-import.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { writeNewFile } from '../../files/new-file.ts';
import { conflictWith, importPath, obstacleAt, type Named } from './import-path.ts';

/** How prompts are imported into a workspace. */
export type ImportRules = {
  readonly config: Config;
  /** For new files, relative to the configuration's folder. */
  readonly folder: string;
  /** Those to pin, in promotion order. */
  readonly environments: readonly Environment[];
  /** Where the text comes from; null: the first environment that serves one. */
  readonly environment: string | null;
};

/** A new file that may be written, or why there is none. */
export type Import = {
  readonly prompt: EditedPrompt;
  /** Null unless the prompt is pending. */
  readonly source: string | null;
  readonly warnings: readonly Problem[];
};

/**
 * Makes the new files of prompts that were read. None takes the place of a file that is there, nor of another new one:
 * the first of two comes in.
 */
export async function makeImports(
  ids: readonly string[],
  observation: Observation,
  existing: readonly Named[],
  rules: ImportRules,
): Promise<readonly Import[]> {
  const made: Import[] = [];
  for (const id of ids) {
    const observed = observation.observed.get(id);
    const accepted = made.filter(({ source }) => source !== null).map(({ prompt }) => prompt);
    made.push(
      observed === undefined ? unread(id, observation) : await makeImport(observed, [...existing, ...accepted], rules),
    );
  }
  return made;
}

/** The new file of one prompt; what else there is in its place is looked at as well. */
async function makeImport(observed: Observed, others: readonly Named[], rules: ImportRules): Promise<Import> {
  const result = newFileOf(observed, rules);
  if (result.source === null) return result;
  const { prompt } = result;
  const problem = conflictWith(prompt, others) ?? (await obstacleAt(prompt.path, rules));
  return problem === null ? result : refused(prompt, 'blocked', problem);
}

/** The new file of one prompt, wherever it goes. */
export function newFileOf({ prompt, active }: Observed, rules: ImportRules): Import {
  const { id, key, name, description } = prompt;
  const path = importPath(rules.folder, key, id);
  const named = { id, key, path };
  const { environments, environment } = rules;
  const chosen = chooseImport({ active }, environments, environment);
  if (chosen === null) {
    const asked = environment === null ? environments.map((one) => one.name) : [environment];
    const evidence = { environments: asked, named: environment !== null };
    return refused(named, 'blocked', makeProblem('import/nothing-active', evidence));
  }
  const { text, metadata } = chosen.version;
  const fields = { id, key, path, name, description };
  const { source, problems } = writeNewFile({ ...fields, text, metadata, pins: chosen.pins });
  if (source === null) return refused(named, 'blocked', ...problems);
  return { prompt: { ...named, status: 'pending', edits: editsOf(chosen), problems: [] }, source, warnings: problems };
}

function editsOf({ pins }: Chosen): EditedPrompt['edits'] {
  const pinned = pins.map(({ environment, pin }) => ({
    kind: 'set-pin' as const,
    ...{ environment, before: null, after: String(pin) },
  }));
  return [{ kind: 'create-file' }, ...pinned];
}

function refused(named: Named, status: 'blocked' | 'failed', ...problems: readonly Problem[]): Import {
  return { prompt: { ...named, status, edits: [], problems }, source: null, warnings: [] };
}

/** A prompt that could not be read has no key and no path that are known. */
function unread(id: string, { failed }: Observation): Import {
  const problem = failed.get(id) ?? makeProblem('internal/unexpected', { reason: 'the prompt was not read' });
  return refused({ path: '', id, key: id }, 'failed', problem);
}
