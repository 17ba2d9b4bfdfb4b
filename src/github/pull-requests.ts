import { z } from 'zod';
import type { GitHub } from './client.ts';

const PullShape = z.object({
  number: z.int(),
  merged_at: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  head: z.object({ sha: z.string() }),
  base: z.object({ ref: z.string() }),
});

/** The number of the pull request that a commit was merged with into a branch; null where there is none. */
export async function mergedPullOf({ octokit, names }: GitHub, commit: string, branch: string): Promise<number | null> {
  const call = 'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls';
  const listed = await octokit.paginate(call, { ...names, commit_sha: commit, per_page: 100 });
  const merged = z
    .array(PullShape)
    .parse(listed)
    .filter(({ merged_at: at, base }) => typeof at === 'string' && base.ref === branch);
  const found = merged.find(({ merge_commit_sha: sha }) => sha === commit) ?? merged[0];
  return found?.number ?? null;
}

/** The commit that a pull request is at now. */
export async function headOfPull({ octokit, names }: GitHub, number: number): Promise<string> {
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
    ...names,
    pull_number: number,
  });
  return PullShape.parse(data).head.sha;
}

const RefShape = z.object({ object: z.object({ sha: z.string() }) });

/** The commit that a branch is at now; for clones that cannot ask their remote. */
export async function tipOfBranch({ octokit, names }: GitHub, branch: string): Promise<string> {
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', {
    ...names,
    ref: `heads/${branch}`,
  });
  return RefShape.parse(data).object.sha;
}
