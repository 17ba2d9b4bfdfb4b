import { openGit, type GitStart } from './driver.ts';

/** What is asked of the remote that a clone comes from. Each function throws a `ProblemError` when it cannot answer. */
export type Remote = {
  /** The commit that a full ref (`refs/heads/main`) is at, a tag's own included; null where the remote has no such ref. */
  readonly tipOf: (ref: string) => Promise<string | null>;
  /** Fetches the history that a shallow clone leaves out, of all its branches. Files and refs of ours stay. */
  readonly fetchHistory: () => Promise<void>;
};

/** A remote that says nothing for so long has hung, or waits for a password that nobody will type. */
const SILENCE = 60_000;

export function openRemote(start: GitStart, name = 'origin'): Remote {
  const { ask } = openGit(start, { timeout: { block: SILENCE } });
  return {
    tipOf: async (ref) => {
      const peeled = `${ref}^{}`;
      const listed = await ask('ls-remote', '--quiet', '--', name, ref, peeled);
      const byName = new Map(listed.split('\n').map((line) => [line.split('\t')[1], line.split('\t')[0]]));
      return byName.get(peeled) ?? byName.get(ref) ?? null;
    },
    fetchHistory: async () => {
      await ask('fetch', '--quiet', '--unshallow', '--no-recurse-submodules', '--', name);
    },
  };
}
