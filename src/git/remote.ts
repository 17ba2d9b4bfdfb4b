import { openGit, type GitStart } from './driver.ts';

/** A remote that says nothing for so long has hung, or waits for a password that nobody will type. */
const SILENCE = 60_000;

const REMOTE = 'origin';

/** The remote that a clone comes from. Each function throws a `ProblemError` when it cannot answer. */
export function openRemote(start: GitStart) {
  const { ask } = openGit(start, { timeout: { block: SILENCE } });
  return {
    /** The commit that a full ref (`refs/heads/main`) is at, a tag's own included; null where the remote has no such ref. */
    tipOf: async (ref: string): Promise<string | null> => {
      const peeled = `${ref}^{}`;
      const listed = await ask('ls-remote', '--quiet', '--', REMOTE, ref, peeled);
      const byName = new Map(listed.split('\n').map((line) => [line.split('\t')[1], line.split('\t')[0]]));
      return byName.get(peeled) ?? byName.get(ref) ?? null;
    },
    /** Fetches the history that a shallow clone leaves out, of all its branches. Files and refs of ours stay. */
    fetchHistory: () => ask('fetch', '--quiet', '--unshallow', '--no-recurse-submodules', '--', REMOTE),
  };
}
