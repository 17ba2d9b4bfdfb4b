import type { Plan } from '../domain/plan.ts';
import type { Observation } from '../domain/observed-prompt.ts';
import type { DefaultBase, DefaultBaseResult } from '../desired-state/open-default-base.ts';
import type { DesiredWorkspace } from '../desired-state/read-desired-state.ts';
import { differsFromFile } from '../observing/observe-prompts.ts';
import type { KnownTip } from '../git/open-repository.ts';
import { getErrorMessage } from '../problem.ts';
import { shortenCommitId } from '../text.ts';
import type { CommandRun } from './command-result.ts';

type FoundDefaultBase = Extract<DefaultBaseResult, { readonly kind: 'found' }>;

export type DefaultBaseReading = {
  /** Null if there is no default base, or if no prompt differs from the service. */
  readonly found: FoundDefaultBase | null;
  /** Why promptsync cannot show drift although a prompt differs, as a clause without a period. Otherwise null. */
  readonly reason: string | null;
};

export const NO_DEFAULT_BASE: DefaultBaseReading = { found: null, reason: null };

/** Reads the default base for the prompts that differ. Never throws, because a plan is possible without a base. */
export async function readDefaultBase(
  defaultBase: DefaultBase,
  desired: DesiredWorkspace,
  { observed }: Pick<Observation, 'observed'>,
): Promise<DefaultBaseReading> {
  const differing = desired.files.filter((file) => {
    const observedPrompt = observed.get(file.id);
    return observedPrompt !== undefined && differsFromFile(file, observedPrompt, desired);
  });
  if (differing.length === 0) return NO_DEFAULT_BASE;
  const result = await defaultBase.read(differing, desired.contentsAtRefs).catch(makeMissingResult);
  return result.kind === 'found' ? { found: result, reason: null } : { found: null, reason: result.reason };
}

function makeMissingResult(error: unknown): DefaultBaseResult {
  return { kind: 'missing', reason: describeReadFailure(error) };
}

/** Describes the failure to read the default base, as a clause without a period. */
export function describeReadFailure(error: unknown): string {
  return getErrorMessage(error).replace(/\.$/, '');
}

/** Reads nothing for a plan without drift and annotations, so that a no-op plan starts no git process. */
export async function readBaseNames(
  { prompts }: Plan,
  { found }: Pick<DefaultBaseReading, 'found'>,
  { base: explicitBase, repository }: DesiredWorkspace,
): Promise<Pick<CommandRun, 'baseName' | 'liveBranch'>> {
  const needsNames = prompts.some(({ drift, annotations }) => drift.length + annotations.length > 0);
  if (repository === null || !needsNames) return { baseName: null, liveBranch: null };
  const tip = await repository.findKnownTip();
  const base = explicitBase ?? found?.base ?? null;
  return { baseName: base && nameBase(base, tip), liveBranch: tip?.branch ?? null };
}

function nameBase(
  { commit, ref = commit }: { readonly commit: string; readonly ref?: string },
  tip: KnownTip | null,
): string {
  if (tip?.commit === commit) return tip.branch;
  return commit.startsWith(ref) ? shortenCommitId(ref) : ref;
}
