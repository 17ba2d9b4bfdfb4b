import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { makeCommands } from '../docs/command-server.ts';
import { childEnvironment } from '../support/cli.ts';
import { EXAMPLE, makeFolder } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import type { Ran } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';

/**
 * A transcript is a text file with commands and their output:
 *
 *     # A remark.
 *     $ promptsync validate
 *     1| 3 prompts valid.        (standard output)
 *     2| …                       (standard error)
 *     => 0                       (exit code)
 *
 * Further lines of a command begin with `> `. All commands of a file run one after the other in one new folder. Bash runs
 * each command, and this process runs promptsync for it.
 */
export type Step = { readonly remarks: readonly string[]; readonly command: string };

export function parseTranscript(text: string): readonly Step[] {
  return [...text.matchAll(/^((?:#.*\n)*)\$ (.*(?:\n>.*)*)/gm)].map(([, remarks = '', command = '']) => ({
    remarks: remarks.split('\n').filter((line) => line !== ''),
    command: command.replaceAll(/\n> ?/g, '\n'),
  }));
}

export function renderStep({ remarks, command }: Step, { stdout, stderr, exitCode }: Ran): string {
  const [first = '', ...rest] = command.split('\n');
  const output = [...prefixLines('1|', stdout), ...prefixLines('2|', stderr)];
  return [...remarks, `$ ${first}`, ...rest.map((line) => `> ${line}`.trimEnd()), ...output, `=> ${exitCode}`].join(
    '\n',
  );
}

function prefixLines(prefix: string, output: string): readonly string[] {
  if (output === '') return [];
  const whole = output.endsWith('\n');
  const lines = (whole ? output.slice(0, -1) : output).split('\n').map((line) => `${prefix} ${line}`.trimEnd());
  return whole ? lines : [...lines, '(no line feed)'];
}

export type Stage = {
  readonly run: (command: string) => Promise<Ran>;
  /** Replaces everything that differs from run to run. */
  readonly normalize: (text: string) => string;
};

/** Makes a new folder, with variables for the services that a transcript may use. */
export async function makeStage(): Promise<Stage> {
  const folder = makeFolder();
  // The compile cache stays in the home of all tests, so that it is in no transcript.
  const places = { EXAMPLE, HOME: folder, XDG_CACHE_HOME: join(process.env['HOME'] ?? folder, '.cache') };
  const inherited = childEnvironment({ ...(await serviceVariables()), ...places });
  const variables = { ...inherited, PATH: [await makeCommands(), inherited['PATH']].join(delimiter) };
  return {
    run: (command) => execute(command, folder, variables),
    normalize: (text) =>
      text
        .replaceAll(folder, '<folder>')
        .replaceAll(/\/\S+\/promptsync-demo-\w+/g, '<demo>')
        .replaceAll(/127\.0\.0\.1:\d{2,}/g, '127.0.0.1:<port>')
        .replaceAll(/sha256:[0-9a-f]{12,64}/g, 'sha256:<digest>')
        .replaceAll(/ver_[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ver_<id>')
        .replaceAll(/(?<=commit(":)? "?|Committed )[0-9a-f]{12,40}/g, '<commit>')
        .replaceAll(/(?<=, but `?)[0-9a-f]{12}(?=`? asks for)/g, '<commit>')
        .replaceAll(/(?<= was pinned in staging on ).*/g, '<day> (<commit>)')
        .replaceAll(/(?<=^1\| )\d+\.\d+\.\d+$/gm, '<version>')
        .replaceAll(/\d+ ms/g, '<n> ms'),
  };
}

/** Returns the addresses of a service with the prompts `prm_greeting` and `prm_refund`, and of broken services. */
async function serviceVariables(): Promise<Readonly<Record<string, string>>> {
  const json = (value: unknown) => () => ({ status: 200, body: JSON.stringify(value) });
  const [good, forbidden, page, broken] = await Promise.all([
    startTestService(['greeting', 'refund']),
    startFront({ answer: () => ({ status: 403, body: `{"detail":"no access for ${KEY}"}` }) }),
    startFront({ answer: () => ({ status: 200, body: '<!doctype html>', headers: { 'content-type': 'text/html' } }) }),
    startFront({ answer: json({ id: 'prm_greeting', project_id: 'p', key: 'greeting', name: 7 }) }),
  ]);
  const urls = { GOOD: good.baseUrl, FORBIDDEN: forbidden.baseUrl, PAGE: page.baseUrl, BROKEN: broken.baseUrl };
  return { ...urls, UNREACHABLE: 'http://127.0.0.1:1', KEY };
}

function execute(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile('bash', ['-c', command], { cwd, env }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : Number(error.code ?? -1);
      resolve({ exitCode, stdout, stderr });
    });
    child.stdin?.end();
  });
}
