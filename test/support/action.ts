import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { childEnvironment, startNode, type CliOptions } from './cli.ts';
import { makeWorkspace } from './folder.ts';

/** The bundle that action.yml names; it is there after a build. */
export const ACTION = resolve(import.meta.dirname, '../../dist/action/index.cjs');

export type ActionRun = Awaited<ReturnType<typeof runAction>>;

export type ActionOptions = {
  /** By their names in action.yml; defaults are the runner's business, so each that is wanted is given here. */
  readonly inputs?: Readonly<Record<string, string>>;
  readonly eventName: string;
  /** The payload. */
  readonly event: unknown;
  /** More variables, or others: `GITHUB_API_URL`, `GITHUB_SHA`, `GITHUB_REF`. */
  readonly environment?: CliOptions['environment'];
  readonly onOutput?: CliOptions['onOutput'];
};

/** Runs the bundled action as a runner does, because what it reads and writes there are variables and files. */
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

function runnerVariables(workspace: string, runner: string, eventName: string): Readonly<Record<string, string>> {
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

/** The runner keeps the hyphen, which no shell could. */
function inputVariables(inputs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const variables = Object.entries(inputs).map(([name, value]) => [
    `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
    value,
  ]);
  return Object.fromEntries(variables);
}

/** Reads a file of outputs as the runner does on Linux; throws where it would fail the step. */
export function parseOutputs(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n');
  const outputs: [string, string][] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line === '') continue;
    const { name, mark, rest } = splitOutput(line);
    const end = mark === '=' ? at : lines.indexOf(rest, at + 1);
    if (end === -1) throw new Error(`Matching delimiter not found: '${rest}'`);
    outputs.push([name, mark === '=' ? rest : lines.slice(at + 1, end).join('\n')]);
    at = end;
  }
  return Object.fromEntries(outputs);
}

/** Whichever mark is first decides: `a=b<<c` is a value, `a<<b=c` begins one of several lines. */
function splitOutput(line: string): { readonly name: string; readonly mark: string; readonly rest: string } {
  const [, name = '', mark = '', rest = ''] = /^(.*?)(=|<<)(.*)$/s.exec(line) ?? [];
  if (name === '' || (mark === '<<' && rest === '')) throw new Error(`Invalid format: '${line}'`);
  return { name, mark, rest };
}

/** The lines of a log that a runner could take for commands; `escapeForRunner` is there so that none can be. */
export function runnerCommands(log: string): readonly string[] {
  return log.split(/\r\n|\n|\r/).filter((line) => /^[\s\u0085]*::\w/.test(line) || line.includes('##['));
}
