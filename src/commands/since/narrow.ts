import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import { digestOf, type Digest } from '../../domain/digest.ts';
import { refsIn, stillComplete, type CompletePrompt, type SyncRecord } from '../../domain/sync-record.ts';
import { isCommitId } from '../../git/driver.ts';
import type { Repository } from '../../git/repository.ts';
import { makeProblem, ProblemError } from '../../problem.ts';
import { recordFileOf } from './record-file.ts';

/** What `--changed-since` leaves out. */
export type Narrowed = {
  /** The commit that was named. */
  readonly since: string;
  /** The prompts that are not looked at. */
  readonly left: readonly CompletePrompt[];
  /** It was opened to find them, and is good for further questions. */
  readonly repository: Repository;
  /** What the last sync has completed; null where nothing is known. */
  readonly record: SyncRecord | null;
  /** Why all are looked at, for the person; null where the record can be relied on. */
  readonly reason: string | null;
};

/**
 * Finds the prompts that need not be looked at: those whose files have not changed since a commit, and whose last sync
 * from this clone is known to be complete. Without a record of it nothing is known. Throws a `ProblemError`.
 */
export async function narrowSince(
  ref: string,
  config: Config,
  repository: Repository | null,
  shard: string | null,
): Promise<Narrowed> {
  if (repository === null) throw new ProblemError(makeProblem('git/base-needs-git', { ref }));
  const since = await repository.resolveRef(ref);
  if (since === null) throw new ProblemError(makeProblem('git/unknown-base', { ref }));
  const record = await recordFileOf(config, repository, shard).read();
  const reason = await whyUnknown(record, config, repository);
  if (record === null || reason !== null) return { since, repository, left: [], record, reason };
  return { since, repository, left: await leftOut(since, record, repository), record, reason };
}

async function whyUnknown(record: SyncRecord | null, config: Config, repository: Repository): Promise<string | null> {
  if (record === null) return 'no sync of this clone is known to be complete';
  if (record.config !== (await configDigest(config))) return 'the configuration has changed since the last sync';
  const there = isCommitId(record.commit) && (await repository.resolveRef(record.commit)) === record.commit;
  return there ? null : `the commit of the last sync (${record.commit.slice(0, 12)}) is not in this clone`;
}

async function leftOut(since: string, record: SyncRecord, repository: Repository) {
  const { head } = repository;
  const changed = await Promise.all([
    repository.changedSince(since, record.commit),
    // What is as the last sync had it, but not as it is committed now, would be complete at no commit.
    ...(head === null || head === record.commit ? [] : [repository.changedBetween(record.commit, head)]),
  ]);
  const refs = refsIn(record.complete).map(async (ref) => [ref, await repository.resolveRef(ref)] as const);
  const all = new Set(changed.flatMap((paths) => [...paths]));
  return stillComplete(record, all, new Map(await Promise.all(refs)));
}

/** Its bytes decide: what they mean is not compared. */
export async function configDigest({ file }: Config): Promise<Digest> {
  return digestOf(await readFile(file, 'utf8'));
}
