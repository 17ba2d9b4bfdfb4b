import { gathered, isCommitId, linesIn, type Git } from './driver.ts';

/**
 * Makes the function that resolves a ref to the id of its commit, or to null if git finds none. All refs that are
 * wanted at the same time take one process: files can name thousands of them.
 */
export function makeRefResolver(git: Git): (ref: string) => Promise<string | null> {
  const resolved = new Map<string, Promise<string | null>>();
  const together = gathered((refs) => resolveTogether(git, refs));
  let searches = 0;
  const resolve = async (ref: string): Promise<string | null> => {
    if (NOT_ON_A_LINE.test(ref)) return resolveAlone(git, ref);
    if (!IS_SEARCH.test(ref)) return (await together(ref)).get(ref) ?? null;
    searches += 1;
    return searches > MOST_SEARCHES ? null : resolveAlone(git, ref);
  };
  return (ref) => {
    const commit = resolved.get(ref) ?? resolve(ref);
    resolved.set(ref, commit);
    return commit;
  };
}

/** These would be more than one line of input for `cat-file`, or another line than the ref. */
const NOT_ON_A_LINE = /\p{Cc}/u;

/**
 * Refs for which git searches: `main@{9999}` in a reflog, and `main^{/word}` and `:/word` in the messages of all
 * commits. A reflog that is too short ends the process, so each of these refs has a process of its own.
 */
const IS_SEARCH = /@\{|\^\{\/|^:\//;

/** Beyond this number, a run does not find such refs any more. */
const MOST_SEARCHES = 100;

/** Damaged objects end the process; then each ref has one of its own, so that the other refs are still found. */
async function resolveTogether(git: Git, refs: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  const names = refs.map((ref) => `${ref}^{commit}`);
  const printed = await git.askWith(names, 'cat-file', '--batch-check').catch(() => '');
  const lines = linesIn(printed);
  if (lines.length === refs.length) return new Map(refs.map((ref, at) => [ref, commitIn(lines[at] ?? '')]));
  const alone = refs.map(async (ref) => [ref, await resolveAlone(git, ref)] as const);
  return new Map(await Promise.all(alone));
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
