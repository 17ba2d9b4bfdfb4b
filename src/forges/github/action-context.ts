import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeSystem } from '../../cli/make-system.ts';
import type { ServiceOptions } from '../../run/open-service.ts';
import { CONFIG_NAME, makeGitSettings, MISSPELLED_NAME } from '../../workspace/config.ts';
import { type ConfigResult, loadConfig } from '../../workspace/load-config.ts';
import type { System } from '../../domain/system.ts';
import { findFirstLink, findRepositoryRoot, isWithin, makeRelativePath } from '../../workspace/paths.ts';
import type { GitSettings } from '../../git/run-git.ts';
import { makeProblem, ProblemError } from '../../problem.ts';
import { connectGitHub, type GitHub } from './github-client.ts';
import { type ActionEvent, readEvent } from './action-event.ts';
import type { SafeActionProcess, Inputs } from './action-runner.ts';

export type ActionContext = {
  readonly inputs: Inputs;
  readonly event: ActionEvent;
  /** The `System` of the run. Its working directory is the folder from the input `working-directory`. */
  readonly system: System;
  /** The configuration, read before git starts: it names the variable of the API key, which git must not inherit. */
  readonly configuration: ConfigResult;
  /** The live branch, which promptsync syncs. Null if neither the configuration nor the event specifies it. */
  readonly branch: string | null;
  readonly git: GitSettings;
  /** The client for GitHub. Null without a token. Then promptsync neither reads from GitHub nor publishes there. */
  readonly github: GitHub | null;
};

/** Throws a `ProblemError` if the working directory is not a folder in the workspace, or if the event is invalid. */
export async function makeContext(inputs: Inputs, host: SafeActionProcess): Promise<ActionContext> {
  const { environment, workingDirectory } = host;
  const { 'github-token': token } = inputs;
  const workspace = environment['GITHUB_WORKSPACE'] || workingDirectory;
  const folder = resolve(workspace, inputs['working-directory']);
  // `<path>/.` exists only if the path is a folder.
  if (!existsSync(`${folder}/.`) || !isWithin(folder, workspace)) {
    const expected = `the workspace has no folder "${inputs['working-directory']}"`;
    throw new ProblemError(makeProblem('action/invalid-input', { input: 'working-directory', expected }));
  }
  const baseUrl = inputs['base-url'] ?? environment['PROMPTSYNC_BASE_URL'];
  const variables = { ...environment, PROMPTSYNC_BASE_URL: baseUrl };
  const hostInFolder = { ...host, environment: variables, workingDirectory: folder };
  const configResult = await readConfig(inputs, { workspace, folder, environment: variables });
  const event = await readEvent(environment);
  // A checkout does not contain the name of the default branch, so use the name from the event.
  const branch = configResult.config?.branch ?? event.defaultBranch;
  const config = configResult.config && { ...configResult.config, branch };
  return {
    inputs,
    event,
    branch,
    configuration: { ...configResult, config },
    // If the configuration cannot be read, `config` is null here, and a later step reports the problem.
    git: config === null ? { root: findRepositoryRoot(folder), keyVariables: [] } : makeGitSettings(config),
    system: makeSystem(hostInFolder, { onInterrupt: INTERRUPTED }),
    github: token === undefined ? null : connectGitHub(token, host),
  };
}

/** The message that promptsync prints at the first SIGINT or SIGTERM. */
const INTERRUPTED = 'Interrupted: promptsync finishes the request in flight and then stops.\n';

type ConfigLocation = {
  readonly workspace: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/**
 * Reads the configuration file that the inputs specify. A pull request must not make promptsync send a team's key to
 * the service of another configuration. It could delete the team's configuration, so this function does not search
 * parent folders. It could replace a folder with a link, so this function rejects symbolic links.
 */
async function readConfig(inputs: Inputs, { workspace, folder, environment }: ConfigLocation): Promise<ConfigResult> {
  const file = inputs.config ?? CONFIG_NAME;
  const path = resolve(folder, file);
  const link = findFirstLink(workspace, folder) ?? findFirstLink(workspace, path);
  if (link !== null) {
    return {
      config: null,
      problems: [makeProblem('action/linked-config', { link: makeRelativePath(workspace, link) })],
    };
  }
  if (!existsSync(path)) {
    const other = resolve(folder, MISSPELLED_NAME);
    const misnamed = file === CONFIG_NAME && existsSync(other) ? makeRelativePath(workspace, other) : null;
    const evidence = { path: makeRelativePath(workspace, path), misnamed };
    return { config: null, problems: [makeProblem('action/no-config', evidence)] };
  }
  const urlSource = inputs['base-url'] && 'the `base-url` input';
  return loadConfig({ workingDirectory: folder, file, environment, urlSource });
}

type AccessOptions = Pick<ActionContext, 'configuration'> & Required<Pick<ServiceOptions, 'keys'>>;

export function makeAccessOptions({ inputs, configuration }: ActionContext): AccessOptions {
  const keys = (['api-key', 'public-key'] as const).map((name) => ({
    value: inputs[name],
    label: `The \`${name}\` input`,
  }));
  return { configuration, keys };
}
