import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { KEY } from '../support/service.ts';
import type { Play, Step } from './steps.ts';
import { WORLDS, type World } from './worlds.ts';

/** What the pages call the service. */
const SERVICE = 'https://prompts.example.com';

/** How a step came out, and how it should have; where both are the same it did as the page says. */
export type Performed = { readonly is: Seen; readonly wanted: Seen };
type Seen = { readonly step: string; readonly exitCode: number; readonly output: readonly string[] };

/** Runs what a page shows, in the world that it names, up to the first step that comes out otherwise. */
export async function perform(page: string, { world: name, line, steps }: Play): Promise<readonly Performed[]> {
  const make = WORLDS[name];
  if (make === undefined) throw new Error(`${page}:${line}: there is no world "${name}"`);
  const world = await make();
  const folder = makeFolder();
  const script = [
    'set -e',
    'exec < /dev/null',
    ...steps.map((step, index) => wrap(step, join(folder, `${index}`), world)),
  ];
  writeFileSync(join(folder, 'script'), `${script.join('\n')}\n`);
  const said = await runShell(join(folder, 'script'), world);
  const performed = steps.map((step, index) =>
    compareStep(page, step, readStep(join(folder, `${index}`), said, world)),
  );
  const first = performed.findIndex(({ is, wanted }) => is !== wanted);
  return first === -1 ? performed : performed.slice(0, first + 1);
}

/** In the shell of all steps, so that a later one finds its folder and variables as a reader would. */
function wrap({ script, exitCode }: Step, path: string, world: World): string {
  const text = script.replaceAll(SERVICE, world.baseUrl).replaceAll(/(?<=\b\w+KEY=)…/g, KEY);
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

/** A step that has left no code is the one that ended the shell. */
function readStep(path: string, shell: Shell, world: World): Shell {
  const read = (suffix: string) => (existsSync(path + suffix) ? readFileSync(path + suffix, 'utf8') : null);
  const output = (read('.output') ?? shell.output).replaceAll(world.baseUrl, SERVICE).replaceAll(world.folder, '.');
  return { exitCode: Number(read('.code') ?? shell.exitCode), output };
}

/** The two are one value where the step did as the page says. */
function compareStep(page: string, { line, shown, exitCode, output }: Step, ran: Shell): Performed {
  expect(ran.output).not.toContain(KEY);
  const printed = steady(ran.output);
  const is = { step: `${page}:${line}: ${shown}`, exitCode: ran.exitCode, output: printed.split('\n') };
  const right = output === null || isShown(printed, steady(output));
  if (right && ran.exitCode === exitCode) return { is, wanted: is };
  return { is, wanted: { ...is, exitCode, output: right ? is.output : steady(output).split('\n') } };
}

/** The text without what differs from run to run. */
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
 * Whether an output is what the page shows of it, both steady. There `…` stands for the rest of a word or a line, and a
 * line of nothing else for any number of lines.
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
