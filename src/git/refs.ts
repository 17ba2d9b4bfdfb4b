import { gathered, isCommitId, linesIn, type Git } from './driver.ts';

/**
 * Makes the function that resolves a ref to the id of its commit, or to null if git finds none. All refs that are
 * wanted at the same time take one process: files can name thousands of them. Some refs take further processes. Once a
 * run has started `MAX_EXTRA_PROCESSES` of these, such refs are null.
 */
export function makeRefResolver(git: Git): (ref: string) => Promise<string | null> {
  const resolved = new Map<string, Promise<string | null>>();
  let extraProcesses = 0;
  const mayStartProcess = (): boolean => {
    extraProcesses += 1;
    return extraProcesses <= MAX_EXTRA_PROCESSES;
  };
  const together = gathered((refs) => resolveTogether(git, refs, mayStartProcess));
  const resolve = async (ref: string): Promise<string | null> => {
    if (!IS_SEARCH.test(ref) && !HAS_CONTROL_CHARACTER.test(ref)) return (await together(ref)).get(ref) ?? null;
    return mayStartProcess() ? resolveAlone(git, ref) : null;
  };
  return (ref) => {
    const commit = resolved.get(ref) ?? resolve(ref);
    resolved.set(ref, commit);
    return commit;
  };
}

/** `cat-file` reads each ref from a line of its input, and control characters can end that line. */
const HAS_CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Refs for which git searches: `main@{9999}` in a reflog, and `main^{/word}` and `:/word` in the messages of all
 * commits. A reflog that is too short ends the process, so each of these refs has a process of its own.
 */
const IS_SEARCH = /@\{|\^\{\/|^:\//;

/** The processes that a run may start for refs that need one of their own, and for refs that end a process. */
const MAX_EXTRA_PROCESSES = 100;

/**
 * Resolves refs in one process. A ref that leads to a damaged object ends the process. Then each half of the refs takes
 * a process of its own, and so on, so that all other refs are still found. Refs that are not in the map have no commit.
 */
async function resolveTogether(
  git: Git,
  refs: readonly string[],
  mayStartProcess: () => boolean,
): Promise<ReadonlyMap<string, string | null>> {
  const names = refs.map((ref) => `${ref}^{commit}`);
  const printed = await git.askWith(names, 'cat-file', '--batch-check').catch(() => '');
  const lines = linesIn(printed);
  if (lines.length === refs.length) return new Map(refs.map((ref, at) => [ref, commitIn(lines[at] ?? '')]));
  const found = new Map<string, string | null>();
  if (refs.length === 1) return found;
  const middle = Math.ceil(refs.length / 2);
  for (const half of [refs.slice(0, middle), refs.slice(middle)]) {
    if (!mayStartProcess()) break;
    for (const [ref, commit] of await resolveTogether(git, half, mayStartProcess)) found.set(ref, commit);
  }
  return found;
}

/** Reads the id from a line of `cat-file --batch-check`. The line of a ref without a commit ends with a word. */
function commitIn(line: string): string | null {
  const [, id = ''] = /^([0-9a-f]+) commit [0-9]+$/.exec(line) ?? [];
  return isCommitId(id) ? id : null;
}

/** Returns null as well if git fails, which it does for some refs that do not exist. */
async function resolveAlone({ ask }: Git, ref: string): Promise<string | null> {
  try {
    const commit = (await ask('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}
