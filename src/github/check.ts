import { hasSameText, upsertStickyText } from '../commands/upsert-sticky-text.ts';
import { CONFIG_NAME } from '../config/config.ts';
import { parseApproval, type ShownPlan } from '../review/approval.ts';
import { makePathFromRoot } from './checkout.ts';
import { type MergedPull, readOwnLogin, type GitHub } from './client.ts';
import { mayHaveWorked } from './upsert-posts.ts';

/** A check run that says how a review has ended, and holds what an apply may do by it. */
export type ReviewCheck = {
  readonly name: string;
  /** The value of `makeCheckId`, by which promptsync finds the check run again. */
  readonly external_id: string;
  readonly head: string;
  readonly conclusion: 'success' | 'neutral' | 'failure';
  /** Markdown, but for the title. GitHub takes 65,535 bytes of each text. */
  readonly output: { readonly title: string; readonly summary: string; readonly text: string };
};

/** Returns the path of the configuration from the root of the repository. */
export function makeConfigPath(folder: string, config: string | undefined): string {
  return makePathFromRoot(folder, config)(config ?? CONFIG_NAME);
}

/** Returns the name that people see. A configuration at the root has no path in it. */
export function makeCheckName(configPath: string): string {
  return configPath === CONFIG_NAME ? 'promptsync' : `promptsync (${configPath})`;
}

/**
 * Returns the `external_id` of the check run of a pull request and a configuration. GitHub attaches a check run to a
 * commit, and pull requests can share their head commit. `pull` is null for a commit of a merge queue, which can merge
 * several pull requests at once.
 */
export function makeCheckId(configPath: string, pull: number | null): string {
  return `promptsync ${pull === null ? 'merge-queue' : `#${pull}`} ${configPath}`;
}

/** Keeps the check of a commit up to date. Throws what Octokit throws. */
export async function publishCheck(github: GitHub, { head, ...check }: ReviewCheck): Promise<void> {
  const { octokit, names } = github;
  await upsertStickyText({
    find: () => findCheck(github, head, check.external_id),
    mustWrite: () => true,
    mayHaveWorked,
    update: async (found) => {
      const { text, summary } = check.output;
      const same = found.conclusion === check.conclusion && found.output.text === text;
      if (same && hasSameText(found.output.summary, summary)) return;
      const call = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
      await octokit.request(call, { ...names, check_run_id: found.id, ...check });
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/check-runs';
      const done = { ...names, head_sha: head, status: 'completed', request: { retries: 0 } } as const;
      await octokit.request(call, { ...done, ...check });
    },
  });
}

type ReviewedPull = Pick<MergedPull, 'number' | 'head'>;
type ApprovalSource = { readonly configPath: string; readonly branch: string };

/**
 * Returns what the check of a merged pull request approves for a branch; null if it approves nothing. Throws what Octokit
 * throws.
 */
export async function readApproval(
  github: GitHub,
  pull: ReviewedPull,
  source: ApprovalSource,
): Promise<ShownPlan | null> {
  const { number, head } = pull;
  const id = makeCheckId(source.configPath, number);
  const check = await github.once(`check ${id} of ${head}`, () => findCheck(github, head, id));
  return parseApproval(check?.output.text ?? '', { number, into: source.branch });
}

/**
 * Returns the newest check run with an `external_id` that the app of the run's own token made; null if there is none.
 * Reads all check runs of the commit: by default, GitHub returns only the newest one of each name, which can be that of
 * a job.
 */
async function findCheck(github: GitHub, head: string, id: string) {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const runs = await octokit.paginate(call, { ...names, ref: head, filter: 'all', per_page: 100 });
  const found = runs.filter((run) => run.external_id === id && run.head_sha === head);
  if (found.length === 0) return null;
  const me = (await readOwnLogin(github)).replace(/\[bot\]$/, '');
  const own = found.filter(({ app }) => app?.slug === me);
  return own.toSorted((a, b) => b.id - a.id)[0] ?? null;
}
