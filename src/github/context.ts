import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { makeWorld } from '../cli/make-world.ts';
import type { ServiceOptions } from '../commands/open-service.ts';
import { CONFIG_NAME } from '../config/config.ts';
import { type ConfigResult, loadConfig } from '../config/load-config.ts';
import { makeGitSettings } from '../desired/open-workspace.ts';
import type { World } from '../domain/world.ts';
import { findRepositoryRoot, isWithin, toForwardSlashes } from '../files/paths.ts';
import type { GitSettings } from '../git/open-git.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { connectGitHub, type GitHub } from './client.ts';
import { type ActionEvent, readEvent } from './event.ts';
import type { SafeActionHost, Inputs } from './runner.ts';

export type ActionContext = {
  readonly inputs: Inputs;
  readonly event: ActionEvent;
  /** Its working directory is the folder that the inputs are relative to. */
  readonly world: World;
  /** Read once, before git is started: it names the variable of the key, which git does not get. */
  readonly configuration: ConfigResult;
  /** The branch that goes live; null where nobody names it. */
  readonly branch: string | null;
  readonly git: GitSettings;
  /** Null without a token: then nothing is read from GitHub and nothing published there. */
  readonly github: GitHub | null;
};

/** Makes the context of the process. Throws a `ProblemError` when the event cannot be read. */
export async function makeContext(inputs: Inputs, host: SafeActionHost): Promise<ActionContext> {
  const { environment, workingDirectory } = host;
  const { 'github-token': token } = inputs;
  const workspace = environment['GITHUB_WORKSPACE'] || workingDirectory;
  const folder = resolve(workspace, inputs['working-directory']);
  // With the dot it is there only if it is a folder.
  if (!existsSync(`${folder}/.`) || !isWithin(folder, workspace)) {
    const expected = `there is no folder "${inputs['working-directory']}" in the workspace`;
    throw new ProblemError(makeProblem('action/invalid-input', { input: 'working-directory', expected }));
  }
  const baseUrl = inputs['base-url'] ?? environment['PROMPTSYNC_BASE_URL'];
  const variables = { ...environment, PROMPTSYNC_BASE_URL: baseUrl };
  const placed = { ...host, environment: variables, workingDirectory: folder };
  const read = await readConfig(inputs, { workspace, folder, environment: variables });
  const event = await readEvent(environment);
  // A checkout does not know which branch is the default one.
  const branch = read.config?.branch ?? event.defaultBranch;
  const config = read.config && { ...read.config, branch };
  return {
    inputs,
    event,
    branch,
    configuration: { ...read, config },
    // A configuration that cannot be read is reported by the run.
    git: config === null ? { root: findRepositoryRoot(folder), keyVariables: [] } : makeGitSettings(config),
    world: makeWorld(placed, { onInterrupt: 'Interrupted: the call in flight is finished.\n' }),
    github: token === undefined ? null : connectGitHub(token, host),
  };
}

type ConfigPlace = {
  readonly workspace: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/**
 * Reads the configuration from its one place. It does not look in parent folders: a pull request could delete the
 * configuration of a team, and the key of the team would go to the service that a configuration above it names.
 */
async function readConfig(inputs: Inputs, { workspace, folder, environment }: ConfigPlace): Promise<ConfigResult> {
  const file = inputs.config ?? CONFIG_NAME;
  const path = resolve(folder, file);
  if (!existsSync(path)) {
    const shownPath = toForwardSlashes(relative(workspace, path));
    return { config: null, problems: [makeProblem('action/no-config', { path: shownPath })] };
  }
  const urlSource = inputs['base-url'] && 'the input `base-url`';
  return loadConfig({ workingDirectory: folder, file, environment, urlSource });
}

/** The options that every command gets: the configuration that was read, and the keys for the service. */
export type AccessOptions = Pick<ActionContext, 'configuration'> & Required<Pick<ServiceOptions, 'keys'>>;

export function makeAccessOptions({ inputs, configuration }: ActionContext): AccessOptions {
  const keys = (['api-key', 'public-key'] as const).map((name) => ({
    value: inputs[name],
    label: `The input \`${name}\``,
  }));
  return { configuration, keys };
}
