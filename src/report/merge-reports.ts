import { inPlaceOrder } from '../problem.ts';
import { namedServices } from './named-services.ts';
import type { Report, ReportProblem } from './schema.ts';

/**
 * One report of all shards of a run: what a run without shards would have reported, but for the plan's digest, because a
 * plan of several shards can only be applied shard by shard. They are to fit together: see `mergeProblems`.
 */
export function mergeReports(reports: readonly [Report, ...Report[]]): Report {
  const [first] = reports;
  const { shard: _, ...rest } = first;
  const since = reports.find(({ changed_since }) => changed_since !== undefined)?.changed_since;
  const shards = shardsOf(reports);
  return {
    ...rest,
    service: serviceOf(reports),
    commit: reports.find(({ commit }) => commit !== null)?.commit ?? null,
    ...(since === undefined ? {} : { changed_since: since }),
    plan_digest: shards.length === 1 ? first.plan_digest : null,
    shards,
    summary: reports.map(({ summary }) => summary).reduce(add),
    // As the planner orders them.
    prompts: reports.flatMap(({ prompts }) => prompts).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    problems: inPlaceOrder(each(reports.flatMap(({ problems }) => problems))),
  };
}

function shardsOf(reports: readonly Report[]): NonNullable<Report['shards']> {
  return reports
    .flatMap(({ shard, plan_digest }) => (shard === undefined ? [] : [{ ...shard, plan_digest }]))
    .toSorted((a, b) => a.index - b.index);
}

/** A shard asks the services of its own prompts alone. */
function serviceOf(reports: readonly Report[]): string | null {
  const named = new Map(reports.flatMap((report) => [...namedServices(report)]));
  const inOrder = [...named].toSorted(([a], [b]) => Number(a > b) - Number(a < b));
  return inOrder.map(([name, address]) => (name === '' ? address : `${name}: ${address}`)).join(', ') || null;
}

type Summary = Report['summary'];

function add(one: Summary, other: Summary): Summary {
  const left = one.not_looked_at ?? other.not_looked_at;
  return {
    prompts: one.prompts + other.prompts,
    unchanged: one.unchanged + other.unchanged,
    create_version: one.create_version + other.create_version,
    update_prompt: one.update_prompt + other.update_prompt,
    set_active: one.set_active + other.set_active,
    blocked: one.blocked + other.blocked,
    applied: one.applied + other.applied,
    failed: one.failed + other.failed,
    not_attempted: one.not_attempted + other.not_attempted,
    ...(left === undefined ? {} : { not_looked_at: (one.not_looked_at ?? 0) + (other.not_looked_at ?? 0) }),
  };
}

/** What concerns all files is found by each shard, and told once. */
function each(problems: readonly ReportProblem[]): readonly ReportProblem[] {
  const keyOf = ({ code, severity, message, hint, path, line, column }: ReportProblem): string =>
    JSON.stringify([code, severity, message, hint, path, line, column]);
  return [...new Map(problems.toReversed().map((problem) => [keyOf(problem), problem])).values()].toReversed();
}
