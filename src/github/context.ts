import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { worldOf } from '../cli/world.ts';
import { type ConfigResult, loadConfig } from '../config/load.ts';
import { gitStartOf } from '../desired/workspace.ts';
import type { World } from '../domain/world.ts';
import { findRoot } from '../files/paths.ts';
import type { GitStart } from '../git/driver.ts';
import { makeProblem, messageOf, ProblemError } from '../problem.ts';
import { connectGitHub, type GitHub } from './client.ts';
import { type Event, parseEvent } from './event.ts';
import type { HidingActionHost, Inputs } from './runner.ts';

/** Everything that one run of the action works with. */
export type Context = {
  readonly inputs: Inputs;
  readonly event: Event;
  readonly world: World;
  /** The folder that the inputs are relative to. */
  readonly folder: string;
  /** Read once, before git is started: it names the variable of the key, which git does not get. */
  readonly configuration: ConfigResult;
  readonly git: GitStart;
  /** Null without a token: then nothing is read from GitHub and nothing published there. */
  readonly github: GitHub | null;
  /** Address of the run, for readers of a comment; null outside of one. */
  readonly runUrl: string | null;
};

const INTERRUPTED = 'Interrupted: the call in flight is finished.\n';

/** Makes the context of the process. Throws a `ProblemError` when the event cannot be read. */
export async function makeContext(inputs: Inputs, host: HidingActionHost): Promise<Context> {
  const { environment, workingDirectory } = host;
  const folder = resolve(environment['GITHUB_WORKSPACE'] || workingDirectory, inputs['working-directory']);
  // With the dot it is there only if it is a folder.
  if (!existsSync(`${folder}/.`)) throw noFolder(inputs['working-directory']);
  const baseUrl = inputs['base-url'] ?? environment['PROMPTSYNC_BASE_URL'];
  const variables = { ...environment, PROMPTSYNC_BASE_URL: baseUrl };
  const placed = { ...host, environment: variables, workingDirectory: folder };
  const configuration = await loadConfig({ workingDirectory: folder, file: inputs.config, environment: variables });
  return {
    inputs,
    folder,
    configuration,
    git: gitStart(configuration, folder),
    event: await readEvent(environment),
    world: worldOf(placed, { quiet: true, onInterrupt: INTERRUPTED, keepSecret: host.runner.setSecret }),
    github: gitHubOf(inputs, environment),
    runUrl: runUrlOf(environment),
  };
}

/** A configuration that cannot be read is reported by the run. */
function gitStart({ config }: ConfigResult, folder: string): GitStart {
  return config === null ? { root: findRoot(folder), keyVariables: [] } : gitStartOf(config);
}

function noFolder(name: string): ProblemError {
  const expected = `there is no folder "${name}" in the workspace`;
  return new ProblemError(makeProblem('action/invalid-input', { input: 'working-directory', expected }));
}

type Variables = World['environment'];

async function readEvent(environment: Variables): Promise<Event> {
  const { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: path, GITHUB_REF: ref = '' } = environment;
  if (!name || !path) throw invalidEvent('GITHUB_EVENT_NAME or GITHUB_EVENT_PATH is not set');
  return parseEvent(name, ref, await readPayload(path));
}

async function readPayload(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw invalidEvent(messageOf(error));
  }
}

function invalidEvent(reason: string): ProblemError {
  return new ProblemError(makeProblem('action/invalid-event', { reason }));
}

function gitHubOf({ 'github-token': token }: Inputs, environment: Variables): Context['github'] {
  const repository = environment['GITHUB_REPOSITORY'];
  if (token === undefined || !repository) return null;
  const apiUrl = environment['GITHUB_API_URL'] || 'https://api.github.com';
  return connectGitHub({ token, apiUrl, repository, environment });
}

function runUrlOf({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run }: Variables) {
  return server && repository && run ? `${server}/${repository}/actions/runs/${run}` : null;
}
