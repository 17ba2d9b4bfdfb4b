import type { MergeFlags } from './add-report.ts';
import type { HidingHost } from './secrets.ts';
import { checkOutput } from './write-report.ts';

/** Merges reports, writes the one, and resolves to the exit code of all. */
export async function runMerge(paths: readonly string[], flags: MergeFlags, host: HidingHost): Promise<number> {
  const { format, output, quiet, color } = flags;
  if (output !== undefined) await checkOutput(output, host);
  const { mergeReportFiles } = await import('../commands/report-merge.ts');
  const { report, exitCode } = await mergeReportFiles({ paths, exitCode: flags.exitCode }, host.workingDirectory);
  const { emitReport } = await import('./emit.ts');
  const known = { texts: new Map(), restored: new Set<string>() };
  const told = await emitReport(report, known, { format, output, quiet, color, folder: null }, host);
  return told ? exitCode : exitCode || 1;
}
