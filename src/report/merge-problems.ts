import { inShard } from '../domain/shard-of.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { namedServices } from './named-services.ts';
import type { Report } from './schema.ts';

/** A report, and the file that it is from. */
export type ReportFile = { readonly path: string; readonly report: Report };

/** What files are about has no shards, and a history is of one prompt. */
const MERGED: readonly Report['mode'][] = ['dry-run', 'apply', 'status'];

/** Why the reports are not those of all shards of one run; none where one report alone is of no shard. */
export function mergeProblems(files: readonly ReportFile[]): readonly Problem[] {
  const other = files.filter(({ report }) => !MERGED.includes(report.mode));
  if (other.length > 0) {
    return other.map(({ path, report }) => makeProblem('merge/mode', { mode: report.mode }, { path }));
  }
  const whole = files.filter(({ report }) => report.shard === undefined);
  if (files.length === 1 && whole.length === 1) return [];
  if (whole.length > 0) return whole.map(({ path }) => makeProblem('merge/no-shard', {}, { path }));
  const differences = differing(files);
  if (differences.length > 0) return differences;
  const unmatched = [...repeatedShards(files), ...missingShards(files)];
  if (unmatched.length > 0) return unmatched;
  const repeated = repeatedPrompts(files);
  return repeated.length > 0 ? repeated : strayPrompts(files);
}

type Fact = readonly [what: string, value: string];

/** What is the same in all reports of a run. A shard that could not begin knows less than the others. */
function factsOf(report: Report): readonly Fact[] {
  const { mode, commit, shard, changed_since: since, plan_digest: plan } = report;
  const services = namedServices(report);
  return [
    ['mode', mode],
    ['number of shards', String(shard?.of)],
    ...(since === undefined && plan === null ? [] : [['base of --changed-since', since ?? 'none'] as const]),
    ...(commit === null ? [] : [['commit', commit] as const]),
    ...[...services].map(([name, address]): Fact => [`service${name && ` "${name}"`}`, address]),
    ...(services.size === 0 ? [] : [['kind of services', services.has('') ? 'one' : 'named'] as const]),
  ];
}

/** Each file that is not like the first one that says something about it. */
function differing(files: readonly ReportFile[]): readonly Problem[] {
  const known = new Map<string, { readonly value: string; readonly path: string }>();
  return files.flatMap(({ path, report }) =>
    factsOf(report).flatMap(([what, value]) => {
      const before = known.get(what) ?? { value, path };
      known.set(what, before);
      if (before.value === value) return [];
      return [makeProblem('merge/differs', { what, value, other: before.path, otherValue: before.value }, { path })];
    }),
  );
}

function repeatedShards(files: readonly ReportFile[]): readonly Problem[] {
  const known = new Map<number, string>();
  return files.flatMap(({ path, report: { shard } }) => {
    if (shard === undefined) return [];
    const other = known.get(shard.index);
    known.set(shard.index, other ?? path);
    return other === undefined ? [] : [makeProblem('merge/repeated-shard', { ...shard, other }, { path })];
  });
}

function missingShards(files: readonly ReportFile[]): readonly Problem[] {
  const of = files[0]?.report.shard?.of ?? 0;
  const there = new Set(files.map(({ report }) => report.shard?.index));
  const missing = Array.from({ length: of }, (_, index) => index + 1).filter((index) => !there.has(index));
  return missing.length === 0 ? [] : [makeProblem('merge/missing-shards', { missing, of })];
}

function strayPrompts(files: readonly ReportFile[]): readonly Problem[] {
  return files.flatMap(({ path, report: { shard, prompts } }) => {
    if (shard === undefined) return [];
    const own = new Set(inShard(prompts, shard));
    const stray = prompts.filter((prompt) => !own.has(prompt));
    return stray.map(({ id }) => makeProblem('merge/stray-prompt', { id, ...shard }, { path }));
  });
}

function repeatedPrompts(files: readonly ReportFile[]): readonly Problem[] {
  const known = new Map<string, string>();
  return files.flatMap(({ path, report }) =>
    report.prompts.flatMap(({ id }) => {
      const other = known.get(id);
      known.set(id, other ?? path);
      return other === undefined ? [] : [makeProblem('merge/repeated-prompt', { id, other }, { path })];
    }),
  );
}
