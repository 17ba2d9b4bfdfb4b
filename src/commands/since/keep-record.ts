import type { PromptOutcome } from '../../domain/outcome.ts';
import type { Plan } from '../../domain/plan.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import { forget, type CompletePrompt, type SyncRecord } from '../../domain/sync-record.ts';
import { isError, makeProblem, messageOf, type Problem } from '../../problem.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';
import { configDigest } from './narrow.ts';
import { recordFileOf, type RecordFile } from './record-file.ts';

export type Kept = { readonly outcomes: readonly PromptOutcome[]; readonly problems: readonly Problem[] };

/**
 * Applies, and notes in the clone's record what is complete then. What is about to be written is struck out first: a
 * run that is killed must not leave it standing as complete.
 * @param isPart whether only some prompts were selected: then the record can lose prompts and gains none
 */
export async function keepingRecord(
  prepared: Prepared,
  plan: Plan,
  isPart: boolean,
  apply: () => Promise<readonly PromptOutcome[]>,
): Promise<Kept> {
  const { repository, config } = prepared;
  if (repository === null) return { outcomes: await apply(), problems: [] };
  const { head } = repository;
  const file = recordFileOf(config, repository);
  const before = prepared.narrowed?.record ?? (await file.read());
  const early = await strikeOut(idsToForget(plan, isPart), file, before);
  const outcomes = await apply();
  // Before the first commit of a branch there is none to be complete at.
  const late = isPart || head === null ? [] : await keep(file, before, async () => recordOf(outcomes, head, prepared));
  const told = new Map([...early, ...late].map((problem) => [problem.message, problem]));
  return { outcomes, problems: [...told.values()] };
}

/** From every record of the clone: another configuration may have completed what is written now. */
async function strikeOut(
  ids: ReadonlySet<string>,
  file: RecordFile,
  before: SyncRecord | null,
): Promise<readonly Problem[]> {
  if (ids.size === 0) return [];
  const problems = await strikeIn(file, before, ids);
  const others = (await file.others()).map(async (other) => strikeIn(other, await other.read(), ids));
  return [...problems, ...(await Promise.all(others)).flat()];
}

async function strikeIn(file: RecordFile, before: SyncRecord | null, ids: ReadonlySet<string>) {
  if (before === null) return [];
  const struck = forget(before, ids);
  return struck.complete.length === before.complete.length ? [] : keep(file, before, async () => struck);
}

async function keep(
  file: RecordFile,
  before: SyncRecord | null,
  make: () => Promise<SyncRecord>,
): Promise<readonly Problem[]> {
  try {
    await file.write(await make());
    return [];
  } catch (error) {
    // Where there is no record yet, nothing wrong is in it.
    return before === null
      ? []
      : [makeProblem('apply/record-unwritable', { path: file.path, reason: messageOf(error) })];
  }
}

function idsToForget({ prompts }: Plan, isPart: boolean): ReadonlySet<string> {
  const touched = prompts.filter(({ status, lookups }) => isPart || status !== 'unchanged' || lookups.length > 0);
  return new Set(touched.map(({ file }) => file.id));
}

/** What was left out stays complete. A file that differs from the commit is not what the commit wants. */
async function recordOf(outcomes: readonly PromptOutcome[], commit: string, prepared: Prepared): Promise<SyncRecord> {
  const { config, narrowed, uncommitted } = prepared;
  const done = outcomes.filter(isComplete).map(({ plan }) => completeOf(plan.file, prepared));
  const complete = [...(narrowed?.left ?? []), ...done.filter(({ path }) => !uncommitted.has(path))];
  return { commit, config: await configDigest(config), complete };
}

function isComplete({ status, problems }: PromptOutcome): boolean {
  return (status === 'unchanged' || status === 'applied') && !problems.some(isError);
}

function completeOf({ path, id, key, pins }: PromptFile, { rules }: Prepared): CompletePrompt {
  const contents = rules.contentsAtRefs.get(id);
  const refs = pins.flatMap(({ pin }): [string, string][] => {
    if (pin.kind !== 'git') return [];
    const at = contents?.get(pin.ref);
    return [[pin.ref, at !== undefined && 'content' in at ? (at.provenance.commit ?? '') : '']];
  });
  return { path, id, key, ...(refs.length > 0 && { refs: Object.fromEntries(refs) }) };
}
