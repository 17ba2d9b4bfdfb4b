import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { compareJsonBundles } from '../bundle/compare-bundles.ts';
import { BUNDLE_FORMATS_BY_ENDING, type BundleFormat } from '../bundle/bundle-formats.ts';
import type { PromptBundle } from '../bundle/prompt-bundle.ts';
import { renderBundle } from '../bundle/render-bundle.ts';
import { bundlePrompts, type BundleOptions } from '../commands/bundle.ts';
import { mapStrings } from '../domain/json.ts';
import { findTrackedLink } from '../workspace/paths.ts';
import { MAX_FILE_BYTES, NOT_REGULAR, readBytes } from '../workspace/read-write-files.ts';
import { describeSystemError, findSystemCode, makeProblem, type Problem, ProblemError, toProblem } from '../problem.ts';
import { escapeLine } from '../report/escape.ts';
import { type ProblemSource, renderErrors, renderProblem, renderWarnings } from '../report/problem-list.ts';
import { makeOutputStyle, PLAIN_STYLE, type OutputStyle } from '../report/output-style.ts';
import { formatCount } from '../text.ts';
import type { ReportFlags } from './flags.ts';
import type { SafeProcess } from './process-interface.ts';
import { makeSystem } from './make-system.ts';
import {
  describeTrackedLink,
  openTargets,
  type OutputKind,
  type OutputTarget,
  parseTargets,
  writeOutputFile,
} from './output-targets.ts';
import { makeCallWriter } from './run-command.ts';
import { chooseStyle } from './terminal.ts';

type BundleFlags = Omit<BundleOptions, 'onCall'> &
  Pick<ReportFlags, 'color' | 'quiet' | 'verbose' | 'output'> & {
    readonly format: BundleFormat | undefined;
    /** Whether to compare the files with the bundle instead of writing them. */
    readonly check: boolean;
  };

const BUNDLE_OUTPUT: OutputKind<BundleFormat> = {
  name: 'bundle',
  defaultFormat: 'json',
  formatsByEnding: BUNDLE_FORMATS_BY_ENDING,
};

type BundleFile = OutputTarget<BundleFormat> & { readonly file: string; readonly text: string };

/** Resolves to the exit code. Messages go to standard error, because standard output may contain the bundle. */
export async function runBundle(flags: BundleFlags, host: SafeProcess): Promise<number> {
  try {
    return await bundleToTargets(flags, host);
  } catch (error) {
    host.errors.write(`${renderProblem(toProblem(error), PLAIN_STYLE)}\n`);
    return 1;
  }
}

async function bundleToTargets(flags: BundleFlags, host: SafeProcess): Promise<number> {
  // With `--check`, the files need not be writable.
  const targets = flags.check ? parseTargets(flags, BUNDLE_OUTPUT) : await openTargets(flags, BUNDLE_OUTPUT, host);
  if (flags.check && targets.some(({ file }) => file === null)) {
    const reason = '`--check` requires `--output` with a file path, because it compares the bundle with that file.';
    throw new ProblemError(makeProblem('usage/invalid', { reason }));
  }
  const system = makeSystem(host, { quiet: flags.quiet, onInterrupt: '\n' });
  const result = await bundlePrompts({ ...flags, onCall: makeCallWriter(flags, host) }, system);
  const style = makeOutputStyle(await chooseStyle('errors', host, { color: flags.color, folder: result.folder }));
  if (result.exitCode === 130) {
    host.errors.write('Interrupted. promptsync made no changes.\n');
    return 130;
  }
  printBundleProblems(result, flags, style, host);
  if (result.bundle === null) return result.exitCode;
  const { bundle } = result;
  const outputs = targets.map((target) => ({ ...target, text: renderBundle(bundle, target.format) }));
  if (outputs.some(({ text }) => host.secrets.hide(text) !== text)) {
    host.errors.write(`${renderProblem(makeLeakProblem(bundle, host), style)}\n`);
    return 4;
  }
  const files = outputs.flatMap(({ file, ...output }): readonly BundleFile[] =>
    file === null ? [] : [{ ...output, file }],
  );
  if (flags.check) return checkFiles(files, style, host);
  if (files.length > 0) return writeFiles(files, bundle, style, host);
  host.output.write(outputs.map(({ text }) => text).join(''));
  return 0;
}

