import { type FileContent, toFileContent } from '../../domain/content.ts';
import type { ObservedPrompt } from '../../domain/observed-prompt.ts';
import type { ObservedPromptPlan } from '../../domain/plan.ts';
import { hasGap, type KnownVersion, toSeconds } from '../../domain/versions.ts';
import { readContentFromGit } from '../../desired-state/read-planning-history.ts';
import { isSameWant, type Line, type LineState, namesVersion, type Want } from '../../history/line-of-states.ts';
import type { PromptRepository } from '../../history/read-at-commit.ts';
import type { OutsideEdit } from './find-service-changes.ts';
import { findServedPin } from '../import/plan-import-commits.ts';

/** A want of a state, and the version that it names. Undefined if promptsync knows no such version. */
type BaseWant = { readonly want: Want; readonly version: KnownVersion | undefined };

/**
 * Finds the wants from whose content somebody may have edited the text that an environment serves. Usually there is
 * one: that of the newest state whose commit and wanted version are both older than the served version. If all commits
 * are newer, their times do not count, because a merge or a rebase may have made them. The list is empty if no state
 * can be the base. There are several in two cases, because only the user knows which of them it was:
 * - After a revert, an older state wanted a newer version. A sync may not have applied the revert yet.
 * - promptsync does not know all versions before the served one. An unknown one may hold what a newer state wants.
 * An environment that the file does not pin counts as pinned to `latest`. `line` ends at HEAD.
 */
export function findBaseWants(
  { environment, version: served, pin, isOlder }: OutsideEdit,
  line: Line,
  { known, metadata }: Pick<ObservedPrompt, 'known' | 'metadata'>,
): readonly BaseWant[] {
  // If the service has an older text, this text replaces the wanted text completely. The merge base is then what the
  // newest state wants.
  const candidates = isOlder ? known : known.filter(({ number }) => number < served.number);
  const earlier = line.states.filter((state) => isCommittedBefore(state, served));
  const possible = earlier.length > 0 ? earlier : line.states;
  const states = isOlder ? line.states.slice(0, 1) : possible;
  const getWant = ({ wants, file: { content } }: LineState): Want | undefined =>
    pin === null ? { kind: 'content', content, isMoving: false } : wants.get(environment);
  const found = states.flatMap((state): readonly BaseWant[] => {
    const want = getWant(state);
    if (want === undefined) return [];
    return [{ want, version: candidates.find((version) => namesVersion(want, version, metadata)) }];
  });
  const wanted = found.filter(({ version }) => version !== undefined);
  const [newestVersion] = wanted.toSorted((one, other) => getNumber(other) - getNumber(one));
  if (newestVersion === undefined) {
    // In a cut line, an older state may have wanted the content.
    return hasGap(candidates, 0, served.number) && !line.isCut ? found : [];
  }
  const newest = getNumber(newestVersion);
  const sinceNewest = found.slice(
    0,
    found.findLastIndex((one) => getNumber(one) === newest),
  );
  const mayBeUnknown = hasGap(candidates, newest, served.number);
  const unknown = mayBeUnknown ? sinceNewest.filter(({ version }) => version === undefined) : [];
  return [...unknown, ...new Set([...wanted.slice(0, 1), newestVersion])];
}

function getNumber({ version }: BaseWant): number {
  return version?.number ?? 0;
}

/** Returns true if a commit may have been made before a version. */
function isCommittedBefore({ time }: LineState, { times }: Pick<KnownVersion, 'times'>): boolean {
  return time === null || times === undefined || time <= toSeconds(times.createdAt);
}

/** Returns an empty list if promptsync cannot read one of the contents. */
export async function readMergeBases(
  { file, observed }: ObservedPromptPlan,
  edit: OutsideEdit,
  line: Line,
  repository: PromptRepository,
): Promise<readonly FileContent[]> {
  const contents = findBaseWants(edit, line, observed).map(async ({ want, version }) => {
    if (version === undefined) return (await readContentWithoutVersion(want, line, repository)) ?? [];
    if (version.content !== null) return toFileContent(version.content);
    return want.kind === 'content' ? want.content : readContentFromGit(version, file, repository);
  });
  const bases = (await Promise.all(contents)).flat();
  const readable = bases.filter((content) => content !== null);
  return readable.length === bases.length ? readable : [];
}

/** For example, an imported version before the first sync is in no ledger, but `import --commit` has committed it. */
async function readContentWithoutVersion(
  want: Want,
  { states }: Line,
  repository: PromptRepository,
): Promise<FileContent | null> {
  if (want.kind === 'content') return want.content;
  const commits = await repository.readCommits(states.flatMap(({ commit }) => commit ?? []));
  const imported = states.find(({ commit, file }) => {
    const pin = findServedPin(file, commits.get(commit ?? '')?.subject ?? '');
    return pin !== null && isSameWant(pin, want);
  });
  return imported?.file.content ?? null;
}
