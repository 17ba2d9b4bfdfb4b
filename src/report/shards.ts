import { inShard } from '../domain/shard-of.ts';
import { shardText } from '../domain/shard.ts';
import { counted } from './counted.ts';
import type { Report } from './schema.ts';

type Planned = Pick<Report, 'plan_digest' | 'shards'>;

/** What part of the prompts a report is of, such as `shard 2 of 5`; null where it is of all, and nothing was merged. */
export function partText({ shard, shards }: Report): string | null {
  if (shard !== undefined) return shardText(shard);
  return shards === undefined ? null : counted([shards.length, 'shard', 'shards']);
}

/** Whether there is a plan to show: a merged report has one where one of its shards has. */
export function hasPlan({ plan_digest: digest, shards = [] }: Planned): boolean {
  return [{ plan_digest: digest }, ...shards].some((one) => one.plan_digest !== null);
}

/** Whether there are prompts with a plan. A shard without prompts has one that says nothing about the others. */
export function isPlanned({ prompts, ...report }: Planned & Pick<Report, 'prompts'>): boolean {
  const { shards } = report;
  if (shards === undefined) return hasPlan(report) && prompts.length > 0;
  return shards.some((one) => one.plan_digest !== null && inShard(prompts, one).length > 0);
}
