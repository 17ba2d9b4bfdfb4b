import { batchCalls, isCommitId, splitLines, type Git } from './open-git.ts';
import { hasControlCharacters } from '../text.ts';

/**
 * Creates a function that resolves a ref to a commit id, or to null if git does not know the ref. Simultaneous calls
 * share one process, because prompt files can refer to thousands of refs. Some refs need an additional process. The
 * function resolves such refs to null after it has started `MAX_EXTRA_PROCESSES` additional processes.
 */
export function makeRefResolver(git: Git): (ref: string) => Promise<string | null> {
  const resolved = new Map<string, Promise<string | null>>();
  let extraProcesses = 0;
  const mayStartProcess = (): boolean => {
    extraProcesses += 1;
    return extraProcesses <= MAX_EXTRA_PROCESSES;
  };
  const resolveBatch = batchCalls((refs) => resolveTogether(git, refs, mayStartProcess));
  const resolve = async (ref: string): Promise<string | null> => {
    // A line break would split a ref, because `git cat-file` reads one ref per line.
    const needsOwnProcess = SEARCH_SYNTAX.test(ref) || hasControlCharacters(ref);
    if (!needsOwnProcess) return (await resolveBatch(ref)).get(ref) ?? null;
    return mayStartProcess() ? resolveAlone(git, ref) : null;
  };
  return (ref) => {
    const commit = resolved.get(ref) ?? resolve(ref);
    resolved.set(ref, commit);
    return commit;
  };
}

/**
 * Matches refs that make git search. `main@{9999}` searches a reflog. `main^{/word}` and `:/word` search the messages
 * of all commits. If a reflog is too short, git exits and leaves the rest of a batch unresolved. Therefore promptsync
 * resolves each of these refs in a separate process.
 */
const SEARCH_SYNTAX = /@\{|\^\{\/|^:\//;

/** The maximum number of additional processes for refs that promptsync cannot resolve in one batch. */
const MAX_EXTRA_PROCESSES = 100;

/**
 * Resolves refs in one process. Maps a ref to null if it does not refer to a commit. If a ref leads to a damaged
 * object, git exits early. The function then splits the list of refs in half and resolves each half in another process.
 * The result omits damaged refs. It also omits the remaining refs once `mayStartProcess` returns false.
 */
async function resolveTogether(
  git: Git,
  refs: readonly string[],
  mayStartProcess: () => boolean,
): Promise<ReadonlyMap<string, string | null>> {
  const names = refs.map((ref) => `${ref}^{commit}`);
  const output = await git.runWithInput(names, 'cat-file', '--batch-check').catch(() => '');
  const lines = splitLines(output);
  if (lines.length === refs.length) return new Map(refs.map((ref, index) => [ref, parseCommitId(lines[index] ?? '')]));
  const commits = new Map<string, string | null>();
  if (refs.length === 1) return commits;
  const middle = Math.ceil(refs.length / 2);
  for (const half of [refs.slice(0, middle), refs.slice(middle)]) {
    if (!mayStartProcess()) break;
    for (const [ref, commit] of await resolveTogether(git, half, mayStartProcess)) commits.set(ref, commit);
  }
  return commits;
}

/**
 * Parses a line of `git cat-file --batch-check`. Returns the commit id, or null if the ref does not resolve to a
 * commit.
 */
function parseCommitId(line: string): string | null {
  const [, id = ''] = /^([0-9a-f]+) commit [0-9]+$/.exec(line) ?? [];
  return isCommitId(id) ? id : null;
}

/** Resolves one ref in a separate process. Returns null if git fails, because some unknown refs make git fail. */
async function resolveAlone({ run }: Git, ref: string): Promise<string | null> {
  try {
    const commit = (await run('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}
