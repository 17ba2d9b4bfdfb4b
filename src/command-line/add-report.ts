import type { Command } from 'commander';
import type { Handlers, SharedFlags } from './program.ts';
import { withReport } from './shared-flags.ts';

export type MergeFlags = Omit<SharedFlags, 'only' | 'config' | 'verbose'> & { readonly exitCode: boolean };

/** `report merge FILE…`. */
export function addReport(program: Command, { mergeReports }: Pick<Handlers, 'mergeReports'>): void {
  const report = program.command('report').description('merge the JSON reports of a run that was spread by --shard');
  withReport(report.command('merge').description('make one report of those of all shards; needs no key'))
    .argument('<files...>', 'reports, each written with --format json --output FILE')
    .option('--exit-code', 'for a dry run: exit with 2 when changes are pending', false)
    .action((files: readonly string[], flags: MergeFlags) => mergeReports(files, flags));
}
