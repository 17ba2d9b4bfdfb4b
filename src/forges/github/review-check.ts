import { hasSameText, upsertStickyText } from '../update-sticky-text.ts';
import { CONFIG_NAME } from '../../workspace/config.ts';
import { type OtherCheck, parseApproval, type PullRequestReview } from '../approval.ts';
import { makeRootPathConverter } from './checkout.ts';
import { type MergedPull, readOwnLogin, type GitHub } from './github-client.ts';
import { mayHaveWorked } from './update-comments-and-issues.ts';

/** A check run that shows the result of a review. `output.text` contains the changes that the review approves. */
export type ReviewCheck = {
  readonly name: string;
  /** The id from `makeCheckId`, by which promptsync finds the check run again. */
  readonly external_id: string;
  /** The id of the commit to which the check run belongs. */
  readonly head: string;
  readonly conclusion: 'success' | 'neutral' | 'failure';
  /** `title` is plain text. `summary` and `text` are Markdown. GitHub accepts at most 65,535 bytes for each. */
  readonly output: { readonly title: string; readonly summary: string; readonly text: string };
};

/** Returns the path of the configuration file, relative to the repository root. */
export function makeConfigPath(workingDirectory: string, config: string | undefined): string {
  const toRootPath = makeRootPathConverter(workingDirectory, config);
  return toRootPath(config ?? CONFIG_NAME);
}

/** Returns a name such as `promptsync (app/promptsync.yaml)`, or `promptsync` for `promptsync.yaml` in the root. */
export function makeCheckName(configPath: string): string {
  return configPath === CONFIG_NAME ? 'promptsync' : `promptsync (${configPath})`;
}

/**
 * The id contains the number of the pull request, because GitHub attaches check runs to commits, and two pull requests
 * can have the same head commit.
 * @param pull null for a commit of a merge queue, which can merge several pull requests at once
 */
export function makeCheckId(configPath: string, pull: number | null): string {
  return `promptsync ${pull === null ? 'merge-queue' : `#${pull}`} ${configPath}`;
}

/** Creates or updates the check run of a commit. Throws any error from Octokit. */
export async function publishCheck(github: GitHub, { head, ...check }: ReviewCheck): Promise<void> {
  const { octokit, names } = github;
  await upsertStickyText({
    find: async () => {
      const { own } = await findChecks(github, { head, id: check.external_id, name: check.name });
      return own.slice(0, 1);
    },
    mustWrite: () => true,
    mayHaveWorked,
    update: async (existing) => {
      const { text, summary } = check.output;
      const hasSameResult = existing.conclusion === check.conclusion && existing.output.text === text;
      if (hasSameResult && hasSameText(existing.output.summary, summary)) return;
      const call = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
      await octokit.request(call, { ...names, check_run_id: existing.id, ...check });
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/check-runs';
      const parameters = { ...names, head_sha: head, status: 'completed', request: { retries: 0 } } as const;
      await octokit.request(call, { ...parameters, ...check });
    },
    // `find` returns no duplicates, because GitHub and promptsync use only the newest check run.
    retire: () => Promise.resolve(),
  });
}

type ReviewedPull = Pick<MergedPull, 'number' | 'head'>;
type ApprovalSource = { readonly configPath: string; readonly branch: string };

/**
 * Reads the changes that the check of a pull request approves for a branch, or the check of another app if the pull
 * request has only such a check. Throws any error from Octokit.
 */
export async function readReview(
  github: GitHub,
  pull: ReviewedPull,
  source: ApprovalSource,
): Promise<PullRequestReview> {
  const { number, head } = pull;
  const { configPath, branch } = source;
  const wanted = { head, id: makeCheckId(configPath, number), name: makeCheckName(configPath) };
  const checks = await github.once(`check ${wanted.id} of ${head}`, () => findChecks(github, wanted));
  const [newest] = checks.own;
  const shown = parseApproval(newest?.output.text ?? '', { number, into: branch });
  return { pull: number, shown, otherCheck: newest === undefined ? checks.other : null };
}

type WantedCheck = { readonly head: string; readonly id: string; readonly name: string };

/**
 * Finds the check runs of a commit, newest first: those of this app with the `external_id`, and the newest one of
 * another app with the `external_id` or the name. By default, GitHub returns only the newest check run for each name,
 * which can belong to a workflow job. So this function requests all of them.
 */
async function findChecks(github: GitHub, { head, id, name }: WantedCheck) {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const runs = await octokit.paginate(call, { ...names, ref: head, filter: 'all', per_page: 100 });
  const candidates = runs
    .filter((run) => run.head_sha === head && (run.external_id === id || run.name === name))
    .toSorted((a, b) => b.id - a.id);
  if (candidates.length === 0) return { own: [], other: null };
  const ownApp = (await readOwnLogin(github)).replace(/\[bot\]$/, '');
  const own = candidates.filter(({ app, external_id: externalId }) => app?.slug === ownApp && externalId === id);
  const foreign = candidates.find(({ app }) => app?.slug !== ownApp);
  const other: OtherCheck | null = foreign?.app?.slug === undefined ? null : { app: foreign.app.slug, ownApp };
  return { own, other };
}
