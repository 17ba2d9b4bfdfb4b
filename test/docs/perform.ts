import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PUBLIC_KEY } from '../doubles/langfuse-server.ts';
import { makeFolder } from '../support/folder.ts';
import type { Play, Step } from './steps.ts';
import { WORLDS, type World } from './worlds.ts';

/** The address of the service in the pages. */
const SERVICE = 'https://prompts.example.com';

/** What a step did, or what the page shows. */
type StepResult = { readonly step: string; readonly exitCode: number; readonly output: readonly string[] };
type Difference = { readonly actual: StepResult; readonly expected: StepResult };

/** Runs the steps of a page in their world. Returns the first step that does not do what the page shows, or null. */
export async function findDifference(page: string, { world: name, line, steps }: Play): Promise<Difference | null> {
  const make = WORLDS[name];
  if (make === undefined) throw new Error(`${page}:${line}: there is no world "${name}"`);
  const world = await make();
  const folder = makeFolder();
  const wrapped = steps.map((step, index) => wrap(step, join(folder, `${index}`), world));
  writeFileSync(join(folder, 'script'), ['set -e', 'exec < /dev/null', ...wrapped, ''].join('\n'));
  const shell = await runShell(join(folder, 'script'), world);
  for (const [index, step] of steps.entries()) {
    const difference = compareStep(page, step, readStep(join(folder, `${index}`), shell, world));
    if (difference !== null) return difference;
  }
  return null;
}

/** Wraps a step for the one shell of all steps, so that later steps see its folder and variables as a reader would. */
function wrap({ script, exitCode }: Step, path: string, world: World): string {
  const text = script
    .replaceAll(SERVICE, world.baseUrl)
    .replaceAll(/(?<=\b\w+BASE_URL=)…/g, world.baseUrl)
    .replaceAll(/(?<=\b\w+PUBLIC_KEY=)…/g, PUBLIC_KEY)
    .replaceAll(/(?<=\b\w+KEY=)…/g, world.key);
  const block = `{\n${text}\n} > '${path}.output' 2>&1\necho $? > '${path}.code'`;
  return exitCode === 0 ? block : `set +e\n${block}\nset -e`;
}

type Shell = { readonly exitCode: number; readonly output: string };

function runShell(script: string, { folder, environment }: World): Promise<Shell> {
  return new Promise((done) => {
    execFile('bash', [script], { cwd: folder, env: environment }, (error, stdout, stderr) => {
      done({ exitCode: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr });
    });
  });
}

/**
 * Reads the result of a step. A step without an exit code is the step that ended the shell. Expects no key in the output.
 */
function readStep(path: string, shell: Shell, world: World): Shell {
  const read = (suffix: string) => (existsSync(path + suffix) ? readFileSync(path + suffix, 'utf8') : null);
  const output = (read('.output') ?? shell.output).replaceAll(world.baseUrl, SERVICE).replaceAll(world.folder, '.');
  expect(output).not.toContain(world.key);
  return { exitCode: Number(read('.code') ?? shell.exitCode), output };
}

function compareStep(page: string, { line, shown, exitCode, output }: Step, ran: Shell): Difference | null {
  const printed = steady(ran.output);
  const actual = { step: `${page}:${line}: ${shown}`, exitCode: ran.exitCode, output: printed.split('\n') };
  const isRight = output === null || isShown(printed, steady(output));
  if (isRight && ran.exitCode === exitCode) return null;
  return { actual, expected: { ...actual, exitCode, output: isRight ? actual.output : steady(output).split('\n') } };
}

/** Replaces everything that differs from run to run, such as digests, ids, dates and times. */
function steady(text: string): string {
  return text
    .replaceAll(/sha256:[0-9a-f]{4,64}/g, 'sha256:<digest>')
    .replaceAll(/\bver_[\w-]+/g, 'ver_<id>')
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b/g, '<commit>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?/g, '<date>')
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:ms|s)\b/g, '<time>')
    .replaceAll(/[ \t]+$/gm, '')
    .replace(/\n+$/, '');
}

/**
 * Returns whether an output matches what the page shows. In the page, `…` stands for the rest of a word or a line. A line
 * with only `…` stands for any number of lines.
 */
function isShown(actual: string, shown: string): boolean {
  const lines = shown.split('\n').map((line) => (line === '…' ? ANY_LINES : `${fragment(line)}\n`));
  return new RegExp(`^${lines.join('')}$`).test(`${actual}\n`);
}

const ANY_LINES = '(?:.*\\n)*?';

function fragment(line: string): string {
  return line
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join('.*');
}
