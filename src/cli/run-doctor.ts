import package_ from '../../package.json' with { type: 'json' };
import { type DoctorOptions, type DoctorResult, examineSetup } from '../commands/doctor/doctor.ts';
import { renderDoctorJson, renderDoctorText } from '../commands/doctor/render-doctor.ts';
import { mapStrings } from '../domain/json.ts';
import { toProblem } from '../problem.ts';
import { renderProblem } from '../report/problem-list.ts';
import { makeOutputStyle, PLAIN_STYLE, type OutputStyle } from '../report/output-style.ts';
import type { DoctorFormat, ReportFlags } from './flags.ts';
import type { SafeProcess } from './process-interface.ts';
import { makeSystem } from './make-system.ts';
import { openTargets, type OutputKind, type OutputTarget, writeOutputFile } from './output-targets.ts';
import { INTERRUPTED, makeCallWriter } from './run-command.ts';
import { chooseStyle } from './terminal.ts';

type DoctorFlags = Omit<DoctorOptions, 'onCall' | 'nodeVersion' | 'requiredNode'> &
  Pick<ReportFlags, 'color' | 'quiet' | 'verbose' | 'output'> & { readonly format: DoctorFormat | undefined };

const DOCTOR_OUTPUT: OutputKind<DoctorFormat> = {
  name: 'report',
  defaultFormat: 'text',
  formatsByEnding: new Map<string, DoctorFormat>([
    ['.txt', 'text'],
    ['.json', 'json'],
  ]),
};

/** Checks the setup, and prints the result. Resolves to the exit code. */
export async function runDoctor(flags: DoctorFlags, host: SafeProcess): Promise<number> {
  try {
    const targets = await openTargets(flags, DOCTOR_OUTPUT, host);
    const system = makeSystem(host, { quiet: flags.quiet, onInterrupt: INTERRUPTED });
    const versions = { nodeVersion: host.nodeVersion, requiredNode: package_.engines.node };
    const result = await examineSetup({ ...flags, ...versions, onCall: makeCallWriter(flags, host) }, system);
    const isWritten = await printDoctorResult(result, targets, flags, host);
    return isWritten ? result.exitCode : result.exitCode || 1;
  } catch (error) {
    host.errors.write(`${renderProblem(toProblem(error), PLAIN_STYLE)}\n`);
    return 1;
  }
}

/** Resolves to false if a file cannot be written. The result for the first such file goes to standard output. */
async function printDoctorResult(
  { sections, folder }: DoctorResult,
  targets: readonly OutputTarget<DoctorFormat>[],
  { quiet, color }: DoctorFlags,
  host: SafeProcess,
): Promise<boolean> {
  // Redact before rendering, because line breaks and escape sequences could split a secret.
  const redacted = mapStrings(sections, host.secrets.hide);
  const render = (format: DoctorFormat, style: OutputStyle): string =>
    format === 'json' ? renderDoctorJson(redacted) : renderDoctorText(redacted, style, quiet);
  let isWritten = true;
  for (const { format, file } of targets) {
    if (file === null) {
      const style = makeOutputStyle(await chooseStyle('output', host, { color, folder }));
      host.output.write(render(format, style));
      continue;
    }
    const text = render(format, PLAIN_STYLE);
    const problem = await writeOutputFile(text, file, DOCTOR_OUTPUT, host);
    if (problem === null) continue;
    if (isWritten) host.output.write(text);
    host.errors.write(`${renderProblem(problem, PLAIN_STYLE)}\n`);
    isWritten = false;
  }
  return isWritten;
}
