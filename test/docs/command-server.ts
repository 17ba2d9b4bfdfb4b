import { createServer, type AddressInfo } from 'node:net';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { CLI } from '../support/cli.ts';
import { GIT_VARIABLES, makeFolder } from '../support/folder.ts';
import { run } from '../support/run.ts';

type Environment = Readonly<Record<string, string>>;
/** Runs a program with words. */
export type Program = (words: readonly string[], environment: Environment) => Promise<unknown>;

/**
 * Makes programs for a shell that this process runs, because a process of Node for each command takes ten times as long.
 * Returns the folder of `promptsync` and of further programs. Only commands that run until a signal get their own process.
 */
export async function makeCommands(programs: Readonly<Record<string, Program>> = {}): Promise<string> {
  const server = createServer((socket) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      // An empty value after the last variable ends a request.
      if (received.endsWith('\0\0')) void answer(received.slice(0, -2), programs).then((script) => socket.end(script));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  // The git processes of a command get the variables of this process.
  for (const [variable, value] of Object.entries(GIT_VARIABLES)) vi.stubEnv(variable, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const folder = makeFolder();
  for (const name of ['promptsync', ...Object.keys(programs)]) {
    const script = `#!/bin/bash
case "\${0##*/} $1" in 'promptsync serve' | 'promptsync demo') exec '${process.execPath}' '${CLI}' "$@" ;; esac
exec 3<> /dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "\${0##*/}" "$PWD" "$#" "$@"; env -0; printf '\\0'; } >&3
eval "$(cat <&3)"
`;
    writeFileSync(join(folder, name), script);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** Runs a program. Returns a shell script that prints the same output and exits with the same code. */
async function answer(request: string, programs: Readonly<Record<string, Program>>): Promise<string> {
  const [name = '', folder = '', count = '', ...rest] = request.split('\0');
  const words = rest.slice(0, Number(count));
  const variables = rest.slice(words.length).map((text) => [text.split('=')[0], text.replace(/^.*?=/s, '')]);
  const environment = Object.fromEntries(variables) as Environment;
  const printed: string[] = [];
  const print = (to: string) => (text: string) =>
    void printed.push(`printf %s '${text.replaceAll("'", String.raw`'\''`)}'${to}\n`);
  try {
    const program = programs[name];
    if (program !== undefined) await program(words, environment);
    const options = { environment, onOutput: print(''), onError: print(' >&2') };
    const { exitCode } = program === undefined ? await run(folder, words, options) : { exitCode: 0 };
    return `${printed.join('')}exit ${exitCode}`;
  } catch (error) {
    print(' >&2')(String(error));
    return `${printed.join('')}exit 99`;
  }
}
