import type { Ask } from './ask.ts';

/** How far back is looked: in larger repositories older commits are told without the merge that brought them. */
const MOST = 50_000;

/** By commit: the merge that brought it into the branch that is checked out. Of its own commits there is none. */
export async function mergesOf(ask: Ask, head: string): Promise<ReadonlyMap<string, string>> {
  return findMerges(await ask('rev-list', '--parents', `--max-count=${MOST}`, head, '--'));
}

/** Reads commits with their parents, newest first; the first one is the branch's tip. */
export function findMerges(listed: string): ReadonlyMap<string, string> {
  const commits = listed.split('\n').map((line) => line.split(' '));
  const parents = new Map(commits.map(([commit = '', ...rest]): [string, readonly string[]] => [commit, rest]));
  const line = firstParents(commits[0]?.[0], parents);
  const known = new Set(line);
  const merges = new Map<string, string>();
  // From the oldest on: what an earlier merge has brought, a later one has not.
  for (const merge of line.toReversed()) {
    const left = (parents.get(merge) ?? []).slice(1);
    for (let commit = left.pop(); commit !== undefined; commit = left.pop()) {
      if (known.has(commit)) continue;
      known.add(commit);
      merges.set(commit, merge);
      left.push(...(parents.get(commit) ?? []));
    }
  }
  return merges;
}

/** The branch's own commits, newest first. */
function firstParents(tip: string | undefined, parents: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const line: string[] = [];
  for (let commit = tip; commit !== undefined; commit = parents.get(commit)?.[0]) line.push(commit);
  return line;
}
