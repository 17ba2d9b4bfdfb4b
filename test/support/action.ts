import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { childEnvironment, startNode, type CliOptions } from './cli.ts';
import { makeWorkspace } from './folder.ts';

/** The bundle that action.yml names. `npm run generate` creates it. */
export const ACTION = resolve(import.meta.dirname, '../../dist/action/index.cjs');

export type ActionRun = Awaited<ReturnType<typeof runAction>>;

export type ActionOptions = {
  /**
   * The inputs by their names in action.yml. The runner would add the defaults, so a test gives every value it needs.
   */
  readonly inputs?: Readonly<Record<string, string>>;
  readonly eventName: string;
  /** The payload of the event. */
  readonly event: unknown;
  /** Adds or replaces variables such as `GITHUB_API_URL`, `GITHUB_SHA` and `GITHUB_REF`. */
  readonly environment?: CliOptions['environment'];
  readonly onOutput?: CliOptions['onOutput'];
};

/** Runs the bundled action like a runner, with inputs in variables and outputs in files. */
export async function runAction(workspace: string, options: ActionOptions) {
  const runner = makeWorkspace({
    'event.json': JSON.stringify(options.event),
    output: '',
    'summary.md': '',
    'temp/.keep': '',
  });
  const environment = childEnvironment({
    ...runnerVariables(workspace, runner, options.eventName),
    ...inputVariables(options.inputs ?? {}),
    ...options.environment,
  });
  const ran = await startNode(ACTION, [], { cwd: workspace, environment, onOutput: options.onOutput }).ended;
  const outputs = parseOutputs(readFileSync(join(runner, 'output'), 'utf8'));
  const markdown = readFileSync(join(runner, 'summary.md'), 'utf8');
  return { ...ran, outputs, summary: markdown };
}

/** Returns the variables that a runner sets. `runner` is a folder with the files that they name. */
export function runnerVariables(
  workspace: string,
  runner: string,
  eventName: string,
): Readonly<Record<string, string>> {
  return {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTOR: 'ada',
    GITHUB_EVENT_NAME: eventName,
    GITHUB_EVENT_PATH: join(runner, 'event.json'),
    GITHUB_OUTPUT: join(runner, 'output'),
    GITHUB_REPOSITORY: 'acme/prompts',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_ID: '4711',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_STEP_SUMMARY: join(runner, 'summary.md'),
    GITHUB_WORKSPACE: workspace,
    RUNNER_TEMP: join(runner, 'temp'),
  };
}

/** Returns the variables of the inputs. Like the runner, keeps hyphens, which no shell allows in a name. */
function inputVariables(inputs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const variables = Object.entries(inputs).map(([name, value]) => [
    `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
    value,
  ]);
  return Object.fromEntries(variables);
}

/** Parses a file of outputs, in which each value has a delimiter. Throws if the runner would fail the step. */
export function parseOutputs(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n');
  const outputs: [string, string][] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line === '') continue;
    const [, name, delimiter] = /^([^=]+?)<<(.+)$/s.exec(line) ?? [];
    if (name === undefined || delimiter === undefined) throw new Error(`Invalid format: '${line}'`);
    const end = lines.indexOf(delimiter, at + 1);
    if (end === -1) throw new Error(`Matching delimiter not found: '${delimiter}'`);
    outputs.push([name, lines.slice(at + 1, end).join('\n')]);
    at = end;
  }
  return Object.fromEntries(outputs);
}

/** Returns the lines of a log that a runner could treat as commands. `escapeForRunner` must leave none. */
export function runnerCommands(log: string): readonly string[] {
  return log.split(/\r\n|\n|\r/).filter((line) => /^[\s\u0085]*::\w/.test(line) || line.includes('##['));
}