function printBundleProblems(
  result: ProblemSource,
  { quiet }: BundleFlags,
  style: OutputStyle,
  { errors }: SafeProcess,
): void {
  const warnings = quiet ? [] : renderWarnings(result, undefined, style);
  errors.write([...warnings, ...renderErrors(result, style)].join(''));
}

/** promptsync refuses the bundle and does not remove the key, because that would change the text of the prompt. */
function makeLeakProblem({ prompts }: PromptBundle, { secrets }: SafeProcess): Problem {
  const leaking = prompts.find((prompt) => JSON.stringify(mapStrings(prompt, secrets.hide)) !== JSON.stringify(prompt));
  return makeProblem('bundle/contains-key', { prompt: leaking?.key ?? null });
}

/** Writes the files, and prints one line about them. Resolves to 1 if a file could not be written. */
async function writeFiles(
  files: readonly BundleFile[],
  { environment, prompts }: PromptBundle,
  style: OutputStyle,
  host: SafeProcess,
): Promise<number> {
  const problems: Problem[] = [];
  for (const { file, text } of files) {
    const problem = await writeOutputFile(text, file, BUNDLE_OUTPUT, host);
    if (problem !== null) problems.push(problem);
  }
  host.errors.write(problems.map((problem) => `${renderProblem(problem, style)}\n`).join(''));
  if (problems.length > 0) return 1;
  const names = files.map(({ file }) => escapeLine(file)).join(', ');
  host.errors.write(`Bundled ${formatCount(prompts.length, 'prompt')} from "${escapeLine(environment)}": ${names}\n`);
  return 0;
}

/** Compares the files with the bundle, and prints what differs. Returns 2 if a file differs, and otherwise 0. */
function checkFiles(files: readonly BundleFile[], style: OutputStyle, host: SafeProcess): number {
  const results = files.map((file) => compareFile(file, host));
  host.errors.write(results.flatMap(({ lines }) => lines.map((line) => `${line}\n`)).join(''));
  if (results.every(({ isCurrent }) => isCurrent)) return 0;
  host.errors.write(`${style.colors.dim('To update the files, run the same command without --check.')}\n`);
  return 2;
}

type FileComparison = { readonly isCurrent: boolean; readonly lines: readonly string[] };

function compareFile({ file, format, text }: BundleFile, host: SafeProcess): FileComparison {
  const name = escapeLine(file);
  const expected = Buffer.from(text);
  // With CRLF line endings, the file has at most twice as many bytes as the bundle.
  const existing = readOutputFile(file, Math.max(2 * expected.length, MAX_FILE_BYTES), host);
  if (existing === null) return { isCurrent: false, lines: [`${name} does not exist.`] };
  if (existing === 'too-large') return { isCurrent: false, lines: [`${name} is out of date.`] };
  if (isSameText(existing, expected)) return { isCurrent: true, lines: [`${name} is up to date.`] };
  const differences = format === 'json' ? compareJsonBundles(existing.toString(), text) : [];
  const lines = differences.map(({ kind, key }) => `  ${kind.padEnd('changed'.length)}  ${escapeLine(key)}`);
  return { isCurrent: false, lines: [`${name} is out of date${lines.length === 0 ? '.' : ':'}`, ...lines] };
}

/** git can check out a file with CRLF line endings. A bundle contains carriage returns only as escape sequences. */
function isSameText(existing: Buffer, expected: Buffer): boolean {
  return existing.toString('latin1').replaceAll('\r\n', '\n') === expected.toString('latin1');
}

/** Returns `too-large` above `limit` bytes, and null if there is no file. Throws a `ProblemError` if reading fails. */
function readOutputFile(path: string, limit: number, { workingDirectory }: SafeProcess): Buffer | 'too-large' | null {
  const makeError = (reason: string) => new ProblemError(makeProblem('usage/output-unreadable', { path, reason }));
  const absolutePath = resolve(workingDirectory, path);
  const link = findTrackedLink(absolutePath);
  if (link !== null) throw makeError(describeTrackedLink(link));
  try {
    const read = readBytes(realpathSync(absolutePath), limit);
    if (read.kind === 'too-large') return read.kind;
    if (read.kind !== 'read') throw makeError(NOT_REGULAR);
    return Buffer.from(read.bytes);
  } catch (error) {
    if (findSystemCode(error) === 'ENOENT') return null;
    throw error instanceof ProblemError ? error : makeError(describeSystemError(error));
  }
}
