import package_ from '../../package.json' with { type: 'json' };
import { type DoctorOptions, type DoctorResult, examineSetup } from '../commands/doctor.ts';
import { DOCTOR_FORMATS_BY_ENDING, type DoctorFormat } from '../doctor/formats.ts';
import { renderDoctorJson, renderDoctorText } from '../doctor/render-points.ts';
import { mapStrings } from '../domain/json.ts';
import { toProblem } from '../problem.ts';
import { renderProblem } from '../report/problems.ts';
import { makeStyle, PLAIN_STYLE, type Style } from '../report/style.ts';
import type { ReportFlags } from './flags.ts';
import type { SafeHost } from './host.ts';
import { makeWorld } from './make-world.ts';
import { openTargets, type OutputKind, type OutputTarget, writeOutputFile } from './output-targets.ts';
import { INTERRUPTED, makeCallWriter } from './run-command.ts';
import { chooseStyle } from './terminal.ts';

/** The flags of `promptsync doctor`: the options of the command, and the flags for its output. */
type DoctorFlags = Omit<DoctorOptions, 'onCall' | 'nodeVersion' | 'requiredNode'> &
  Pick<ReportFlags, 'color' | 'quiet' | 'verbose' | 'output'> & { readonly format: DoctorFormat | undefined };

const DOCTOR_OUTPUT: OutputKind<DoctorFormat> = {
  name: 'report',
  defaultFormat: 'text',
  formatsByEnding: DOCTOR_FORMATS_BY_ENDING,
};

/** Checks the setup, and prints the result. Resolves to the exit code. */
export async function runDoctor(flags: DoctorFlags, host: SafeHost): Promise<number> {
  try {
    const targets = await openTargets(flags, DOCTOR_OUTPUT, host);
    const world = makeWorld(host, { quiet: flags.quiet, onInterrupt: INTERRUPTED });
    const versions = { nodeVersion: host.nodeVersion, requiredNode: package_.engines.node };
    const result = await examineSetup({ ...flags, ...versions, onCall: makeCallWriter(flags, host) }, world);
    const isWritten = await printDoctorResult(result, targets, flags, host);
    return isWritten ? result.exitCode : result.exitCode || 1;
  } catch (error) {
    host.errors.write(`${renderProblem(toProblem(error), PLAIN_STYLE)}\n`);
    return 1;
  }
}

/**
 * Writes the result to each target. If files cannot be written, prints the result for the first of them to standard
 * output. Resolves to false in that case.
 */
async function printDoctorResult(
  { sections, folder }: DoctorResult,
  targets: readonly OutputTarget<DoctorFormat>[],
  { quiet, color }: DoctorFlags,
  host: SafeHost,
): Promise<boolean> {
  // Redact before rendering, because line breaks and escape sequences could split a secret.
  const redacted = mapStrings(sections, host.secrets.hide);
  const render = (format: DoctorFormat, style: Style): string =>
    format === 'json' ? renderDoctorJson(redacted) : renderDoctorText(redacted, style, quiet);
  let isWritten = true;
  for (const { format, file } of targets) {
    if (file === null) {
      const style = makeStyle(await chooseStyle('output', host, { color, folder }));
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
