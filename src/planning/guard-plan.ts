import { type Drift, type Plan, type PromptPlan, computePlanDigest, isVisibleChange } from '../domain/plan.ts';
import { dependsOnConfig, type PromptFile } from '../domain/prompt-file.ts';
import { countAllowedChanges, type MaxChanges, type OnDrift } from '../domain/policy.ts';
import { type EvidenceOf, makeProblem, type Problem } from '../problem.ts';
import { shortenDigest } from '../text.ts';
import { canPullDrift } from './choose-pull.ts';

/** The conditions that a plan must meet before promptsync may apply it. */
export type GuardSettings = {
  readonly onDrift: OnDrift;
  /** Whether pins may name only commits. This decides whether a pull can keep the drifted state. Default: false. */
  readonly portablePins?: boolean;
  readonly maxChanges: MaxChanges | null;
  /** The number of selected prompts that were not observed. A percentage in `maxChanges` includes them. Default: 0. */
  readonly notLookedAt?: number;
  /** The digest of the reviewed plan: `sha256:` and at least 12 hexadecimal digits. Null if any plan may be applied. */
  readonly expectedPlan: string | null;
  /** The paths of prompt files with uncommitted changes. Empty if the run allows uncommitted changes. */
  readonly uncommitted: ReadonlySet<string>;
  /** Returns the submodule that contains a file, or null if there is none. Default: there are no submodules. */
  readonly findSubmodule?: ((path: string) => string | null) | undefined;
  /** Whether the plan belongs to `rollback --now`, which has no flag to overwrite drift. Default: false. */
  readonly isRollback?: boolean;
  /** An additional check by the caller, such as whether a review approved the prompt's changes. */
  readonly refuse?: RefusePrompt;
};

/** An empty list allows the write. */
export type RefusePrompt = (prompt: PromptPlan) => readonly Problem[];

/** Marks refused prompts as blocked. They keep their changes, so that reports can show them. */
export function guardPlan(plan: Plan, guards: GuardSettings): Plan {
  const { refuse = () => [] } = guards;
  const problemsOfAll = [...checkMaxChanges(plan, guards), ...checkExpectedPlan(plan, guards)];
  const prompts = plan.prompts.map((prompt) =>
    blockPrompt(prompt, [
      ...refuse(prompt),
      ...problemsOfAll,
      ...checkCommitted(prompt, guards),
      ...checkDrift(prompt, guards),
    ]),
  );
  return { ...plan, prompts: guards.expectedPlan === null ? prompts : prompts.map(keepBlocked) };
}

function blockPrompt(prompt: PromptPlan, problems: readonly Problem[]): PromptPlan {
  // A prompt without changes may change, too: an apply may plan more after it has found versions in `pinsToFind`.
  const mayChange = prompt.changes.length + prompt.pinsToFind.length > 0;
  if (!mayChange || problems.length === 0) return prompt;
  // Do not search for a refused prompt's versions: a search may use probes, and a probe writes to the service.
  return { ...prompt, status: 'blocked', problems: [...prompt.problems, ...problems], pinsToFind: [] };
}

/** A search might unblock the prompt and add changes that are not in the reviewed plan. */
function keepBlocked(prompt: PromptPlan): PromptPlan {
  return prompt.status === 'blocked' ? { ...prompt, pinsToFind: [] } : prompt;
}

function checkMaxChanges({ prompts }: Plan, { maxChanges, notLookedAt = 0 }: GuardSettings): readonly Problem[] {
  if (maxChanges === null) return [];
  const changing = prompts.filter(
    ({ changes, pinsToFind }) => pinsToFind.length > 0 || changes.some(isVisibleChange),
  ).length;
  const allowed = countAllowedChanges(maxChanges, prompts.length + notLookedAt);
  return changing > allowed ? [makeProblem('guard/max-changes', { changing, allowed })] : [];
}

function checkExpectedPlan({ digest }: Plan, { expectedPlan }: GuardSettings): readonly Problem[] {
  if (expectedPlan === null || isDigestPrefix(expectedPlan, digest)) return [];
  return [makeProblem('guard/stale-plan', { expected: expectedPlan, actual: digest })];
}

/** A prefix with fewer than 12 digits never matches, because it could stand for a plan that nobody reviewed. */
function isDigestPrefix(expected: string, digest: string): boolean {
  return expected.length >= shortenDigest(digest).length && digest.startsWith(expected);
}

function checkCommitted({ file }: PromptPlan, guards: GuardSettings): readonly Problem[] {
  const { path } = file;
  if (!guards.uncommitted.has(path)) return [];
  return [makeProblem('guard/uncommitted', makeUncommittedEvidence(file, guards.findSubmodule), { path })];
}

export function makeUncommittedEvidence(
  file: PromptFile,
  findSubmodule: GuardSettings['findSubmodule'],
): EvidenceOf<'guard/uncommitted'> {
  return { submodule: findSubmodule?.(file.path) ?? null, dependsOnConfig: dependsOnConfig(file) };
}

/**
 * Checks the plan that promptsync makes right before its first write to a prompt. If a plan was reviewed, the changes
 * must be the same as in the first plan. The drift guard also refuses drift that has appeared since the first plan.
 */
export function guardFreshPlan(fresh: PromptPlan, planned: PromptPlan, guards: GuardSettings): PromptPlan {
  return blockPrompt(fresh, [...checkSameChanges(fresh, planned, guards), ...checkDrift(fresh, guards)]);
}

function checkSameChanges(fresh: PromptPlan, planned: PromptPlan, { expectedPlan }: GuardSettings): readonly Problem[] {
  if (expectedPlan === null) return [];
  const expected = computePlanDigest([planned]);
  const actual = computePlanDigest([omitFoundVersions(fresh, planned)]);
  return expected === actual ? [] : [makeProblem('guard/stale-plan', { expected, actual })];
}

/** The first plan has only the ids of the versions to search for, so their details would change the digest. */
export function omitFoundVersions(fresh: PromptPlan, { pinsToFind }: Pick<PromptPlan, 'pinsToFind'>): PromptPlan {
  if (fresh.observed === null) return fresh;
  const ids = new Set(pinsToFind.flatMap((pin) => (pin.kind === 'version' ? [pin.id] : [])));
  const known = fresh.observed.known.filter(({ id }) => !ids.has(id));
  return { ...fresh, observed: { ...fresh.observed, known } };
}

function checkDrift({ drift, file }: PromptPlan, guards: GuardSettings): readonly Problem[] {
  const { onDrift, portablePins = false, isRollback = false } = guards;
  const outside = drift.filter(({ kind }) => kind === 'outside');
  if (onDrift === 'overwrite' || outside.length === 0) return [];
  const evidence = {
    key: file.key,
    what: outside.map(describeDriftForGuard),
    canPull: outside.some((one) => canPullDrift(one, file, portablePins)),
    lacksCommit: outside.some((one) => one.subject === 'environment' && one.observed?.isCommitMissing === true),
    isRollback,
  };
  return [makeProblem('guard/drift', evidence, { path: file.path })];
}

function describeDriftForGuard(drift: Drift): string {
  if (drift.subject === 'field') return `${drift.field} is "${drift.observed}"`;
  const { environment, observed } = drift;
  if (observed === null) return `"${environment}" serves nothing`;
  return `"${environment}" serves ${observed.number === null ? `version ${observed.id}` : `v${observed.number}`}`;
}
